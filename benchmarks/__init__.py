"""How fast and how small the program is, beside what it stands for; `make bench`, `make bench ONLY=name`.

Every row is a ratio of two medians, measured in one run and in turns, so that a busy machine slows both alike, and
every goal is a limit on that ratio: `ok` means ratio <= goal. `n` says how often each side was measured.

    help            `xpusetup --help` beside the `--help` of a plain Typer program with the same commands, options and
                    texts and empty bodies, both started by the same kind of script.
    startup_...     processor time of `--help`, of a build that is done, of its `status` and `plan`, and of
                    `doctor --facts`, beside the `--help` of that plain program.
    explain_speed   `xpusetup explain`, its start included, on the 100 MB log of a build that was killed in the end,
                    beside 50 MB a second.
    explain_reading the same beside a loop of Python over the lines that looks for one word.
    explain_memory  its peak of resident memory, beside 64 MiB; explain_line_memory: on one line of 100 MB.
    noop            `xpusetup build` with nothing changed, beside making the wheel again from a clean tree, as a fresh
                    checkout and a CI do it: `rm -rf build && python setup.py bdist_wheel`, with the variables of the
                    profile, a ready environment and a compiler for each processor. That flatters the reference: what
                    our command also looks at (environment, torch, installed files, verification) is not in it.
    noop_kept       the same beside a second bdist_wheel that finds build/ and compiles nothing: the fairest rival of
                    someone who stays in one tree; it is no more than "not slower".
    noop_time       the same beside 300 ms.
    runner_cpu      processor time of the xpusetup process itself beside that of the whole build, itself included.
    runner_memory   its peak of resident memory while it builds, beside 60 MiB.
    lanes           a whole build in which a slow fetch fits behind a slow build, by the clock and from the start of the
                    program on, beside the longest chain of its plan: steps that come after each other, as long as each
                    took in that very build. One step after the other, it would be half as much again. The stand-ins
                    sleep; git, pip and gcc are real; each build begins with the fetches, in a ready environment.

The short form builds simxpu (half a minute of compiling), so its goal for noop is a fiftieth. `ONLY=vision` is the
long form, with the goal of a five-hundredth: rows vision_..., on the real torchvision 0.21.0. One of its clean recipes
takes minutes: it is measured once, as is the build, and their rows say so.
"""
