"""The real torchvision 0.21.0 as a git repository, also where the real repository is out of reach.

First the upstream repository at its pinned commit. Else a local repository of Debian's source archive of the same
release, fetched by the machine's own apt source in a private apt state, so that we name no mirror and change no
setting. What neither way gives is an error, never a skip. `python vision_source.py WORK` prints the result as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = "0.21.0"
TAG = f"v{VERSION}"
TAG_REFS = (f"refs/tags/{TAG}", f"refs/tags/{TAG}^{{}}")
UPSTREAM = "https://github.com/pytorch/vision"
UPSTREAM_REV = "7af698794eded568735f9519593603c1ec889eba"
DEBIAN_SUITE = "trixie"
DEBIAN_PACKAGE = "pytorch-vision"
APT_FOLDER = Path("/etc/apt")
FOLDER = f"torchvision-{VERSION}"
REPOSITORY = "vision.git"
RECORD = "source.json"
ONE_LINE = re.compile(r"deb(?:-src)?\s+(?:\[(?P<options>[^]]*)]\s+)?(?P<uris>\S+)\s+(?P<suites>\S+)(?P<components>.*)")
OPTION = re.compile(r"([\w-]+)=(\S+)")
FIELD = re.compile(r"^([\w-]+):(.*(?:\n[ \t].*)*)", re.MULTILINE)
ORIG_ARCHIVE = re.compile(rf"{DEBIAN_PACKAGE}_{re.escape(VERSION)}\.orig\.tar\.\w+")
TRUST_SETTINGS = ("Signed-By", "Trusted", "Check-Valid-Until")
NO_WORDS = ("no", "false", "without", "off", "disable")
PASSED_ON = re.compile(r"(?i)PATH|HOME|LANG|TMPDIR|APT_CONFIG|GIT_CONFIG_\w+|GIT_SSL_\w+|SSL_CERT_\w+|\w+_proxy")


class VisionUnavailableError(RuntimeError):
    """No way to the source is open from here."""


class TagMovedError(RuntimeError):
    """The real repository answers, and its tag is not at our pin."""


@dataclass(frozen=True)
class VisionSource:
    url: str
    rev: str
    origin: Literal["upstream", "debian"]
    tag: str


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


def parse_archives(text: str) -> list[Archive]:
    """Pick the original archives of our release from a Sources index."""
    return [
        Archive(stanza.get("version", ""), name, sha256)
        for stanza in parse_stanzas(text)
        if stanza.get("package") == DEBIAN_PACKAGE
        for sha256, _size, name in (line.split() for line in stanza.get("checksums-sha256", "").splitlines() if line)
        if ORIG_ARCHIVE.fullmatch(name)
    ]


def parse_tag_hashes(text: str) -> list[str]:
    """Read `git ls-remote`: the hash of the tag and, of an annotated one, that of its commit."""
    return [line.split()[0] for line in text.splitlines() if line.endswith(TAG_REFS)]


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


def check_upstream() -> None:
    hashes = parse_tag_hashes(run(("git", "ls-remote", UPSTREAM, *TAG_REFS), env=outer_environment(), seconds=20))
    if not hashes:
        raise VisionUnavailableError(f"{UPSTREAM} answers without a tag {TAG}")
    if UPSTREAM_REV not in hashes:
        raise TagMovedError(f"{TAG} of {UPSTREAM} is at {hashes[-1]}, pinned at {UPSTREAM_REV}: compare, then pin anew")


def write_debian_archive(folder: Path) -> Path:
    """Ask the machine's archives one after the other; a third party's may have a component main too."""
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME")
    reasons = []
    for number, entry in enumerate(pick_entries(read_entries(), codename)):
        try:
            return fetch_archive(folder / str(number), entry)
        except VisionUnavailableError as error:  # noqa: PERF203  (a process is started in each turn)
            reasons.append(f"{entry.uri}: {error}")
    raise VisionUnavailableError("; ".join(reasons) or f"no archive with a component main in {APT_FOLDER}")


def read_entries() -> list[AptEntry]:
    one_line = [*sorted(APT_FOLDER.glob("sources.list")), *sorted(APT_FOLDER.glob("sources.list.d/*.list"))]
    entries = [entry for path in one_line for entry in parse_one_line_sources(path.read_text())]
    deb822 = sorted(APT_FOLDER.glob("sources.list.d/*.sources"))
    return entries + [entry for path in deb822 for entry in parse_deb822_sources(path.read_text())]


def fetch_archive(folder: Path, entry: AptEntry) -> Path:
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "private.sources").write_text(render_apt_source(entry))
    (folder / "apt.conf").write_text(render_apt_conf(folder))
    run_apt("apt-get", folder, "update")
    archives = parse_archives(run_apt("apt-cache", folder, "showsrc", "--only-source", DEBIAN_PACKAGE))
    if not archives:
        raise VisionUnavailableError(f"{DEBIAN_SUITE} has no {DEBIAN_PACKAGE} {VERSION}")
    return download_archive(folder, archives[0])


def download_archive(folder: Path, archive: Archive) -> Path:
    """apt-get fails where a mirror lacks the packaging files; we need the original alone, so its hash decides."""
    path = folder / archive.name
    try:
        run_apt("apt-get", folder, "source", "--download-only", f"{DEBIAN_PACKAGE}={archive.version}")
    except VisionUnavailableError:
        if not path.is_file():
            raise
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != archive.sha256:
        raise VisionUnavailableError(f"{archive.name} has sha256 {found}, the Sources index says {archive.sha256}")
    return path


def run_apt(tool: str, folder: Path, *arguments: str) -> str:
    return run((tool, "-q", "-c", f"{folder}/apt.conf", *arguments), env=outer_environment(), seconds=300, cwd=folder)


def write_repository(archive: Path, repository: Path) -> str:
    """Commit every file of the archive; the same archive gives the same commit on any machine, for any user."""
    with tempfile.TemporaryDirectory(dir=repository.parent) as name:
        tree = unpack(archive, Path(name) / "tree")
        environment = {**git_environment(Path(name)), "GIT_DIR": str(repository)}

        def git(*arguments: str) -> str:
            return run(("git", *arguments), env=environment, cwd=tree)

        git("init", "--quiet", "--bare", "--template=", "--initial-branch=main")
        git("--work-tree=.", "add", "--all", "--force", ".")
        git("--work-tree=.", "commit", "--quiet", "--message", f"{DEBIAN_PACKAGE} {VERSION}")
        git("tag", TAG)
        return git("rev-parse", "HEAD").strip()


def unpack(archive: Path, folder: Path) -> Path:
    folder.mkdir()
    run(("tar", "--extract", "--no-same-owner", f"--file={archive}"), env=outer_environment(), cwd=folder)
    top, *others = folder.iterdir()
    if others:
        raise VisionUnavailableError(f"{archive.name} holds {len(others) + 1} folders at its top, one was expected")
    return top


def git_environment(home: Path) -> dict[str, str]:
    """No setting of the user or the machine; one author, one moment."""
    who = {"NAME": "xpusetup tests", "EMAIL": "tests@xpusetup.invalid", "DATE": "2025-01-29T00:00:00+0000"}
    signature = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    private = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_HASH": "sha1"}
    return {"PATH": os.environ["PATH"], **private, **signature}


def vision_repository(work: Path) -> VisionSource:
    """Give the source, kept in `work`: a second call reads one file."""
    folder = work.resolve() / FOLDER
    if not (folder / RECORD).is_file():
        write_folder(folder)
    return VisionSource(**json.loads((folder / RECORD).read_text()))


def write_folder(folder: Path) -> None:
    """Make everything beside its place and move it there at once: a killed run leaves nothing half done."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{FOLDER}-") as name:
        made = Path(name) / "made"
        made.mkdir()
        source = write_source(made, Path(name) / "apt", (folder / REPOSITORY).as_uri())
        (made / RECORD).write_text(json.dumps(asdict(source), indent=2) + "\n")
        try:
            made.rename(folder)
        except OSError:
            if not (folder / RECORD).is_file():  # where it is, another process was first, with the same content
                raise


def write_source(made: Path, apt: Path, local_url: str) -> VisionSource:
    try:
        check_upstream()
        return VisionSource(UPSTREAM, UPSTREAM_REV, "upstream", TAG)
    except VisionUnavailableError as error:
        upstream = error
    try:
        archive = write_debian_archive(apt)
    except VisionUnavailableError as error:
        why = f"{UPSTREAM}: {upstream}. Debian's source archive: {error}. One of the two must be within reach"
        raise VisionUnavailableError(f"torchvision {VERSION} is not to be had. {why}") from error
    return VisionSource(local_url, write_repository(archive, made / REPOSITORY), "debian", TAG)


def outer_environment() -> dict[str, str]:
    passed_on = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
    return {**passed_on, "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}


def run(argv: Sequence[str], *, env: Mapping[str, str], seconds: int = 60, cwd: Path | None = None) -> str:
    """Start it without a terminal to prompt on and return its output; `timeout` ends its children too."""
    line = ("timeout", "--kill-after=2", str(seconds), *argv)
    done = subprocess.run(line, env=env, cwd=cwd, input="", capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        why = done.stderr.strip()[-500:] or f"nothing said within {seconds} s"
        raise VisionUnavailableError(f"`{shlex.join(argv)}` ended with {done.returncode}: {why}")
    return done.stdout


def main(work: str) -> None:
    try:
        source = vision_repository(Path(work))
    except (VisionUnavailableError, TagMovedError) as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(json.dumps(asdict(source), indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
