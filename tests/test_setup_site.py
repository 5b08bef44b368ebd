"""setup site: words of a place become its site file; what is wrong is told before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands import site
from xpusetup.commands.site import KEYS, list_questions, parse_words, render_site, write_site
from xpusetup.config.settings import FIND_MODULE, merge_settings

WORDS = [
    "scheduler=slurm",
    "modules=intel-oneapi/2026.1, gcc/13.2",
    "account=proj",
    "gpu_partition=gpu",
    "mirror=https://mirror.example/github/",
    "prefix=/sw/pytorch",
    "gres=",
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_says_what_was_given(home: Path) -> None:
    told = write_site(WORDS, "").data
    assert told.file == str(home / "xpusetup/site.toml")
    settings = merge_settings([(told.file, Path(told.file).read_text())])
    assert (settings.prefix, settings.scheduler.account, settings.scheduler.gpu_partition) == (
        "/sw/pytorch",
        "proj",
        "gpu",
    )
    assert settings.scheduler.gres == "gpu:1"  # left out, as Enter leaves it out
    assert settings.network.git == {"https://github.com/": "https://mirror.example/github/"}
    assert settings.toolkit.provider == "modules"
    assert settings.toolkit.prelude == [FIND_MODULE, "module load intel-oneapi/2026.1 gcc/13.2"]


def test_every_word_is_one_of_the_file(home: Path) -> None:
    """Each word that is taken stands in a table that a site file has."""
    values = {"gres": "gpu:2", "scratch": "$TMPDIR"}
    given = {name: values.get(name, "/a" if name in {"root", "prefix", "toolkit", "ca"} else "x1") for name in KEYS}
    settings = merge_settings([("site.toml", render_site(given))])
    assert len(settings.origins) == len(KEYS)
    assert home.exists()


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (["acount=x"], "setup site knows no 'acount'; did you mean account=...?", "use: modules=VALUE"),
        (["scheduler=pbs"], "jobs are written for Slurm, and not for pbs", "emit shell"),
        (["scheduler=none", "account=x"], "account is for a scheduler, and scheduler=none", "leave account= out"),
        (["account=two words"], "account cannot be 'two words'", "give one word of letters, digits and"),
        (["gres=gpu pvc"], "gres cannot be 'gpu pvc'", "give one word"),
        (["root=rel/path"], "root cannot be 'rel/path'", "give a whole path"),
        (["partition"], "partition needs a value", "partition=VALUE"),
    ],
)
def test_what_cannot_be(words: list[str], message: str, fix: str, home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_site(words, "site.toml")
    assert message in caught.value.message
    assert fix in caught.value.fix
    assert not (home / "site.toml").exists()


def test_a_file_that_is_there_stays(home: Path) -> None:
    (home / "mine.toml").write_text("jobs = 4\n")
    with pytest.raises(UsageError, match="is there"):
        write_site(["account=x"], "mine.toml")
    assert (home / "mine.toml").read_text() == "jobs = 4\n"
    with pytest.raises(UsageError) as caught:
        write_site(["account=x", "gres="], "mine.toml")
    assert caught.value.fix == "edit it, or write another one: xpusetup setup site account=x --out FILE"
    with pytest.raises(UsageError, match="did you mean root"):
        write_site(["rooot=/x"], "mine.toml")


def test_the_file_lists_what_may_stand_in_it(home: Path) -> None:
    told = write_site(["root=/x"], "").data
    assert home.exists()
    assert "# [scheduler]: account, qos, partition" in told.text
    assert "docs/" not in told.text


def test_questions_of_a_scheduler_come_where_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in ("/usr/bin/sbatch", None):
        monkeypatch.setattr(site, "which", lambda _name, there=there: there)
        assert ("account" in dict(list_questions())) == bool(there)
        assert "modules" in dict(list_questions())


def test_words_without_a_value_are_left_out() -> None:
    assert parse_words(["account=", "index=https://a.example/simple?x=1"]) == {"index": "https://a.example/simple?x=1"}


def test_without_root_the_file_of_all_users_is_not_all_that_is_advised(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tutorial named /etc alone, and the refusal another place for the same file."""
    (tmp_path / "etc").write_text("no folder")
    place = str(tmp_path / "etc/site.toml")
    monkeypatch.setattr(site, "FOR_ALL", place)
    with pytest.raises(NotReadyError, match="cannot write") as caught:
        write_site(["root=/x y"], place)
    assert caught.value.fix.endswith("xpusetup setup site 'root=/x y'")
    assert write_site(["root=/x y"], "").data.file == str(home / "xpusetup/site.toml")
