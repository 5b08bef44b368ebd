"""What prints of torch and the transcripts of installers tell, line by line: which torch is there in the end. Pure."""

import re
from collections.abc import Iterable

from xpusetup.machine.parsers import DISTRIBUTIONS
from xpusetup.paste import lines
from xpusetup.paste.commands import variables_of
from xpusetup.paste.ends import EndReader

NAMED, LISTED, SHOWN = 1, 2, 3
"""How much a version of torch weighs: named in passing, in a list of packages, printed or seen to be installed."""
EXPRESSION = re.compile(r"torch\.(__version__|version\.\w+|(?:xpu|cuda|hpu|npu|accelerator)\.\w+(?:\([^()]*\))?)")
FORMS = {
    "__version__": r"\d+\.\d+\.\d+[\w.+]*",
    "version.cuda": r"None|\d[\d.]*",
    "version.xpu": r"None|\d[\d.]*",
    "xpu.is_available()": "True|False",
    "xpu._is_compiled()": "True|False",
    "cuda.is_available()": "True|False",
    "hpu.is_available()": "True|False",
    "npu.is_available()": "True|False",
    "xpu.device_count()": r"\d{1,3}",
    "cuda.device_count()": r"\d{1,3}",
}
"""What is printed for each; for what is not here, anything."""
OF_A_BUILD = re.compile(r"(?<![\w.+-])(\d+\.\d+\.\d+[\w.]*\+(?:xpu|cpu|cu\d{2,3}|rocm[\d.]*)\b[\w.]*)")
WHOLE = re.compile(r"\d+\.\d+\.\d+[\w.+]*")
GONE = re.compile(
    r"^\s*(?:Found existing installation: |Uninstalling |Successfully uninstalled )([A-Za-z][\w.-]*?)[ -](\d\S*?):?$"
)
"""What pip says of what it takes away."""
INSTALLED = re.compile(r"^\s*Successfully installed (\S.*)$")
TITLE = re.compile(r"(?<!\S)([A-Za-z][\w.]*(?:-[A-Za-z_][\w.]*)*)-(\d\S*)")
OF_UV = re.compile(r"^ ?([-+~]) ([A-Za-z][\w.-]*)==(\d\S*)")
BY_UV = re.compile(r"^(?:Uninstalled|Installed|Prepared|Audited) \d+ packages? in ")
MENDED = re.compile(r"(?:env )?(?:-u [A-Z_]+ |[A-Z][A-Za-z0-9_]{2,40}=\S* )")
"""How a command begins that runs with other variables than the one before it."""
OF_TORCH = re.compile(r"(?:Import|OS)Error: .*(?:libsycl|libur_|libtorch|c10_xpu|torch/lib/|torch\\lib\\)")
"""How an import of torch itself ends."""


OF_IPEX = re.compile(r"\d+\.\d+\.[1-9]\d+(?![\w.]*\+cu)")
"""A version of Intel's extension, which counts by tens (2.3.110); torch never had ten patches of a release."""


IN_PLACE = re.compile(
    r"(?<![\w.])((?:~|/)[^\s:\"']{0,200}?)"
    r"/(?:lib(?:64)?/python3[.\d]*/(?:site|dist)-packages|bin/(?:activate|pip|python)\b)"
)
"""A path in an environment; one in a line about torch tells most."""
OF_THE_SYSTEM = re.compile(r"/usr(?:/local)?|.*/\.local(?:/.*)?|/opt/intel/.*")
"""Where no environment is, and `--into` takes none."""


def find_environment(lines: Iterable[str]) -> str:
    """Give the environment to which the paths belong that were posted; empty where none does."""
    found = [(each[1], "torch" in line) for line in lines for each in IN_PLACE.finditer(line)]
    found = [each for each in found if not OF_THE_SYSTEM.fullmatch(each[0])]
    return next((path for path, _ in sorted(found, key=lambda each: not each[1])), "")


class TorchReader(EndReader):
    """Reads which torch is there, and whether it has a device.

    `by_uv`: what is read now is what uv has changed, `replaces`: a torch for XPU was taken away.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_uv, self.replaces = False, False

    def _torch_is(self, version: str, weight: int) -> None:
        """Take a version of torch; of those that were printed or installed the last counts, else the first."""
        if OF_IPEX.match(version):
            self.got.distributions.setdefault("intel-extension-for-pytorch", version)
        elif weight > self.heard.weight or weight == SHOWN:
            self.got.distributions["torch"], self.heard.weight = version, weight

    def _note_releases(self, line: str) -> None:
        """Take the releases of torch and of Intel's extension that are named in passing."""
        if GONE.match(line):
            return
        if found := lines.OF_WHEEL.search(line):
            self._torch_is(found[1], NAMED)
        for name, version in lines.OF_RELEASE.findall(line):
            if name.lower().endswith("torch"):
                self._torch_is(version, NAMED)
            else:
                self.got.distributions.setdefault("intel-extension-for-pytorch", version)

    def _torch(self, line: str) -> str:
        asked = EXPRESSION.findall(self.command)
        if self.by_root and "True" in line and (asked or lines.ANSWERED.search(line)):
            self.heard.root_sees = True
            return "torch.xpu"
        if lines.BY_OTHERS.search(line):
            return ""
        return "torch.xpu" if self._answer(line) or self._answers_to(asked, line) or lines.COLLECTED in line else ""

    def _note_available(self, *, there: bool) -> None:
        """Take whether torch has a device; a run that a variable mended does not answer for the one that failed."""
        if not (there and self.got.available is False and MENDED.match(self.command)):
            self.got.available = there
            return
        for name, value in variables_of(self.command).items():
            if self.got.variables.get(name) == value:
                del self.got.variables[name]

    def _answer(self, line: str) -> bool:
        """Take an answer that says itself to what."""
        if found := lines.ANSWERED.search(line):
            self._note_available(there=found[1].lower() == "true")
        elif found := lines.COUNTED.search(line):
            self.got.count = int(found[1])
        elif found := lines.ON_XPU.search(line):
            self._note_available(there=True)
        elif found := lines.PRINTED.match(line):
            self._note_available(there=found[2] == "True")
            self._torch_is(found[1], SHOWN)
        elif found := lines.WHEEL.match(line.strip(" '")):
            self._torch_is(found[1], SHOWN)
        return found is not None

    def _answers_to(self, asked: list[str], line: str) -> bool:
        """Take answers to what was asked before: all in one line, or each in its own."""
        words = line.strip().strip("()")
        whole = r"['\"]?,? ['\"]?".join(f"({FORMS.get(each, '.{1,200}?')})" for each in asked)
        if asked and (found := re.fullmatch(rf"['\"]?{whole}['\"]?", words)):
            self._note_answers(dict(zip(asked, found.groups(), strict=True)))
            return True
        if "__version__" in asked and (named := WHOLE.fullmatch(words.strip("'")) or OF_A_BUILD.search(line)):
            self._torch_is(named[0], SHOWN)
            return True
        truth = lines.TRUTH.match(line.strip()) if "xpu.is_available()" in asked else None
        if truth is not None:
            self._note_available(there=truth[1] == "True")
        return truth is not None

    def _note_answers(self, said: dict[str, str]) -> None:
        self.got.collected["imported"] = "yes"
        if version := said.get("__version__"):
            self._torch_is(version, SHOWN)
        if truth := said.get("xpu.is_available()"):
            self._note_available(there=truth == "True")
        if (compiled := said.get("xpu._is_compiled()")) is not None:
            self.got.collected["compiled"] = compiled
        if said.get("cuda.is_available()") == "True":
            self.got.collected["cuda_available"] = "True"
        if count := said.get("xpu.device_count()"):
            self.got.count = int(count)
        for name in ("cuda", "xpu"):
            if (value := said.get(f"version.{name}", "None")) != "None":
                self.got.collected.setdefault(name, value)

    def _changed(self, line: str) -> str:
        """Read what an installer has put in the place of what, in its own words: it counts from here on."""
        self.by_uv = self.by_uv or bool(BY_UV.match(line))
        if found := GONE.match(line) or (OF_UV.match(line) if self.by_uv else None):
            gone = found.re is GONE or found[1] == "-"
            (self._drop if gone else self._put)(found[found.re.groups - 1], found[found.re.groups])
        elif found := INSTALLED.match(line):
            for name, version in TITLE.findall(found[1]):
                self._put(name, version)
        return "packages" if found or BY_UV.match(line) else ""

    def _put(self, name: str, version: str) -> None:
        name = lines.ALIASES.get(name.lower(), name)
        plain = re.sub(r"[-_.]+", "-", name).lower()
        if plain == "torch":
            self._torch_is(version, SHOWN)
            self._note_source(version)
        elif DISTRIBUTIONS.fullmatch(name.lower()):
            self.got.distributions[plain] = version

    def _note_source(self, version: str) -> None:
        """Note a build of the index's own that pip puts in the place of one for XPU, or of one that was built here."""
        if self.replaces and not re.search(r"\+|a0|dev", version):
            self.got.collected["conda"] = "cuda"
        elif self.replaces:
            self.got.collected.pop("conda", None)

    def _drop(self, name: str, version: str) -> None:
        plain = re.sub(r"[-_.]+", "-", lines.ALIASES.get(name.lower(), name)).lower()
        if plain == "torch" and re.search(r"\+(?:xpu|git)", version):
            self.replaces, self.got.replaced = True, version
        if self.got.distributions.get(plain) == version:
            del self.got.distributions[plain]
            self.heard.weight = 0 if plain == "torch" else self.heard.weight
