"""build: from a profile to steps, and to what they make."""

from xpusetup.cli import options


@options.command(
    "build",
    "xpusetup build 2.14",
    "xpusetup build sim --jobs 4 --until simxpu.build",
    takes=options.ProfileName,
    common="--jobs --source --only",
)
def build(
    *,
    where: options.BuildWhere,
    request: options.BuildRequest,
    jobs: options.Jobs = None,
    launcher: options.Launcher = "auto",
    bundle: options.Bundle = "",
    events: options.Events = "",
    told: options.LongOutput,
) -> options.Answer:
    """Build PyTorch from source, and verify it. Run it again to go on where it stopped."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import build as make

    with told.view() as view:
        how = BuildOptions(jobs=jobs or 0, launcher=launcher, bundle=bundle, events=events, observe=view.observe)
        return make(where.find(may_make=True), request.read(), how)
