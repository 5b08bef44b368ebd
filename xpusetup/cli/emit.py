"""emit: the steps of a build as files for elsewhere."""

from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import typer

from xpusetup.cli import complete, options

Kind = Annotated[
    str,
    typer.Argument(
        help="What to write: shell, dockerfile, apptainer, slurm, module or github.",
        metavar="FORM",
        autocompletion=complete.forms,
    ),
]
Label = Annotated[str, options.value("--label", "LABEL", "github: the runners that build.")]
GpuLabel = Annotated[str, options.value("--gpu-label", "LABEL", "github: the runners that have a device.")]
Extension = Annotated[str, options.value("--extension", "MODULE", "github: your package, built against each.")]


@dataclass(frozen=True, kw_only=True)
class ImageRequest:
    """How an image, or another form of a build, is made."""

    origin: options.FormFrom = ""
    system: options.ImageOs = ""
    target: options.ImageTarget = ""
    dialect: options.ImageDialect = ""
    base: options.ImageBase = ""
    driver: options.ImageDriver = ""
    pin: options.ImagePin = None

    def told(self) -> dict[str, Any]:
        """Give what was said by the names of the options, from which each form knows what it has no use for."""
        given = {name: value for name, value in vars(self).items() if name not in {"origin", "system", "pin"}}
        return {**given, "from": self.origin, "os": self.system, "pin": tuple(self.pin or ())}


@dataclass(frozen=True, kw_only=True)
class GithubRequest:
    """What a workflow runs on, and what it builds against each."""

    label: Label = ""
    gpu_label: GpuLabel = ""
    extension: Extension = ""


@options.command(
    "emit",
    "xpusetup emit dockerfile 2.14 --from wheels -o DIR",
    "xpusetup emit slurm 2.14 --python 3.11 --python 3.12 -o DIR",
    takes=options.ProfileNames,
    common="--from --os",
)
def emit(
    *,
    kind: Kind,
    out: options.OutFolder = "",
    profile: options.Profiles = None,
    stack: options.Stacks = None,
    python: options.Pythons = None,
    rev: options.Rev = None,
    take: options.Take = None,
    toolkit: options.Toolkit = "",
    into: options.Into = "",
    only: options.Only = None,
    until: options.Until = "",
    arch: options.Archs = None,
    variables: options.Set = None,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    image: ImageRequest,
    github: GithubRequest,
    told: options.ResultOutput,
) -> options.Answer:
    """Write a build as files for elsewhere: a Dockerfile, Slurm jobs, a shell script, a workflow."""
    given = {**image.told(), **vars(github)}
    more: dict[str, Any] = {"only": only, "until": until, "verify": verify, "variables": variables}
    one: dict[str, Any] = {"rev": tuple(rev or ()), "take": tuple(take or ()), "toolkit": toolkit, "into": into}

    from xpusetup.commands.emit import EmitOrder, emit
    from xpusetup.config.request import read_request
    from xpusetup.run.workspace import Where, check_stack

    names = [*(profile or []), *map(check_stack, stack or [])]
    matrix = {"profiles": names, "pythons": python or [], "archs": arch or []}
    cells = product(*(values or [""] for values in matrix.values()))
    places = tuple(Where(root=out, profile=name, python=of, **one) for name, of, _ in cells)
    request = read_request(**more, arch=(arch or ["auto"])[0], require_hashes=require_hashes)
    return emit(kind, EmitOrder(places=places, request=request, options={**given, **matrix}), out)
