"""Options that several commands share, one wording each, and what the shell offers for them."""

from __future__ import annotations

from typing import Annotated

import typer

from xpusetup.cli import complete

# Options that several commands share: one wording each.


Profile = Annotated[
    str,
    typer.Option(
        "--profile", "-p", help="A profile's name or file.", metavar="NAME|FILE", autocompletion=complete.profiles
    ),
]
Root = Annotated[str, typer.Option("--root", help="The folder of this build.", metavar="DIR", envvar="")]
Name = Annotated[
    str, typer.Option("--name", help="Another name for the folder of this build.", autocompletion=complete.names)
]
BuildDir = Annotated[str, typer.Option("--build-dir", help="Where sources are compiled (scratch).", metavar="DIR")]
Prefix = Annotated[str, typer.Option("--prefix", help="Where the environment goes.", metavar="DIR")]
Into = Annotated[str, typer.Option("--into", help="An environment that is there: venv, conda.", metavar="ENV")]
IntoNew = Annotated[str, typer.Option("--into", help="A venv or conda prefix, or a new folder for one.", metavar="ENV")]
Python = Annotated[str, typer.Option("--python", help="Version or path of the interpreter.", metavar="VERSION")]
Rev = Annotated[
    list[str] | None,
    typer.Option(
        "--rev",
        help="Another revision: tag, branch, commit, pr/N.",
        metavar="COMPONENT=REF",
        autocompletion=complete.assigned,
    ),
]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        "--profile", "-p", help="A profile's name or file.", metavar="NAME|FILE", autocompletion=complete.profiles
    ),
]
Pythons = Annotated[list[str] | None, typer.Option("--python", help="Version of the interpreter.", metavar="VERSION")]
Archs = Annotated[
    list[str] | None,
    typer.Option("--arch", help="Device targets to compile for.", metavar="LIST", autocompletion=complete.targets),
]
Out = Annotated[str, typer.Option("--out", "-o", help="The file to write.", metavar="FILE")]
Bundle = Annotated[
    str,
    typer.Option("--bundle", help="A bundle that stands for the network.", metavar="FILE"),
]
Goal = Annotated[
    str,
    typer.Option("--for", help="What is wanted.", metavar="build|run", autocompletion=complete.one_of("build", "run")),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress; of work that went well one line.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", help="This component alone.", metavar="COMPONENT", autocompletion=complete.components),
]
Until = Annotated[
    str, typer.Option("--until", help="Stop after this step.", metavar="STEP", autocompletion=complete.steps)
]
Arch = Annotated[
    str,
    typer.Option("--arch", help="Device targets to compile for.", metavar="auto|LIST", autocompletion=complete.targets),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="A build variable.", metavar="COMPONENT.KEY=VALUE", autocompletion=complete.variables),
]
Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        help="A checkout of your own; it is never reset.",
        metavar="COMPONENT=DIR[:editable]",
        autocompletion=complete.assigned,
    ),
]
Patch = Annotated[
    list[str] | None,
    typer.Option(
        "--patch", help="A patch for a fetched source.", metavar="COMPONENT=FILE", autocompletion=complete.assigned
    ),
]
Target = Annotated[str, typer.Option("--target", help="One ninja target alone, and no wheel.", metavar="TARGET")]
Launcher = Annotated[
    str,
    typer.Option(
        "--launcher",
        help="A compiler cache.",
        metavar="auto|ccache|sccache|none",
        autocompletion=complete.one_of("auto", "ccache", "sccache", "none"),
    ),
]
Events = Annotated[str, typer.Option("--events", help="One JSON line for each event.", metavar="FILE")]
Verify = Annotated[
    str,
    typer.Option(
        "--verify",
        help="Verify at the end.",
        metavar="auto|require|off",
        autocompletion=complete.one_of("auto", "require", "off"),
    ),
]
Hashes = Annotated[bool, typer.Option("--require-hashes", help="Take nothing without a published hash.")]
Device = Annotated[str, typer.Option("--device", help="Another device; auto: what is here.", metavar="auto|NAME")]
Level = Annotated[
    str,
    typer.Option(
        "--level",
        help="How much to check.",
        metavar="quick|smoke|full",
        autocompletion=complete.one_of("quick", "smoke", "full"),
    ),
]
OnlyChecks = Annotated[list[str] | None, typer.Option("--only", help="This check or area alone.", metavar="ID")]
SkipChecks = Annotated[list[str] | None, typer.Option("--skip", help="Not this check or area.", metavar="ID")]
ListChecks = Annotated[bool, typer.Option("--list", help="Say which checks there are.")]
Patience = Annotated[float, typer.Option("--patience", help="Seconds that a check may take.", metavar="S", min=1)]
Junit = Annotated[str, typer.Option("--junit", help="Write the results as JUnit XML too.", metavar="FILE")]
OutFolder = Annotated[str, typer.Option("--out", "-o", help="The folder to write.", metavar="DIR")]
ImageOs = Annotated[str, typer.Option("--os", help="The image's system.", metavar="SYSTEM")]
ImageTarget = Annotated[str, typer.Option("--target", help="To use it, or to compile.", metavar="runtime|devel")]
From = Annotated[str, typer.Option("--from", help="Compiled, or as published.", metavar="source|wheels")]
ImageDialect = Annotated[str, typer.Option("--dialect", help="For which engine.", metavar="buildkit|portable")]
ImageBase = Annotated[str, typer.Option("--base", help="Another base image of that system.", metavar="IMAGE")]
ImageDriver = Annotated[str, typer.Option("--driver", help="Intel's line of packages.", metavar="client|data-center")]
ImagePin = Annotated[list[str] | None, typer.Option("--pin", help="A package exactly.", metavar="PACKAGE=VERSION")]
