"""What the end of a command's output tells, and the end of all that was pasted: what would have been shown. Pure."""

from xpusetup.machine.parsers import parse_clinfo
from xpusetup.machine.versions import LEVEL_ZERO_PACKAGES
from xpusetup.paste import lines
from xpusetup.paste.commands import by_silence
from xpusetup.paste.kernel import KernelReader

ZE_DRIVER = "libze_intel_gpu.so"


class EndReader(KernelReader):
    """Takes what follows from what was not shown.

    `by_root`: root typed the command, `expected`: of each part the packages of which one would be listed, `rows`:
    how many were listed since it was typed, `listing`: it lists libraries, `shown_lines`: how many lines it has shown.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_root, self.listing = False, False
        self.expected: tuple[tuple[str, ...], ...] = ()
        self.rows, self.shown_lines = 0, 0

    def _end(self) -> None:
        """Take over what is only known once all lines are read, of each place."""
        self._end_command()
        here = self.place
        for place in tuple(self.spots):
            self.go(place)
            self._end_place()
        self.go(here)

    def _end_place(self) -> None:
        self._take_listed()
        if self.got.uid is None and self.heard.users == {"root"}:
            self.got.uid = 0
        absent = sorted(name for name in LEVEL_ZERO_PACKAGES if name in self.heard.absent)
        if absent and not any(name in self.got.packages for name in LEVEL_ZERO_PACKAGES):
            self.got.lacks.extend(name for name in absent if name not in self.got.lacks)
        if self.heard.bus >= lines.WHOLE_BUS:
            self.got.told.add("hardware.gpus")
        if self.got.listed >= lines.WHOLE_LIST:
            self.got.told.add("userland.packages")

    def _take_listed(self) -> None:
        """Take what OpenCL lists to this user, and apart from it what it lists to root alone."""
        own, roots = (parse_clinfo("\n".join(self.heard.shown_to[who])) for who in (False, True))
        if self.heard.root_sees and self.got.available is False:
            self.got.as_root.append("a GPU")
        blind = bool(self.got.sycl) and not self.got.lists_gpu()
        seen = [line.rpartition("] ")[2] for line in self.heard.sycl_of_root if ":gpu]" in line]
        if blind and seen:
            self.got.as_root = seen
        else:
            self.got.sycl.extend(each for each in self.heard.sycl_of_root if each not in self.got.sycl)
        if False in self.heard.no_platform and not own:
            self.got.as_root.extend(name.rpartition(": ")[2] for name in roots)
        elif own or roots:
            self.heard.no_platform.clear()
        for each in own if self.got.as_root else (*own, *roots):
            self._keep(self.got.clinfo, each)
        self.got.no_platform = bool(self.heard.no_platform)

    def _end_command(self, *, closed: bool = False) -> None:
        """Take what the end of a command's output tells: which of the packages that it would show are not there.

        `closed`: a prompt stands after it, so that nothing of it was left out.
        """
        if closed and self.command and not self.shown_lines:
            self._take_silence()
        for names in self.expected if self.rows else ():
            if not any(name in self.got.packages for name in names):
                self.got.lacks.extend(name for name in names if name not in self.got.lacks)
        if self.listing and not any(name.startswith(ZE_DRIVER) for name in self.got.libraries):
            self.got.lacks.append(ZE_DRIVER)
        self.expected, self.listing = (), False

    def _take_silence(self) -> None:
        """Take what a command tells that showed nothing."""
        silence = by_silence(self.command)
        self.got.told.update(silence.told)
        self.got.lacks.extend(name for name in silence.lacks if name not in self.got.lacks)
        self.got.displays = self.got.displays or silence.displays
        if silence.no_platform:
            self.heard.no_platform.add(self.by_root)
