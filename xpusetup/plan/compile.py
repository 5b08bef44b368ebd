"""Steps that compile: configure, which reads early whether the accelerator is in, and the build."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from packaging.version import Version

from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Need, Request, Step
from xpusetup.config.profile import Profile, SourceComponent, WheelComponent, names_commit
from xpusetup.config.settings import number_git
from xpusetup.plan.context import Context
from xpusetup.plan.member import record_interface

# One target of ninja instead of a whole component: which component that is, and where its plan is cut.


def find_target_part(profile: Profile, request: Request) -> str:
    """Name the component whose ninja is asked for a target. Raises UsageError where there is none, or more than one."""
    if request.until or request.verify == "require":
        other = "--until" if request.until else "--verify require"
        raise UsageError(f"--target and {other} exclude each other", fix=f"leave {other} out: a target makes no wheel")
    sources = {part.name: part for part in profile.components if part.kind == "source"}
    asked = [name for name in request.only or sources if name in sources]
    able = [name for name in asked if sources[name].cmake and sources[name].configure]
    if len(able) == 1:
        return able[0]
    every = [name for name, part in sources.items() if part.cmake and part.configure]
    if not every:
        raise UsageError(
            f"{profile.name} builds nothing with CMake, and so has no ninja targets", fix="leave --target out"
        )
    named = " or ".join(f"--only {name}" for name in every)
    what = (
        f"{', '.join(asked or request.only)} has no build by CMake" if not able else "several components have targets"
    )
    raise UsageError(f"--target {request.target}: {what}", fix=named)


def step_of(part: str) -> str:
    return f"{part}.target"


# Steps that compile: configure, which reads early whether the accelerator is in, and the build of the wheel.


TOOLKIT = "toolkit"
"""The step that makes a tool chain of wheels."""
INCLUDES = "CMAKE_PROJECT_TOP_LEVEL_INCLUDES"
HEAVY = "heavy_edges.cmake"
"""The helper that puts links into a pool of ninja."""
ALLOWED = (("clone.rejectShallow", "false"), ("protocol.file.allow", "always"))
"""What git's settings of a user may forbid, and a clone of what was fetched needs."""
Commands = tuple[tuple[str, ...], ...]
SYCL_LOG = "sycl.jsonl"
FLAGS = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")

SWITCHES = {"USE_XPU": "xpu", "USE_CUDA": "cuda", "USE_ROCM": "cuda"}
"""Variables of PyTorch's build and its companions', by what PyTorch calls the accelerator.

Unset, each is on where CMake finds that accelerator's toolkit: also in its usual place, which no variable names.
"""
LIBRARIES = ("USE_MPI", "USE_XCCL")
"""What torch alone links for several processes: on where CMake finds it, left out without a word where it does not."""
WORDS = {"0": False, "OFF": False, "FALSE": False, "NO": False, "1": True, "ON": True, "TRUE": True, "YES": True}

TO_ENVIRONMENT = "-Wl,-rpath,'$ORIGIN/../../../..'"
"""From torch/lib in site-packages to the environment's lib, where the wheels of the run-time libraries put them."""


def make_configure(context: Context, part: SourceComponent, before: tuple[str, ...]) -> Step:
    """Give the step that configures and stops where CMake decided against the accelerator."""
    tree, result = context.tree(part), f"{context.layout.results}/{part.name}.configure.json"
    held = hold_options(dict(compile_environment(context, part)))
    check = context.helper("check_configure.py", "--build", f"{tree}/build", *held, "--out", result)
    step = Step(
        id=f"{part.name}.configure",
        title=f"configure {part.name}, and read what CMake decided",
        run=(*_fresh(context, part), *definitions(context, part), *_configure(context, part), check),
        after=before,
        makes=(result,),
    )
    return compiling(context, part, step)


def switched_off(profile: Profile, part: SourceComponent) -> dict[str, str]:
    """Give the variables that keep out of torch, and of what is compiled against it, what a profile does not name."""
    others = tuple(name for name, accelerator in SWITCHES.items() if accelerator != profile.accelerator)
    names = (*others, *LIBRARIES) if part.name == "torch" else others
    return dict.fromkeys(names, "0") if is_of_torch(part) else {}


def is_of_torch(part: SourceComponent) -> bool:
    """Say whether a component is torch or is compiled against it."""
    return part.name == "torch" or "torch" in part.after


def decided(environment: Mapping[str, str]) -> dict[str, bool]:
    """Give what a build is told to have and to leave out, by the names of CMake's options."""
    told = {name: value.upper() for name, value in environment.items() if name.startswith("USE_")}
    return {name: WORDS[value] for name, value in sorted(told.items()) if value in WORDS}


def hold_options(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Give the options that hold CMake's decisions to what a build was told."""
    return tuple(word for name, on in decided(environment).items() for word in (("--on" if on else "--off"), name))


def compiling(context: Context, part: SourceComponent, step: Step) -> Step:
    """Give a step with what every step has that compiles this component: where, by which variables, with what."""
    kit, needs = context.target.toolkit, compile_needs(context, part)
    made = kit is not None and kit.made and "toolkit" in needs
    newest = (renew_toolkit(context),) if made else ()
    return replace(
        step,
        run=(*newest, *step.run),
        after=(*step.after, *((TOOLKIT,) if made else ())),
        cwd=compile_folder(context, part),
        env=(*compile_environment(context, part), *(sycl_log(context) if made else ())),
        needs=needs,
        source_date_from=context.source_date_from(part),
        component=part.name,
        protected_trees=context.protected_trees(part),
    )


def renew_toolkit(context: Context) -> tuple[str, ...]:
    """Give the command that brings in a driver that was mended since a step made the tool chain.

    No key sees the bytes of helpers.
    """
    return context.helper("make_sycl_toolkit.py", "--into", f"{ROOT}/toolkit")


def sycl_log(context: Context) -> tuple[tuple[str, str], ...]:
    """Give the variable that has the compiler made of wheels write down what its passes take, for `report`."""
    return (("XPUSETUP_SYCL_LOG", f"{context.layout.results}/{SYCL_LOG}"),)


def make_build(context: Context, part: SourceComponent, before: tuple[str, ...]) -> Step:
    out = f"{context.beside(part)}.wheel"
    setup = (context.layout.python, "setup.py", "bdist_wheel", "--dist-dir", out)
    step = Step(
        id=f"{part.name}.build",
        title=f"{part.distribution} {part.version} from source",
        run=(
            ("rm", "-rf", out),
            *_fresh(context, part),
            *definitions(context, part),
            *refresh(context, part),
            setup if part.frontend == "setup.py" else _pep517(context, part, out),
            collect(context, part, out),
            *record_interface(context, part, compile_folder(context, part)),
        ),
        after=before,
        makes=(context.wheel(part),),
        wrap_compilers=not part.cmake,
        always=bool(context.protected_trees(part)),
    )
    return compiling(context, part, step)


def collect(context: Context, part: SourceComponent, out: str) -> tuple[str, ...]:
    """Give the command that puts a built wheel among the wheels, and says what it was built from and by what."""
    named = ("--from", out, *context.choice(part)[2:], "--into", context.layout.wheels, "--component", part.name)
    own = ("--own",) if context.own(part.name) else ()
    archives = (word for folder in context.archives(part) for word in ("--archive", folder))
    tools = (word for name in _compilers(context, part) for word in ("--tool", name))
    return context.helper("collect_wheel.py", *named, "--tree", context.tree(part), *own, *archives, *tools)


def _compilers(context: Context, part: SourceComponent) -> tuple[str, ...]:
    """Give the compilers of a component: the system's, and the toolkit's where it is switched on."""
    target = context.target
    toolkit = (target.toolkit.compiler,) if target.toolkit and "toolkit" in compile_needs(context, part) else ()
    return (target.cc, target.cxx, *toolkit)


def make_target_step(context: Context, part: SourceComponent) -> Step:
    """Give the step that lets ninja build one target in the configured folder, and makes no wheel."""
    result = f"{context.layout.results}/{part.name}.target.json"
    words = ("--build", f"{compile_folder(context, part)}/build", "--target", context.request.target, "--out", result)
    step = Step(
        id=step_of(part.name),
        title=f"{context.request.target} of {part.name}, and no wheel",
        run=(*refresh(context, part), context.helper("build_target.py", *words)),
        after=(f"{part.name}.configure",),
        makes=(result,),
        always=True,
    )
    return compiling(context, part, step)


def _configure(context: Context, part: SourceComponent) -> Commands:
    python = context.layout.python
    if part.frontend == "setup.py":
        # Without --cmake an earlier configure, also one that had failed, would be taken as it is.
        return ((python, "setup.py", "build", "--cmake", "--cmake-only"),)
    # scikit-build-core has no way to configure alone: build only ninja's help and pack nothing. The folder is kept.
    out = f"{context.beside(part)}.configured"
    only = ("-Cbuild.targets=help", "-Cinstall.components=nothing", "-Cwheel.exclude=**")
    return (("rm", "-rf", f"{context.tree(part)}/build/CMakeCache.txt", out), (*_pep517(context, part, out), *only))


def _fresh(context: Context, part: SourceComponent) -> Commands:
    """Give what empties the build folder after a change of compilers. What is the user's own is never emptied."""
    return () if context.own(part.name) else fresh_folder(context, part, f"{compile_folder(context, part)}/build")


def fresh_folder(context: Context, part: SourceComponent, folder: str) -> Commands:
    """Give what empties a folder of objects after a change of compilers."""
    compilers = (word for name in _compilers(context, part) for word in ("--compiler", name))
    places = ("--build", folder, "--tools", f"{context.beside(part)}.tools")
    return (context.helper("fresh_build.py", *places, *compilers),)


def refresh(context: Context, part: SourceComponent) -> Commands:
    """Bring what an earlier build cloned by itself up to what was fetched since."""
    clones = [word for item in part.vendored for address in item.clones for word in ("--clones", address)]
    folder = f"{compile_folder(context, part)}/build"
    return (context.helper("refresh_clones.py", "--build", folder, *clones),) if clones else ()


def definitions(context: Context, part: SourceComponent) -> Commands:
    """Write down what CMake is told: setup.py hands CMake no definition that is not CMAKE_* or the like."""
    places = [word for define in _defines(context, part) for word in ("--define", define)]
    if part.frontend != "setup.py" or not places:
        return ()
    return (context.helper("write_defines.py", *places, "--into", _defines_file(context, part)),)


def _defines(context: Context, part: SourceComponent) -> tuple[str, ...]:
    tree = context.tree(part)
    vendored = (f"{item.define}={tree}/{item.path}" for item in part.vendored if item.define)
    return (*vendored, *(f"{name}={value}" for name, value in part.defines.items()))


def _defines_file(context: Context, part: SourceComponent) -> str:
    return f"{context.beside(part)}.cmake"


def _pep517(context: Context, part: SourceComponent, out: str) -> tuple[str, ...]:
    settings = pep517_settings(context, part)
    return (context.layout.python, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, *settings)


def pep517_settings(context: Context, part: SourceComponent) -> tuple[str, ...]:
    """Give what a build back end is told beside the environment; setup.py takes nothing so."""
    if part.frontend == "setup.py":
        return ()
    told = (*_defines(context, part), *(f"{INCLUDES}={file}" for file in _heavy(context, part)))
    return tuple(f"-Ccmake.define.{define}" for define in told)


def compile_folder(context: Context, part: SourceComponent) -> str:
    tree = context.tree(part)
    return tree if part.directory == "." else f"{tree}/{part.directory}"


def compile_needs(context: Context, part: SourceComponent) -> tuple[Need, ...]:
    """Switch the toolkit on for what compiles with it, and for what is built on a torch without a runtime of its own.

    Anything else sees only the run-time libraries in the environment: two SYCL runtimes must not meet.
    """
    kit = context.target.toolkit
    imports = kit is not None and kit.at_run_time and "torch" in part.after
    return ("compiler", "toolkit") if kit and (part.inspect.xpu or imports) else ("compiler",)


def compile_environment(context: Context, part: SourceComponent) -> tuple[tuple[str, str], ...]:
    """Give the variables of a compiling step, in the order of their names."""
    asked = {key: value for name, key, value in context.request.set if name == part.name}
    kit = context.profile.toolkit if "toolkit" in compile_needs(context, part) else None
    given = {**context.profile.environment, **part.environment, **(kit.environment if kit else {}), **asked}
    ours = {
        "CC": context.target.cc,
        "CXX": context.target.cxx,
        "CMAKE_PREFIX_PATH": context.layout.venv,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        **switched_off(context.profile, part),
        **_same_bytes(context, part),
        **_accelerator(context, part),
        **_versions(context, part),
        **_archive(context, part),
        **_includes(context, part),
        **_toolchain(context, part),
        **_sycl(context, part),
        **_linker(context, part),
        **_clones(context, part),
        **{each.variable: folder for folder, each in context.archives(part).items()},
    }
    return tuple(sorted({**ours, **given, **_beside(ours, given)}.items()))


def _beside(ours: dict[str, str], given: dict[str, str]) -> dict[str, str]:
    """Put flags that were asked for behind ours: what keeps places out of the wheel and finds its libraries stays.

    CMAKE_CXX_FLAGS and its like stand for what CMake would take from CXXFLAGS.
    """
    found = {name: f"{ours[name]} {given[name]}".strip() for name in FLAGS if name in given and name in ours}
    over = {f"CMAKE_{name[:-5]}_FLAGS": name for name in ("CFLAGS", "CXXFLAGS")}
    cmake = {
        name: f"{ours[mine]} {given[name]}".strip() for name, mine in over.items() if name in given and mine in ours
    }
    return {**found, **cmake}


def _same_bytes(context: Context, part: SourceComponent) -> dict[str, str]:
    """Keep the places of source and environment out of the wheel.

    CMake ignores CPPFLAGS; setuptools (80 and later) lets CFLAGS and CXXFLAGS replace Python's own `-O3`.
    CMake pads the run-time path of what it links to the length of the build folder, unless that is relative.
    """
    maps = f"-ffile-prefix-map={context.tree(part)}={part.name} -ffile-prefix-map={context.layout.venv}=venv"
    cmake = {"CFLAGS": maps, "CXXFLAGS": maps, "CMAKE_BUILD_RPATH_USE_ORIGIN": "ON"}
    return {"CPPFLAGS": maps, **(cmake if part.cmake else {})}


def _sycl(context: Context, part: SourceComponent) -> dict[str, str]:
    """Say where SYCL lies to CMake's find_package(Torch), which asks for it wherever that torch is one for XPU.

    Nothing else of the toolkit is switched on: such a component compiles no device code, and runs that torch.
    """
    kit = context.target.toolkit
    asks = part.cmake and "torch" in part.after and "toolkit" not in compile_needs(context, part)
    return {"SYCL_ROOT": str(PurePosixPath(kit.compiler).parents[1])} if kit and asks else {}


def _linker(context: Context, part: SourceComponent) -> dict[str, str]:
    """Name the linker of the site file to the compiler that links, beside what else it is told."""
    told = _accelerator(context, part).get("LDFLAGS", "")
    named = f"-fuse-ld={context.target.linker}" if context.target.linker else ""
    return {"LDFLAGS": f"{told} {named}".strip()} if named else {}


def _clones(context: Context, part: SourceComponent) -> dict[str, str]:
    """Lead git from what the build clones by itself to where that was fetched; a step without a network has no other.

    A plain path: git would decode `%` in a file:// address.
    """
    pairs = [
        (f"url.{context.tree(part)}/{item.path}.insteadOf", f"{address.removesuffix('.git')}{ending}")
        for item in part.vendored
        for address in item.clones
        for ending in ("", ".git")
    ]
    return number_git([*pairs, *ALLOWED]) if pairs else {}


def _includes(context: Context, part: SourceComponent) -> dict[str, str]:
    """Let CMake (3.24 and later) read files before anything else: the definitions, and the pools of heavy edges."""
    defines = [_defines_file(context, part)] if definitions(context, part) else []
    files = [*defines, *_heavy(context, part)] if part.frontend == "setup.py" else []
    return {INCLUDES: ";".join(files)} if files else {}


def _toolchain(context: Context, part: SourceComponent) -> dict[str, str]:
    """Let CMake (3.21 and later) read the definitions also where setup.py calls it with arguments of its own alone."""
    told = part.defines and part.frontend == "setup.py"
    return {"CMAKE_TOOLCHAIN_FILE": _defines_file(context, part)} if told else {}


def _heavy(context: Context, part: SourceComponent) -> tuple[str, ...]:
    return (f"{context.layout.helpers}/{HEAVY}",) if part.cmake and part.inspect.xpu else ()


def _versions(context: Context, part: SourceComponent) -> dict[str, str]:
    """Tell the build which version it makes, and of which torch: public, as a requirement names it."""
    told = {part.version_variable: part.version} if part.version_variable else {}
    torch = next((each for each in context.profile.components if each.name == "torch" and each.kind != "skip"), None)
    if part.torch_variable and torch is not None:
        told[part.torch_variable] = Version(torch.version).public
    return told


def _archive(context: Context, part: SourceComponent) -> dict[str, str]:
    """Let a build in an unpacked archive ask no repository that lies around it, and take its version from us."""
    if part.sha256 is not None and not context.own(part.name):  # its repository is ours, and has no tag
        return {} if part.version_variable else {"SETUPTOOLS_SCM_PRETEND_VERSION": part.version}
    if part.name not in context.request.archives:
        return {}
    told = {} if part.version_variable else {"SETUPTOOLS_SCM_PRETEND_VERSION": context.version(part)}
    around = {"GIT_CEILING_DIRECTORIES": str(PurePosixPath(context.tree(part)).parent)}
    return {**around, **{name: value for name, value in told.items() if value}}


def _accelerator(context: Context, part: SourceComponent) -> dict[str, str]:
    profile, found = context.profile, {}
    if not part.inspect.xpu:
        return {}
    if profile.arch is not None and context.target.arch:
        found[profile.arch.variable] = ",".join(context.target.arch)
    if profile.runtime_requirements is not None and profile.runtime_requirements.variable:
        found[profile.runtime_requirements.variable] = " | ".join(
            (*profile.runtime_requirements.pins, *_triton(profile))
        )
        own = f" -Wl,-rpath,{context.layout.venv}/lib" if part.name in context.request.editable else ""
        # to the run-time libraries; in a tree that is installed as it lies, by their whole path
        found["LDFLAGS"] = f"{TO_ENVIRONMENT}{own}"
    return found


def _triton(profile: Profile) -> tuple[str, ...]:
    """Give the requirement of the Triton that this profile provides: torch.compile needs just that one.

    One that is built from source serves the same requirement as the published wheel: torch is not built again for it.
    """
    parts = (part for part in profile.components if part.kind != "skip" and part.name == "triton")
    return tuple(f"{part.distribution}=={_required(part)}" for part in parts)


def _required(part: SourceComponent | WheelComponent) -> str:
    own = part.kind == "source" and names_commit(part.version)
    return Version(part.version).public if own else part.version
