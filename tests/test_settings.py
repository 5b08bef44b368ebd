"""Settings files: merged, the stronger one above the weaker, and refused with every error at once."""

from __future__ import annotations

import pytest

from xpusetup.errors import UsageError
from xpusetup.settings import Settings, merge_settings

SITE, PROJECT = "/etc/xpusetup/site.toml", "xpusetup.toml"


def message_of(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        merge_settings([(SITE, text)])
    return caught.value.message


def test_none() -> None:
    settings = merge_settings([])
    assert settings == Settings()
    assert (settings.compilers.cc, settings.compilers.cxx, settings.jobs) == ("gcc", "g++", None)


def test_the_stronger_file_rules_value_by_value() -> None:
    site = 'root = "/scratch"\njobs = 4\n[toolkit]\nprovider = "modules"\nprelude = ["module load oneapi"]\n'
    project = 'jobs = 8\n[toolkit]\nprovider = "environment"\n'
    settings = merge_settings([(SITE, site), (PROJECT, project)])
    assert (settings.root, settings.jobs) == ("/scratch", 8)
    assert settings.toolkit.provider == "environment"
    assert settings.toolkit.prelude == ["module load oneapi"]
    assert settings.origins == {
        "root": SITE,
        "jobs": PROJECT,
        "toolkit.provider": PROJECT,
        "toolkit.prelude": SITE,
    }


def test_an_empty_value_rules_too() -> None:
    settings = merge_settings([(SITE, 'profile = "sim"'), (PROJECT, 'profile = ""')])
    assert settings.profile == ""
    assert settings.origins == {"profile": PROJECT}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs = 0", "jobs: Input should be greater than or equal to 1 (here: 0)"),
        ('jobs = "4"', "jobs: Input should be a valid integer (here: '4')"),
        ('profil = "sim"', "profil: unknown key; did you mean 'profile'?"),
        ("toolkit.provder = 1", "toolkit.provder: unknown key; did you mean 'provider'?"),
        (
            'toolkit.provider = "spack"',
            "toolkit.provider: Input should be 'setvars', 'scripts', 'modules' or 'environment' (here: 'spack')",
        ),
        (
            'compilers.cxx = "--version"',
            "compilers.cxx: must not begin with '-': a program would read it as an option (here: '--version')",
        ),
        ('toolkit.prelude = ["a\\nb"]', "toolkit.prelude.0: must be one line of printable text (here: 'a\\nb')"),
        (
            "origins.root = 'x'",
            "origins: unknown key; known: build_dir, compilers, jobs, prefix, profile, root, toolkit",
        ),
        (
            "toolkit = 1",
            "toolkit: Input should be a valid dictionary or instance of ToolkitSettings (here: 1)",
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    assert message_of(text) == f"{SITE}: {message}"


def test_every_error_at_once() -> None:
    assert len(message_of('jobs = 0\nx = 1\n[toolkit]\nroot = "a\\tb"').splitlines()) == 3


def test_not_toml() -> None:
    assert message_of("jobs =").startswith(f"{SITE} is not TOML: ")


def test_the_second_file_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        merge_settings([(SITE, "jobs = 1"), (PROJECT, "jobs = -1")])
    assert caught.value.message.startswith(f"{PROJECT}: jobs: ")
    assert caught.value.fix == f"mend {PROJECT}"
    assert caught.value.code == 2
