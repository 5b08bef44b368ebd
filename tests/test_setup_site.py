"""setup site: words of a place become its site file; what is wrong is told before anything is written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import pytest

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.cli.setup import setup_site
from xpusetup.commands import site
from xpusetup.commands.site import KEYS, list_questions, parse_words, render_site, write_site
from xpusetup.config.settings import FIND_MODULE, merge_settings

if TYPE_CHECKING:
    from in_process import Program

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
    assert settings.scheduler.gres is None  # left out, as Enter leaves it out
    assert settings.network.git == {"https://github.com/": "https://mirror.example/github/"}
    assert settings.toolkit.provider == "modules"
    assert settings.toolkit.prelude == [FIND_MODULE, "module load intel-oneapi/2026.1 gcc/13.2"]


def test_every_word_is_one_of_the_file(home: Path) -> None:
    """Each word that is taken stands in a table that a site file has."""
    values = {"gres": "gpu:2", "scratch": "$TMPDIR", "index": "https://m.example"}
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
        (["account=two words"], "account must be one word of letters, digits and", "account=VALUE"),
        (["gres=gpu pvc"], "gres must be one word", "gres=VALUE"),
        (["root=rel/path"], "root must be a whole path", "root=VALUE"),
        (["time=forever"], "time must be a time as Slurm has it", "time=VALUE"),
        (["nodes=two"], "nodes must be a whole number", "nodes=VALUE"),
        (["index=https://u:pw@m.example/simple"], "index must hold no user, password or token", "index=VALUE"),
        (["partition"], "partition needs a value", "partition=VALUE"),
    ],
)
def test_what_cannot_be(words: list[str], message: str, fix: str, home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_site(words, "site.toml")
    assert message in caught.value.message
    assert "pw" not in caught.value.message
    assert fix in caught.value.fix
    assert not (home / "site.toml").exists()


def test_every_key_of_the_file_is_a_word(home: Path) -> None:
    """`qos=` was unknown, and the file has it; `pip_index` is what the file calls `index`."""
    words = ["qos=high", "time=1-00:00:00", "nodes=4", "prelude=source /sw/a,b.sh", "toolkit.provider=modules"]
    told = write_site([*words, "pip_index=https://m.example/simple", "stall_seconds=2.5", "jobs=8"], "").data
    settings = merge_settings([(told.file, told.text)])
    assert (settings.scheduler.qos, settings.scheduler.time, settings.scheduler.nodes) == ("high", "1-00:00:00", 4)
    assert settings.toolkit.prelude == ["source /sw/a,b.sh"]
    assert (settings.network.pip_index, settings.jobs) == ("https://m.example/simple", 8)
    assert home.exists()


def test_the_help_names_every_word() -> None:
    told = " ".join(str(get_type_hints(setup_site, include_extras=True)["words"].__metadata__[0].help).split())
    assert all(f" {name}," in told for name in KEYS)


def test_what_a_file_says_stays(home: Path) -> None:
    """A file that was written with Enter alone refused every later word."""
    mine = home / "mine.toml"
    mine.write_text('# ours\njobs = 4 # few\n\n[scheduler]\naccount = "old" # of 2024\n')
    write_site(["account=x", "root=/shared", "gres="], "mine.toml")
    text = mine.read_text()
    assert "# ours\njobs = 4 # few\n" in text
    assert 'account = "x" # of 2024' in text
    settings = merge_settings([("mine.toml", text)])
    assert (settings.root, settings.jobs, settings.scheduler.gres) == ("/shared", 4, None)
    with pytest.raises(UsageError, match="did you mean root"):
        write_site(["rooot=/x"], "mine.toml")
    mine.write_text("jobs = many\n")
    with pytest.raises(UsageError, match=r"mine\.toml is not TOML"):
        write_site(["root=/x"], "mine.toml")


def test_enter_alone_then_a_word(home: Path) -> None:
    write_site([], "")
    told = write_site(["root=/shared"], "").data
    assert told.text.startswith("# What this place has")
    assert merge_settings([(told.file, told.text)]).root == "/shared"
    assert home.exists()


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


@pytest.mark.usefixtures("home")
def test_what_the_questions_begin_with_fits_a_terminal(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    class Typed(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdin", Typed(""))
    said = program("setup site").out
    assert "Enter leaves a thing out." in " ".join(said.split())
    assert [line for line in said.splitlines() if len(line) > 80 and len(line.split()) > 1] == []
