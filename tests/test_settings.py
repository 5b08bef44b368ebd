"""Settings files: merged, the stronger one above the weaker, and refused with every error at once."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.base.values import parse_toml
from xpusetup.config.settings import FIND_MODULE, Settings, SettingsFile, make_network, merge_settings

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


NETWORK = """
[network]
pip_index = "https://m/simple"
pip_extra_index = ["https://m/a", "https://m/b"]
find_links = ["/sw/one", "/sw/two"]
ca_bundle = "/etc/ca.pem"
[network.git]
"https://github.com/" = "https://m/github/"
"https://gitlab.com/" = "https://m/gitlab/"
"""
CA = dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"), "/etc/ca.pem")
PACKAGES = {
    "PIP_INDEX_URL": "https://m/simple",
    "UV_DEFAULT_INDEX": "https://m/simple",
    "PIP_EXTRA_INDEX_URL": "https://m/a https://m/b",
    "UV_INDEX": "https://m/a https://m/b",
    "PIP_FIND_LINKS": "/sw/one /sw/two",
    "UV_FIND_LINKS": "/sw/one,/sw/two",
}


def network(text: str, given: dict[str, str]) -> dict[str, str]:
    return make_network(merge_settings([(SITE, text)]).network, given)


def test_the_network_as_variables_of_git_pip_and_uv() -> None:
    assert network(NETWORK, {}) == {
        **PACKAGES,
        **CA,
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "url.https://m/github/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "GIT_CONFIG_KEY_1": "url.https://m/gitlab/.insteadOf",
        "GIT_CONFIG_VALUE_1": "https://gitlab.com/",
    }
    assert network("", {"PIP_INDEX_URL": "https://own"}) == {}


def test_stores_and_fallbacks_are_settings_of_git() -> None:
    text = 'network.git_store = "/sw/git"\nnetwork.git_fallback = {"https://github.com/" = "https://m/"}'
    assert network(text, {"GIT_CONFIG_COUNT": "1"}) == {
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_1": "xpusetup.https://m/.fallbackOf",
        "GIT_CONFIG_VALUE_1": "https://github.com/",
        "GIT_CONFIG_KEY_2": "xpusetup.store",
        "GIT_CONFIG_VALUE_2": "/sw/git",
    }


def test_a_callers_variable_rules_over_the_network_of_the_site() -> None:
    given = {"PIP_INDEX_URL": "https://own", "SSL_CERT_FILE": "/own.pem", "GIT_CONFIG_COUNT": "3", "PIP_CERT": ""}
    found = network(NETWORK, given)
    assert not {"PIP_INDEX_URL", "SSL_CERT_FILE"} & set(found)
    assert found["UV_DEFAULT_INDEX"] == "https://m/simple"
    assert found["PIP_CERT"] == "/etc/ca.pem"
    assert found["GIT_CONFIG_COUNT"] == "5"
    assert found["GIT_CONFIG_VALUE_3"] == "https://github.com/"
    assert found["GIT_CONFIG_KEY_4"] == "url.https://m/gitlab/.insteadOf"


@pytest.mark.parametrize(
    "text",
    [
        'network.pip_index = "-r x"',
        'network.find_links = ["/with space"]',
        'network.git = {"" = "https://m"}',
        "network.git = 1",
        'network.proxy = "x"',
    ],
)
def test_a_network_that_means_nothing(text: str) -> None:
    assert message_of(text).startswith(f"{SITE}:1: network")


def test_an_empty_value_rules_too() -> None:
    settings = merge_settings([(SITE, 'profile = "sim"'), (PROJECT, 'profile = ""')])
    assert settings.profile == ""
    assert settings.origins == {"profile": PROJECT}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs = 0", "jobs: must be greater than or equal to 1 (here: 0)"),
        ('jobs = "4"', "jobs: must be a whole number (here: '4')"),
        ('profil = "sim"', "profil: unknown key; did you mean 'profile'?"),
        ("toolkit.provder = 1", "toolkit.provder: unknown key; did you mean 'provider'?"),
        (
            'toolkit.provider = "spack"',
            "toolkit.provider: must be 'setvars', 'scripts', 'modules' or 'environment' (here: 'spack')",
        ),
        (
            'compilers.cxx = "--version"',
            "compilers.cxx: must not begin with '-': a program would read it as an option (here: '--version')",
        ),
        ('toolkit.prelude = ["a\\nb"]', "toolkit.prelude.0: must be one line of printable text (here: 'a\\nb')"),
        (
            "origins.root = 'x'",
            "origins: unknown key; known: " + ", ".join(sorted(each.name for each in fields(SettingsFile))),
        ),
        (
            'scheduler.gres = "gpu 1"',
            "scheduler.gres: must be one word of letters, digits and _ . : , / + @ - (here: 'gpu 1')",
        ),
        (
            'scheduler.time = "forever"',
            "scheduler.time: must be a time as Slurm has it: 12:00:00, 2-00:00:00, or minutes (here: 'forever')",
        ),
        ('root = "shared"', "root: must be a whole path, as /shared/xpusetup (here: 'shared')"),
        (
            "toolkit = 1",
            "toolkit: must be a table (here: 1)",
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    assert message_of(text) == f"{SITE}:1: {message}"


def test_every_error_at_once() -> None:
    assert len(message_of('jobs = 0\nx = 1\n[toolkit]\nroot = "a\\tb"').splitlines()) == 3


def test_not_toml() -> None:
    assert message_of("jobs =").startswith(f"{SITE} is not TOML: ")


def test_what_lacks_quotes() -> None:
    with pytest.raises(UsageError) as caught:
        merge_settings([(SITE, "jobs = 4\nroot = /shared # all nodes\n")])
    assert caught.value.fix == 'put it in quotes: root = "/shared"'


def test_the_page_has_every_key() -> None:
    """`qos` and the toolkit's `name` were on no page that says it has every key."""
    page = (Path(__file__).parents[1] / "docs/site.md").read_text()
    block = "\n".join(line[4:] for line in page.splitlines() if line.startswith("    "))
    written = parse_toml(block)
    tables: dict[str, Any] = {
        each.name: type(each.default) for each in fields(SettingsFile) if is_dataclass(each.default)
    }
    assert {*written} == {each.name for each in fields(SettingsFile)}
    for name, model in tables.items():
        assert {*written[name]} == {each.name for each in fields(model)}


def test_the_second_file_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        merge_settings([(SITE, "jobs = 1"), (PROJECT, "jobs = -1")])
    assert caught.value.message.startswith(f"{PROJECT}:1: jobs: ")
    assert caught.value.fix == f"correct {PROJECT}"
    assert caught.value.code == 2


def test_modules_are_one_word_in_each_table() -> None:
    """`modules` was a provider, a list, and `requires`: three words for what `module load` loads."""
    old, new = (
        merge_settings([("site.toml", f'[module]\n{word} = ["gcc/13.2"]\n[toolkit]\nmodules = ["intel/2026"]\n')])
        for word in ("requires", "modules")
    )
    assert old.module.modules == new.module.modules == ["gcc/13.2"]
    assert new.toolkit.prelude[-1] == "module load intel/2026"
    assert new.toolkit.provider == "modules"


def test_modules_come_after_the_prelude_that_is_given() -> None:
    text = '[toolkit]\nprelude = ["source /sw/init.sh"]\nmodules = ["a", "b"]\n'
    assert merge_settings([("site.toml", text)]).toolkit.prelude == [
        "source /sw/init.sh",
        FIND_MODULE,
        "module load a b",
    ]


def test_a_prelude_alone_is_used() -> None:
    found = merge_settings([("site.toml", '[toolkit]\nprelude = ["source /sw/init.sh"]\n')])
    assert (found.toolkit.provider, found.toolkit.prelude) == ("modules", ["source /sw/init.sh"])


@pytest.mark.parametrize("line", ['prelude = ["true"]', 'modules = ["intel/2026"]'])
def test_what_would_switch_nothing_on_is_refused(line: str) -> None:
    """But a user's own file may name another provider than that of the site."""
    provider = 'provider = "scripts"\n'
    with pytest.raises(UsageError, match="is not used: provider is scripts"):
        merge_settings([("site.toml", f"[toolkit]\n{provider}{line}\n")])
    both = [("site.toml", f"[toolkit]\n{line}\n"), ("own.toml", f"[toolkit]\n{provider}")]
    assert merge_settings(both).toolkit.provider == "scripts"
