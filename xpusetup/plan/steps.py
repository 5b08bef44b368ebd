"""From a profile, a request, a target and a layout to the steps: a pure function, nothing else."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from xpusetup.base.command import Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Layout, Plan, Request, Step, Target
from xpusetup.base.text import hint_at_nearest, nearest
from xpusetup.config.hashes import key_of
from xpusetup.config.profile import MakersInstaller, Profile, SourceComponent, WheelComponent, find_needed, make_order
from xpusetup.plan.compile import compile_needs, find_target_part, step_of
from xpusetup.plan.component import make_component
from xpusetup.plan.context import Context
from xpusetup.plan.environment import UNBOUND, make_guard, make_pinned, make_toolkit, make_venv, pins_of_python
from xpusetup.plan.requirements import RECORD
from xpusetup.plan.verify import make_verify

# Steps for what the device's maker installs with a program of its own: that, and a look at what came of it.


PROGRAMS = f"{ROOT}/installers"
COMMON = ("CMAKE_BUILD_TYPE", "DEBUG", "REL_WITH_DEB_INFO")
"""Variables that PyTorch's setup.py reads and no profile sets."""
ALIKE = 0.82
"""How alike a variable is to one that may be meant: USE_CUDNN is none of these to USE_CUDA."""
PAIRING = "pairing"


def installer_step(installer: MakersInstaller) -> str:
    return f"{installer.name}.install"


def make_installer(context: Context, installer: MakersInstaller, last: str) -> Step:
    """Give the step that lets the maker's program fill the environment."""
    result = f"{context.layout.results}/{installer.name}.json"
    replaced = {part.distribution for part in context.profile.components if part.kind != "skip"}
    asked = (f"--ask={word}" for word in installer.ask)
    options = (
        *("--program", installer.program, "--url", installer.url, "--into", PROGRAMS, "--record", RECORD),
        *("--release", installer.release),
        *(*asked, "--prefix-variable", installer.prefix_variable, "--prefix", context.layout.venv),
        *(word for name, version in installer.brings.items() for word in ("--brings", f"{name}={version}")),
        *("--out", result, "--", *installer.arguments),
    )
    return Step(
        id=installer_step(installer),
        title=f"{installer.program} of release {installer.release}",
        run=(context.helper("makers_installer.py", *options), *context.movable()),
        env=UNBOUND,
        needs=("network",),
        after=(last,),
        locks=("venv",),
        makes=(*(context.record(name) for name in installer.brings if name not in replaced), result),
        component=installer.name,
    )


def make_pairing(context: Context, installer: MakersInstaller, last: str) -> Step:
    """Give the step that looks whether driver packages, extension and torch belong together, and have one C++ ABI."""
    result = f"{context.layout.results}/pairing.json"
    parts = {part.distribution: part.version for part in context.profile.components if part.kind != "skip"}
    versions = {**installer.brings, **parts}
    options = (
        *(word for name, version in versions.items() for word in ("--wants", f"{name}={version}")),
        *("--pytorch", context.profile.pytorch, "--out", result),
    )
    return Step(
        id=PAIRING,
        title="torch and extension of one release, with one C++ ABI",
        run=(context.helper("inspect_pairing.py", *options),),
        after=(last,),
        makes=(result,),
    )


# What a component is built on where that is in the environment already, and is not of this build.


def ready_step(name: str) -> str:
    return f"{name}.ready"


def make_ready(context: Context, part: SourceComponent | WheelComponent) -> Step:
    """Give the step that looks, each time, at the installed distribution that the others are built on."""
    result = f"{context.layout.results}/{part.name}.ready.json"
    wanted = ("--distribution", part.distribution, "--version", part.version)
    return Step(
        id=ready_step(part.name),
        title=f"the {part.distribution} that is there",
        run=(context.helper("ready_distribution.py", *wanted, "--out", result),),
        after=("venv",),
        locks=("venv",),
        makes=(result,),
        component=part.name,
        always=True,
    )


# What a plan brings in of which nobody published a hash: of unverified origin, held to what came first.


def find_unverified(profile: Profile, plan: Plan) -> tuple[str, ...]:
    """Name what the steps of a plan fetch without a published hash: pins as name==version, programs with address."""
    free = [pin for pin in _fetched(profile, plan) if key_of(pin) not in profile.hashes]
    found = dict.fromkeys(pins_of_python(free, plan.target.python_version))
    steps = {step.id for step in plan.steps}
    maker = profile.installer
    return (
        *found,
        *_free_archives(profile, plan),
        *((f"{maker.program} {maker.release}",) if maker and installer_step(maker) in steps else ()),
    )


def _free_archives(profile: Profile, plan: Plan) -> Iterator[str]:
    """Name the archives without a published hash that the steps of a plan bring."""
    taken = {word for step in plan.steps for argv in step.run for word in argv if "network" in step.needs}
    for part in profile.components:
        for each in part.archives if part.kind == "source" else ():
            if each.sha256 is None and each.url in taken:
                yield each.url.rpartition("/")[2]


def check_origins(profile: Profile, request: Request, plan: Plan) -> Plan:
    """Give the plan. Raises UsageError where hashes are required and one is not known."""
    found = find_unverified(profile, plan) if request.require_hashes else ()
    if found:
        fix = (
            "leave --require-hashes out, or write the sha256 of each file into [hashes] of a profile of your own,"
            " which this begins: "
        )
        line = Command(f"xpusetup profiles lock {profile.name} --out FILE", gaps=("FILE",))
        raise UsageError(f"no published hash is known of {', '.join(found)}", fix=fix, command=line)
    return plan


def _fetched(profile: Profile, plan: Plan) -> Iterator[str]:
    """Give the pins that the steps of a plan bring in."""
    network = {step.id for step in plan.steps if "network" in step.needs}
    if "requirements" in network:
        yield from profile.build_requirements.pins
    if "toolkit" in network and profile.toolkit:
        yield from profile.toolkit.pins
    if "runtime" in network and profile.runtime_requirements:
        yield from profile.runtime_requirements.pins
    for part in profile.components:
        if part.kind == "wheel" and any(part.name == step.component and _fetches(step.run) for step in plan.steps):
            yield f"{part.distribution}=={part.version}"
    if profile.published and any(name.endswith(".download") for name in network):
        yield from profile.published.wheels


def _fetches(run: tuple[tuple[str, ...], ...]) -> bool:
    return any(word.endswith("/fetch_wheel.py") for argv in run for word in argv[:2])


def make_plan(profile: Profile, request: Request, target: Target, layout: Layout) -> Plan:
    """Give the steps in an order in which they can run. Raises UsageError for a component or step that isn't."""
    _check(profile, request)
    context = Context(profile, request, target, layout)
    if request.only and not request.ready and len(_chosen(context)) == len(make_order(profile.components)):
        request = replace(request, only=(), verify="off")  # that is all there is: it is guarded too
        context = replace(context, request=request)
    if request.target:
        until = step_of(find_target_part(profile, request))
        steps = tuple(_needed(tuple(_all_steps(context, request)), {until}))
    else:
        steps = select(tuple(_all_steps(context, request)), request)
    plan = Plan(profile=profile.name, target=target, layout=layout, steps=steps)
    return check_origins(profile, request, plan)


def _refuse_cloned(profile: Profile, name: str) -> None:
    """Refuse a change that a build would not see, because it clones a commit. Raises UsageError."""
    for part in profile.components:
        for item in part.vendored if part.kind == "source" else ():
            if item.name == name and item.clones:
                fix = f"name your commit in {item.pin_file} of your own tree: --source {part.name}=DIR"
                raise UsageError(f"{part.name} clones {name} at a commit when it is built, and sees no change", fix=fix)


def _check(profile: Profile, request: Request) -> None:
    """Refuse names that the profile does not have, and what cannot be done with those that it has."""
    given = [name for name, _folder in request.sources]
    sources = [part for part in profile.components if part.kind == "source"]
    parts = [part.name for part in sources]
    parts += [part.name for part in profile.components if part.kind == "wheel" and part.name in given]
    for part in sources:
        _refuse_alone(part.name, [item.name for item in part.vendored], request)
    for name in request.only:
        _must_be(name, sorted(part.name for part in profile.components if part.kind != "skip"), "component")
    for name, _key, _value in request.set:
        _must_be(name, parts, "component that is built from source,")
    vendored = [item.name for part in sources for item in part.vendored]
    for name in (*given, *(patch.source for patch in request.patches)):
        _must_be(name, [*parts, *vendored], "source")
        _refuse_cloned(profile, name)
    for name in request.pinned:  # a ready wheel too: it may have been built from a tree before
        _must_be(name, [*(part.name for part in profile.components if part.kind != "skip"), *vendored], "source")
    _check_own(request, given, vendored)


def _refuse_alone(whole: str, vendored: list[str], request: Request) -> None:
    """Refuse to build a part of a component by itself."""
    if name := next((name for name in request.only if name in vendored), ""):
        line = Command(f"the same command with --only {whole}", again=("--only", whole))
        raise UsageError(f"{name} is a part of {whole} and is built with it", command=line)
    if name := next((name for name, _key, _value in request.set if name in vendored), ""):
        fix = f"set it there: --set {whole}.KEY=VALUE"
        raise UsageError(f"{name} is a part of {whole} and is built with it", fix=fix)


def describe_set(profile: Profile, request: Request) -> tuple[str, ...]:
    """Say of each variable of `--set` that is nearly one that the profile sets, or DEBUG, which may be meant."""
    known = {
        part.name: {*COMMON, *profile.environment, *part.environment}
        for part in profile.components
        if part.kind == "source"
    }
    near = (
        (key, nearest(key, sorted(known[name]), ALIKE))
        for name, key, _value in request.set
        if name in known and key not in known[name]
    )
    return tuple(f"--set: {key} is passed on; did you mean {close}?" for key, close in near if close)


def _check_own(request: Request, given: list[str], vendored: list[str]) -> None:
    for patch in request.patches:
        if patch.source in given:
            raise UsageError(f"{patch.source} is a tree of your own", fix="apply the patch there: git apply FILE")
    for name in vendored:
        if name in request.editable:
            fix = "install the component editable that it is vendored in"
            raise UsageError(f"{name} is built as a part of another and cannot be installed", fix=fix)
        if name in request.archives:
            why = f"the folder of {name} is no git checkout, and CMake of the component that it is vendored in asks git"
            raise UsageError(why, fix="name a checkout, which git clone makes")


def _all_steps(context: Context, request: Request) -> Iterator[Step]:
    yield make_venv(context, context.profile.build_requirements.pins)
    last, installer = "venv", context.profile.installer
    if pins := context.profile.build_requirements.pins:
        title = f"{len(pins)} pinned build requirements"
        yield make_pinned(context, "requirements", "build", title=title, after=last)
        last = "requirements"
    if installer is not None:
        yield make_installer(context, installer, last)
        last = installer_step(installer)
    kit = context.profile.toolkit
    if kit is not None and kit.kind == "wheels" and _compiles_sycl(context):
        yield make_toolkit(context, kit)
    installed: dict[str, str] = {}
    for part in _chosen(context):
        if part.name in request.ready:
            yield make_ready(context, part)
            installed[part.name] = ready_step(part.name)
            continue
        ready = tuple(installed[name] for name in part.after if name in installed)
        yield from make_component(context, part, ready=ready, venv_last=last)
        last = installed[part.name] = f"{part.name}.install"
        runtime = context.profile.runtime_requirements
        if runtime is not None and runtime.component == part.name:
            title = f"{len(runtime.pins)} pinned run-time requirements"
            yield make_pinned(context, "runtime", "runtime", title=title, after=last, component=part.name)
            last = installed[part.name] = "runtime"
    if installer is not None:
        yield make_pairing(context, installer, last)
        last = PAIRING
    brought = context.profile.installer.brings if context.profile.installer else {}
    parts = (part.distribution for part in context.profile.components if part.kind != "skip")
    yield make_guard(context, list(dict.fromkeys((*brought, *parts))), last)
    if request.verify != "off":
        yield from make_verify(context, "guard")


def _compiles_sycl(context: Context) -> bool:
    """Say whether something is compiled with the toolkit of the profile."""
    parts = (part for part in _chosen(context) if part.name not in context.request.ready)
    return any("toolkit" in compile_needs(context, part) for part in parts if part.kind == "source")


def _chosen(context: Context) -> list[SourceComponent | WheelComponent]:
    """Give the components in their order: all of them, or with `--only` these and what they are built on."""
    parts, only = context.profile.components, context.request.only
    wanted = {*only, *find_needed(parts, only)}
    return [part for part in make_order(parts) if not only or part.name in wanted]


def select(steps: tuple[Step, ...], request: Request) -> tuple[Step, ...]:
    """Give the steps that are asked for, and those they come after; of two limits both hold."""
    chosen = steps
    if request.until:
        _must_be(request.until, [step.id for step in steps], "step")
        chosen = tuple(_needed(steps, {request.until}))
    if request.only:
        parts = sorted({step.component for step in steps if step.component})
        for name in request.only:
            _must_be(name, parts, "component")
        wanted = _needed(steps, {step.id for step in steps if step.component in request.only})
        chosen = tuple(step for step in chosen if step in wanted)
    return chosen


def _needed(steps: Iterable[Step], wanted: set[str]) -> list[Step]:
    chosen: list[Step] = []
    for step in reversed(tuple(steps)):
        if step.id in wanted:
            chosen.insert(0, step)
            wanted |= set(step.after)
    return chosen


def _must_be(name: str, known: list[str], what: str) -> None:
    if name not in known:
        message = f"this profile has no {what} {name!r}{hint_at_nearest(name, known)}"
        raise UsageError(message, fix=f"it has: {', '.join(known)}")
