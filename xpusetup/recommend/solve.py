"""The smallest change that brings a machine to a working PyTorch: which release fits, how, and its steps."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from xpusetup.base.command import Command
from xpusetup.machine.gpus import LEGACY
from xpusetup.machine.works import cut_off, find_mirrors, torch_works
from xpusetup.recommend.answer import After, Note, Refusal, Task, Way, WayStep
from xpusetup.recommend.machine import (
    Card,
    MachineTables,
    choose_cards,
    find_cards,
    other_gpus,
    sees_devices,
    unknown_gpus,
)
from xpusetup.recommend.setup import line_of, make_setup, with_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from xpusetup.config.profile import Profile
    from xpusetup.machine.environments import InstalledTorch
    from xpusetup.machine.facts import Facts
    from xpusetup.machine.platforms import Needs


# Which releases fit a machine, and why others do not.


RELEASE = "torch-"


def release_of(profile: Profile) -> Version | None:
    """Give the release of PyTorch that a profile is, as 2.14; None for one that is no release."""
    try:
        return Version(profile.name.removeprefix(RELEASE)) if profile.name.startswith(RELEASE) else None
    except InvalidVersion:  # torch-experiment: someone's own
        return None


def is_release(profile: Profile) -> bool:
    """Say whether the way knows a profile: a release for Intel GPUs."""
    return profile.accelerator == "xpu" and release_of(profile) is not None


def releases(profiles: Iterable[Profile]) -> list[Profile]:
    """Give the profiles that are releases for Intel GPUs, the newest first."""
    found = [(release, profile) for profile in profiles if (release := release_of(profile)) is not None]
    ordered = sorted(found, key=lambda pair: pair[0], reverse=True)
    return [profile for _, profile in ordered if profile.accelerator == "xpu"]


def may_advise(profile: Profile, asked: str = "") -> bool:
    """Say whether a profile may be advised: a new release, whose pins are not confirmed, only if it was named."""
    return profile.tier != "new" or profile.name == asked


def advised(profiles: Iterable[Profile], asked: str = "") -> list[Profile]:
    """Give the releases that may be advised, the newest first."""
    return [each for each in releases(profiles) if may_advise(each, asked)]


def refuse(profile: Profile, facts: Facts, cards: Sequence[Card], known: MachineTables) -> Refusal | None:
    """Give the weightiest reason against a release on this machine."""
    found = [
        *_of_python(profile, facts),
        *(reason for card in cards for reason in _of_card(profile, card)),
        *(reason for needs in known.platforms.needs for reason in _of_distribution(profile, facts, needs)),
    ]
    return min(found, key=lambda refusal: not refusal.firm, default=None)


def _of_card(profile: Profile, card: Card) -> Iterator[Refusal]:
    name, family, platform = profile.name, card.product.family, card.platform
    if profile.arch and not family.target_in(profile.arch.default):
        listed, title = ", ".join(profile.arch.default), card.product.title()
        then = f"kernels are compiled for {title} when first used" if profile.arch.spirv else f"nothing runs on {title}"
        spelling = min(family.targets, key=len, default=family.id)  # that of current releases
        why = f"no {spelling} in its targets ({listed}): {then}"
        yield Refusal(profile=name, why=why, source=profile.arch.source, firm=not profile.arch.spirv)
    if platform is None:
        return
    release = release_of(profile)
    if platform.release and release is not None and release < Version(platform.release.first):
        why = f"{platform.name} is documented from PyTorch {platform.release.first} on"
        yield Refusal(profile=name, why=why, source=platform.release.source, firm=False)
    wanted = profile.toolkit.preferred if profile.toolkit and profile.toolkit.kind == "oneapi" else ""
    if platform.toolkits and wanted and not SpecifierSet(platform.toolkits.accepts).contains(f"{wanted}.0"):
        why = f"it is made with oneAPI {wanted}; {platform.toolkits.why}"
        yield Refusal(profile=name, why=why, source=platform.toolkits.source, firm=False)


def has_code(profile: Profile, cards: Iterable[Card]) -> bool:
    """Say whether a release was compiled for these GPUs."""
    return profile.arch is None or all(card.product.family.target_in(profile.arch.default) for card in cards)


def _of_python(profile: Profile, facts: Facts) -> Iterator[Refusal]:
    python = facts.python
    if python is not None and not SpecifierSet(profile.python).contains(python.version):
        why = f"it takes Python {profile.python}; here: {python.version}"
        yield Refusal(profile=profile.name, why=why, source=f"the profile {profile.name}", firm=False)


def _of_distribution(profile: Profile, facts: Facts, needs: Needs) -> Iterator[Refusal]:
    there = facts.torch.distributions.get(needs.distribution, "") if facts.torch else ""
    release = release_of(profile)
    if not there or release is None or not SpecifierSet(needs.version).contains(there):
        return
    if not SpecifierSet(needs.torch).contains(f"{release}.0"):
        why = f"{needs.distribution} {there} is here: {needs.why}"
        yield Refusal(profile=profile.name, why=why, source=needs.source, firm=False)


# The steps of a way: what the system needs, another Python, and the command at the end.


KERNEL = "setup.kernel"
ENVIRONMENT = "setup.toolchain"
"""What makes an environment, which nobody needs where a PyTorch works in one."""
MENDS = {
    "setup.kernel": ("kmd.force_probe", "kmd.bound"),
    "setup.kernel-driver": ("kmd.pvc_needs_backports", "kmd.bound"),
    "setup.driver": ("umd.ze_intel_gpu", "umd.ze_loader", "umd.stock_ubuntu_too_old", "umd.ze_init", "torch.available"),
    "setup.access": ("perm.render_group",),
    "setup.toolchain": ("cc.gcc", "git.present", "py.headers", "py.venv"),
    "setup.oneapi": ("oneapi.compiler",),
}
"""The checks that find fault until a task is done."""
KEPT = "nothing to install"
"""How the step begins where a PyTorch that serves is here."""
WRONG = ("torch.is_xpu_build", "hw.release_has_code")
WINDOWS = ("wsl.dxg", "umd.ze_init")


def system_steps(
    facts: Facts, profile: Profile, known: MachineTables, options: str, *, wheel: bool
) -> Iterator[WayStep]:
    """Give the system's part: the kernel first, then what setup installs and what no command is known for."""
    setup = with_lists(make_setup(facts, profile, known, goal="run" if wheel else "build"))
    if facts.in_wsl and not sees_devices(facts):
        title = "in Windows, which has the GPU: Intel's current graphics driver, then wsl --update"
        yield WayStep(title=title, mends=WINDOWS)
    kernel = next((task for task in setup.tasks if task.step.id == KERNEL), None)
    if kernel is not None:
        yield WayStep(title=kernel.step.title, commands=_commands(kernel), then=kernel.then, mends=MENDS[KERNEL])
    yield from (_by_hand(note) for note in setup.notes if note.id == KERNEL)
    needless = ENVIRONMENT if wheel and torch_works(facts) else ""
    rest = [task for task in setup.tasks if task is not kernel and task.step.id != needless]
    if rest:
        yield _to_install(rest, "" if wheel else options)
    yield from (_by_hand(note) for note in setup.notes if note.id != KERNEL)


def _to_install(tasks: Sequence[Task], options: str) -> WayStep:
    names = dict.fromkeys(task.step.title for task in tasks if not task.step.id.endswith("repository"))
    then: After = next((task.then for task in tasks if task.then), "")
    mends = tuple(name for task in tasks for name in MENDS.get(task.step.id, ()))
    command = Command(f"xpusetup setup{options} --apply")
    return WayStep(title=", ".join(names), commands=(command,), then=then, mends=mends)


def _by_hand(note: Note) -> WayStep:
    mends = MENDS.get(note.id, ())
    if note.id == "setup.driver":  # packages that are not known here: those of the kernel driver too
        mends += MENDS["setup.kernel-driver"]
    return WayStep(title=f"{note.title}: {note.say}", mends=mends)


def _commands(task: Task) -> tuple[Command, ...]:
    sudo = ("sudo",) if "root" in task.step.needs else ()
    return tuple(Command(line_of((*sudo, *argv))) for argv in task.step.run)


def python_steps(profile: Profile, refusals: Mapping[str, Refusal]) -> Iterator[WayStep]:
    """Give the step to another Python, where that alone speaks against the release."""
    refusal = refusals.get(profile.name)
    if refusal is not None and refusal.why.startswith("it takes Python"):
        takes = SpecifierSet(profile.python)
        newest = next(minor for minor in range(14, 9, -1) if takes.contains(f"3.{minor}.5"))  # for 3.15 wheels lack
        command = Command(f"uv python install 3.{newest}")
        yield WayStep(title=f"another Python: {refusal.why}", commands=(command,), mends=("py.version",))


def step_to_prove(torch: InstalledTorch, what: str, statement: str) -> WayStep:
    """Give the command that shows what the PyTorch that is here sees."""
    command = Command(shlex.join((torch.python, "-c", statement)))
    title = f"{KEPT}: {what} is{torch.place or ' there'}"
    return WayStep(title=title, commands=(command,), mends=("hw.release_has_code",))


def last_steps(profile: Profile, options: str, facts: Facts, *, wheel: bool) -> Iterator[WayStep]:
    """Give the command that brings PyTorch; where nothing can be fetched, by a file from a machine that can."""
    verb, title = "build", f"{profile.name} from source{f' with {profile.toolkit.title}' if profile.toolkit else ''}"
    if wheel and profile.published:
        version = profile.published.wheels[0].partition("==")[2]
        verb, title = "install", f"the published wheels, {version}; no build needed"
        if facts.torch and not facts.torch.version and facts.torch.report and not facts.torch.report.error:
            title = f"the published wheels, {version}, if the PyTorch that is there is not for Intel GPUs"
        if into := _into(facts):
            options += into
            title = f"the published wheels, {version}, in place of that torch; without --into, in a new environment"
    beside, hosts = (profile.git_hosts, ()) if verb == "install" else ((), profile.git_hosts)
    if cut_off(facts, beside) and not find_mirrors(facts, hosts):
        file, form = f"{profile.name}.tar", " --from wheels" if verb == "install" else ""
        create = Command(f"xpusetup bundle create {file} --profile {profile.name}{form}")
        elsewhere = "on a machine with a network: all that is fetched, in one file to copy here"
        yield WayStep(title=elsewhere, commands=(create,), mends=("net.wheels_reach",))
        options = f" --bundle {file}{_into(facts) if verb == 'install' else ''}"
    command = Command(f"xpusetup {verb}{options}", gaps=(WHEREVER,) if options.endswith(f" {WHEREVER}") else ())
    yield WayStep(title=title, commands=(command,), mends=_mends(facts))


def _mends(facts: Facts) -> tuple[str, ...]:
    """Give the checks that find fault until a torch is installed: where none is, it cannot be imported either."""
    return WRONG if facts.torch is None or facts.torch.version else (*WRONG, "torch.import")


WHEREVER = "ENV"
"""Stands for an environment of which a post does not tell where it is."""


def _into(facts: Facts) -> str:
    """Give the option that mends the environment whose torch was made for something else; empty where none is wrong."""
    torch = facts.torch
    wrong = torch is not None and torch.version is not None and not torch.xpu and torch.kind != "interpreter"
    return f" --into {shlex.quote(torch.prefix) if torch.prefix else WHEREVER}" if torch and wrong else ""


# The smallest change that brings a machine to a working PyTorch: wheel, image, build or none, and why.


SIMULATED = Command("xpusetup build sim")
LIST_CARDS = Command("lspci -nn | grep -E 'VGA|Display|accelerators'")
UNSEEN = (
    "if this machine has a card, look for it in this list; if it is not there, check that it sits firmly in its slot,"
    " that its power cables are plugged in, and that the BIOS sees it"
)
LEGACY_PAGE = "https://github.com/intel/compute-runtime/blob/master/documentation/LEGACY_PLATFORMS.md"
LOCALLY = "https://pytorch.org/get-started/locally/"
PROVE = "import torch; print(torch.xpu.get_device_properties(0))"
SEVERAL = 2
OFFICIAL = "x86_64"
"""The only architecture for which XPU wheels are published."""


def make_way(facts: Facts, profiles: Iterable[Profile], known: MachineTables, *, asked: str = "") -> Way:
    """Give the shortest way. `asked` is a release that was named: it is taken unless it is refused firmly."""
    cards = find_cards(facts, known)
    chosen = choose_cards(cards)
    ordered = advised(profiles, asked)
    other = _elsewhere(facts, cards, known) if not chosen else None
    if other is not None:
        return other
    if chosen or facts.in_wsl or (torch_works(facts) and not cards):
        return _with_gpu(facts, ordered, chosen, known, asked)
    return _without_gpu(facts, ordered, known, asked)


OWN_PYTORCH = ("1da3", "19e5")
"""The makers (PCI) whose accelerators have a PyTorch of their own, where which product it is was not told."""


def has_own_pytorch(facts: Facts, known: MachineTables) -> bool:
    """Say whether the accelerator here has a PyTorch of its own (Gaudi, Ascend), and no Intel GPU is beside it."""
    cards = find_cards(facts, known)
    others = any(gpu.vendor in OWN_PYTORCH for gpu in (facts.hardware.gpus if facts.hardware else []))
    return not choose_cards(cards) and (others if not cards else _elsewhere(facts, cards, known) is not None)


def choose_release(facts: Facts, profiles: Iterable[Profile], known: MachineTables) -> tuple[str, str]:
    """Give the release to take where none is named, and why, in a few words."""
    ordered = advised(profiles)
    cards = choose_cards(find_cards(facts, known))
    refusals = {refusal.profile: refusal for refusal in _refusals(facts, ordered, cards, known)}
    best = _best_release(ordered, refusals)
    if best is None:
        return (ordered[0].name, "the newest release") if ordered else ("", "")
    fits = cards and has_code(best, cards)
    return best.name, f"the newest that fits {cards[0].product.title()}" if fits else "the newest release"


def _refusals(
    facts: Facts, ordered: Sequence[Profile], cards: Sequence[Card], known: MachineTables
) -> tuple[Refusal, ...]:
    found = (refuse(profile, facts, cards, known) for profile in ordered)
    return tuple(refusal for refusal in found if refusal is not None)


def _best_release(ordered: Sequence[Profile], refusals: dict[str, Refusal], asked: str = "") -> Profile | None:
    """Take what was asked unless it is refused firmly, then the newest without a refusal, then one that may work."""
    works = [each for each in ordered if each.name not in refusals or not refusals[each.name].firm]
    named = [each for each in works if each.name == asked]
    fits = [each for each in works if each.name not in refusals]
    return next(iter([*named, *fits, *works]), None)


def _with_gpu(
    facts: Facts, ordered: Sequence[Profile], cards: tuple[Card, ...], known: MachineTables, asked: str
) -> Way:
    found = _refusals(facts, ordered, cards, known)
    refusals = {refusal.profile: refusal for refusal in found}
    profile = _best_release(ordered, refusals, asked)
    gpus = tuple(dict.fromkeys(card.product.title() for card in cards))
    if profile is None:
        why = f"no release of PyTorch that is known here was compiled for {gpus[0]}" if gpus else "no release is known"
        return Way(route="none", profile="", why=why, gpus=gpus, refusals=found, collected=known.platforms.collected)
    wheel = profile.published is not None and (facts.system is None or facts.system.machine == OFFICIAL)
    options = f" {profile.name}" if asked else ""
    kept = _kept(facts, ordered, cards, refusals, asked)
    newer = ordered[0].name
    newest = [f"not {newer}: {refusals[newer].why}"] if newer != profile.name and newer in refusals else []
    here = _release_here(kept, ordered) if kept else None
    newest = [] if here and here.name == newer else newest  # it is here, and stays
    steps = (
        *system_steps(facts, profile, known, options, wheel=wheel or kept is not None),
        *(python_steps(profile, refusals) if kept is None else ()),
        *(
            [step_to_prove(kept, f"PyTorch {kept.version} for Intel GPUs", PROVE)]
            if kept
            else last_steps(profile, options, facts, wheel=wheel)
        ),
    )
    return Way(
        route="wheel" if wheel else "build",
        profile=profile.name,
        why="; ".join([*_why(here or profile, refusals.get(asked), cards, facts, kept, wheel=wheel), *newest]),
        source=profile.published.source if wheel and profile.published else "",
        gpus=gpus or ("a GPU of Windows (WSL2)",),
        steps=steps,
        refusals=found,
        kept=kept is not None,
        collected=known.platforms.collected,
    )


def _kept(
    facts: Facts, ordered: Sequence[Profile], cards: Sequence[Card], refusals: dict[str, Refusal], asked: str
) -> InstalledTorch | None:
    """Give the PyTorch that is here, where it is built for Intel GPUs and is what was asked.

    One without code for these stays where no newer release has any: none is replaced by an older one unasked.
    """
    torch = facts.torch
    if torch is None or torch.version is None or not torch.xpu:
        return None
    here = _release_here(torch, ordered)
    name = here.name if here else ""
    newer = ordered[: ordered.index(here)] if here else ordered
    better = any(has_code(each, cards) for each in newer if each.name not in refusals)
    unfit = name in refusals and (refusals[name].firm or (here is not None and better and not has_code(here, cards)))
    other = asked in {each.name for each in ordered} and asked != name
    refused = asked in refusals and refusals[asked].firm
    return None if unfit or (other and not refused) else torch


def _release_here(torch: InstalledTorch, ordered: Sequence[Profile]) -> Profile | None:
    """Give the release that a PyTorch is of."""
    return next((each for each in ordered if (torch.version or "").startswith(f"{release_of(each)}.")), None)


def _why(
    profile: Profile,
    refused: Refusal | None,
    cards: Sequence[Card],
    facts: Facts,
    kept: InstalledTorch | None,
    *,
    wheel: bool,
) -> list[str]:
    words = [f"{refused.profile} is {'refused' if refused.firm else 'not advised'}: {refused.why}"] if refused else []
    words += [f"the pins of {profile.name} are not confirmed, and it is never advised"] if profile.tier == "new" else []
    names = " and ".join(dict.fromkeys(card.product.title() for card in cards)) or "the GPUs of WSL2"
    runs = "holds code for" if has_code(profile, cards) else "compiles its kernels when they are first used on"
    if kept is not None:
        words.append(f"PyTorch {kept.version} is here and {runs} {names}; nothing has to be installed")
    elif wheel and not has_code(profile, cards):
        words.append(f"published wheels of {profile.name} have generic code, which the driver compiles for {names}")
        words += dict.fromkeys(card.platform.undocumented for card in cards if card.platform and not card.documented)
    elif wheel:
        words.append(f"published wheels of {profile.name} are made for {names}; nothing has to be built")
    elif profile.published is None:
        words.append(f"no wheels of {profile.name} are published for Intel GPUs")
    else:
        machine = facts.system.machine if facts.system else "this architecture"
        words.append(f"wheels for Intel GPUs are published for {OFFICIAL}, and this is {machine}")
    return [*words, *filter(None, [say_collectives(profile, cards) if wheel and kept is None else ""])]


def say_collectives(profile: Profile, cards: Sequence[Card]) -> str:
    """Say whether the GPUs of a machine compute together with the published wheels; empty where there is only one."""
    if len(cards) < SEVERAL or profile.published is None:
        return ""
    told = profile.published.collectives
    if told is None:
        return f"whether its wheels let {len(cards)} GPUs compute together (XCCL) nobody saw; verify tells it"
    if told.built:
        return f"its wheels let {len(cards)} GPUs compute together (XCCL, {told.confidence})"
    return f"its wheels have no XCCL ({told.confidence}): {len(cards)} GPUs do not compute together with them"


def _elsewhere(facts: Facts, cards: Sequence[Card], known: MachineTables) -> Way | None:
    for card in cards:
        found = known.platforms.elsewhere_for(card.product.family.id)
        if found is not None:
            kept = facts.torch if facts.torch and found.plugin in facts.torch.distributions else None
            step = WayStep(title=found.title, commands=tuple(map(Command, found.commands)))
            if kept is not None:
                step = step_to_prove(kept, f"{found.plugin} {kept.distributions[found.plugin]}", found.prove)
            return Way(
                route=found.route,
                profile="",
                why=found.why,
                source=found.source,
                gpus=(card.product.title(),),
                steps=(step,),
                kept=kept is not None,
                collected=known.platforms.collected,
            )
    return None


def _without_gpu(facts: Facts, ordered: Sequence[Profile], known: MachineTables, asked: str) -> Way:
    """Say that nothing can run here, and how to build for a machine where it can.

    What takes minutes and ends verified comes before what takes hours and cannot be verified here.
    """
    cards = find_cards(facts, known)
    profile = next((each for each in ordered if each.name == asked), next(iter(ordered), None))
    unseen = [] if other_gpus(facts) or unknown_gpus(facts, known) else [WayStep(title=UNSEEN, commands=(LIST_CARDS,))]
    steps = (*_builds_for_others(facts, profile), *unseen)
    why, source = _why_not(facts, known)
    return Way(
        route="none",
        profile=profile.name if profile else "",
        why=why,
        source=source,
        gpus=tuple(dict.fromkeys(card.product.title() for card in cards)),
        steps=steps,
        collected=known.platforms.collected,
    )


SEE = "see the whole program work on a simulated accelerator, in minutes"
FOR_OTHERS = "build for a machine that has a GPU"


def _builds_for_others(facts: Facts, profile: Profile | None) -> Iterator[WayStep]:
    """Give what can be built where nothing can run; where nothing can be fetched, by files from a machine that can."""
    name = profile.name if profile else ""
    if cut_off(facts) and not find_mirrors(facts, profile.git_hosts if profile else ()):
        for title, each in ((SEE, "sim"), (FOR_OTHERS, name)):
            create = Command(f"xpusetup bundle create {each}.tar --profile {each}")
            elsewhere = f"{title}: the first command on a machine with a network, the second here"
            yield WayStep(title=elsewhere, commands=(create, Command(f"xpusetup build --bundle {each}.tar")))
        return
    yield WayStep(title=SEE, commands=(SIMULATED,))
    for_others = (Command(f"xpusetup setup {name} --for build"), Command(f"xpusetup build {name}"))
    yield WayStep(title=FOR_OTHERS, commands=for_others)


def _why_not(facts: Facts, known: MachineTables) -> tuple[str, str]:
    """Say why nothing here serves, and where that is known from."""
    others = other_gpus(facts)
    if others:
        why = f"{others[0]} is served by PyTorch's own wheels, which this program has no part in: {LOCALLY}"
        return why, LOCALLY
    unknown = unknown_gpus(facts, known)
    if unknown:
        if unknown[0].partition(":")[2].startswith(LEGACY):
            return f"Intel GPU {unknown[0]} is older than Tiger Lake, and no PyTorch has code for it", LEGACY_PAGE
        age = f"this table is of {known.gpus.collected}, and the GPU may be newer"
        return f"Intel GPU {unknown[0]} is not among those that are known here: {age}", LEGACY_PAGE
    if facts.hardware is None or not facts.is_told("hardware.gpus"):
        return "which GPU it is was not told; paste also what `lspci -nnk` prints", ""
    return "no accelerator is on the PCI bus, so nothing can be verified here; what is built here runs elsewhere", ""
