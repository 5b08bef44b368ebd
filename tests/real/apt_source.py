"""The original source archive of a Debian package, from the machine's own apt sources.

All that apt writes stays in a private folder, so that we name no mirror and change no setting. Where a mirror lacks
the packaging files apt-get fails although the archive came: its hash in the Sources index decides.
"""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from real.outside import UnavailableError, outer_environment, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = "0.21.0"
DEBIAN_SUITE = "trixie"
DEBIAN_PACKAGE = "pytorch-vision"
APT_FOLDER = Path("/etc/apt")
ONE_LINE = re.compile(r"deb(?:-src)?\s+(?:\[(?P<options>[^]]*)]\s+)?(?P<uris>\S+)\s+(?P<suites>\S+)(?P<components>.*)")
OPTION = re.compile(r"([\w-]+)=(\S+)")
FIELD = re.compile(r"^([\w-]+):(.*(?:\n[ \t].*)*)", re.MULTILINE)
TRUST_SETTINGS = ("Signed-By", "Trusted", "Check-Valid-Until")
NO_WORDS = ("no", "false", "without", "off", "disable")


class Package(NamedTuple):
    """A source package of our suite and the version of upstream in it."""

    name: str
    version: str


VISION = Package(DEBIAN_PACKAGE, VERSION)
AUDIO = Package("pytorch-audio", "2.6.0")


@dataclass(frozen=True)
class AptEntry:
    uri: str
    suite: str
    components: tuple[str, ...]
    trust: str = ""  # the lines of the entry that make apt believe the archive


class Archive(NamedTuple):
    version: str
    name: str
    sha256: str


def parse_stanzas(text: str) -> list[dict[str, str]]:
    """Read deb822: names in lower case, a value's further lines as they stand (an inline key needs them)."""
    paragraphs = re.split(r"\n\s*\n", re.sub(r"^#.*\n?", "", text, flags=re.MULTILINE))
    return [{name.lower(): value.strip(" \t") for name, value in FIELD.findall(part)} for part in paragraphs]


def parse_deb822_sources(text: str) -> list[AptEntry]:
    return [entry for stanza in parse_stanzas(text) for entry in make_entries(stanza)]


def parse_one_line_sources(text: str) -> list[AptEntry]:
    entries = []
    for line in text.splitlines():
        if match := ONE_LINE.fullmatch(line.partition("#")[0].strip()):
            options = {name.lower(): value.replace(",", " ") for name, value in OPTION.findall(match["options"] or "")}
            entries += make_entries({**match.groupdict(""), **options})
    return entries


def make_entries(stanza: Mapping[str, str]) -> list[AptEntry]:
    if stanza.get("enabled", "yes").lower() in NO_WORDS:
        return []
    components = tuple(stanza.get("components", "").split())
    trust = "".join(f"{name}: {stanza[name.lower()]}\n" for name in TRUST_SETTINGS if name.lower() in stanza)
    suites = stanza.get("suites", "").split()
    return [AptEntry(uri, suite, components, trust) for uri in stanza.get("uris", "").split() for suite in suites]


def pick_entries(entries: Sequence[AptEntry], codename: str | None) -> list[AptEntry]:
    """Where to ask for our suite, each place once: the distribution's own archive before any third party's."""
    useful = [entry for entry in entries if "main" in entry.components and not entry.uri.startswith("cdrom:")]
    useful.sort(key=lambda entry: entry.suite != codename)
    return list(dict.fromkeys(replace(entry, suite=DEBIAN_SUITE, components=("main",)) for entry in useful))


def parse_archives(text: str, package: Package = VISION) -> list[Archive]:
    """Pick the original archives of a release from a Sources index."""
    original = re.compile(rf"{package.name}_{re.escape(package.version)}\.orig\.tar\.\w+")
    return [
        Archive(stanza.get("version", ""), name, sha256)
        for stanza in parse_stanzas(text)
        if stanza.get("package") == package.name
        for sha256, _size, name in (line.split() for line in stanza.get("checksums-sha256", "").splitlines() if line)
        if original.fullmatch(name)
    ]


def render_apt_source(entry: AptEntry) -> str:
    components = " ".join(entry.components)
    return f"Types: deb-src\nURIs: {entry.uri}\nSuites: {entry.suite}\nComponents: {components}\n{entry.trust}"


def render_apt_conf(folder: Path) -> str:
    """Keep all that apt writes in `folder`: its own user could not enter it, its hooks work on the system's folders."""
    return f"""\
Dir::State "{folder}/state";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/private.sources";
Dir::Etc::sourceparts "/dev/null";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Retries "2";
Acquire::http::Timeout "20";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


def write_debian_archive(folder: Path, package: Package = VISION) -> Path:
    """Ask the machine's archives one after the other; a third party's may have a component main too."""
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME")
    reasons = []
    for number, entry in enumerate(pick_entries(read_entries(), codename)):
        try:
            return fetch_archive(folder / str(number), entry, package)
        except UnavailableError as error:  # noqa: PERF203  (a process is started in each turn)
            reasons.append(f"{entry.uri}: {error}")
    raise UnavailableError("; ".join(reasons) or f"no archive with a component main in {APT_FOLDER}")


def read_entries() -> list[AptEntry]:
    one_line = [*sorted(APT_FOLDER.glob("sources.list")), *sorted(APT_FOLDER.glob("sources.list.d/*.list"))]
    entries = [entry for path in one_line for entry in parse_one_line_sources(path.read_text())]
    deb822 = sorted(APT_FOLDER.glob("sources.list.d/*.sources"))
    return entries + [entry for path in deb822 for entry in parse_deb822_sources(path.read_text())]


def fetch_archive(folder: Path, entry: AptEntry, package: Package) -> Path:
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "private.sources").write_text(render_apt_source(entry))
    (folder / "apt.conf").write_text(render_apt_conf(folder))
    run_apt("apt-get", folder, "update")
    archives = parse_archives(run_apt("apt-cache", folder, "showsrc", "--only-source", package.name), package)
    if not archives:
        raise UnavailableError(f"{DEBIAN_SUITE} has no {package.name} {package.version}")
    return download_archive(folder, archives[0], package)


def download_archive(folder: Path, archive: Archive, package: Package = VISION) -> Path:
    """apt-get fails where a mirror lacks the packaging files; we need the original alone, so its hash decides."""
    path = folder / archive.name
    try:
        run_apt("apt-get", folder, "source", "--download-only", f"{package.name}={archive.version}")
    except UnavailableError:
        if not path.is_file():
            raise
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != archive.sha256:
        raise UnavailableError(f"{archive.name} has sha256 {found}, the Sources index says {archive.sha256}")
    return path


def run_apt(tool: str, folder: Path, *arguments: str) -> str:
    return run((tool, "-q", "-c", f"{folder}/apt.conf", *arguments), env=outer_environment(), seconds=300, cwd=folder)
