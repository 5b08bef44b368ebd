"""Whatever a value holds, each language that we write takes it as text: the same text, and nothing else."""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from data.profiles import device, shipped, small
from data.targets import NEW
from dockerfile_reader import INSTRUCTIONS, read_dockerfile, read_labels
from fuzzing import examples
from nasty import any_text, encodable, one_line
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Request, Step
from xpusetup.base.text import (
    apptainer_text,
    bash_sentence,
    comment,
    docker_string,
    markdown_text,
    render_word,
    workflow_command,
    yaml_string,
)
from xpusetup.config.request import parse_arch
from xpusetup.emit.dockerfile import FILE, render_apptainer, render_dockerfile
from xpusetup.emit.github import WORKFLOW, Runners, render_github
from xpusetup.emit.image import make_image
from xpusetup.emit.image_system import Described, ImageOrder, image_table
from xpusetup.emit.matrix import Cell, make_places
from xpusetup.emit.script import render_script
from xpusetup.machine.tables import target_table
from xpusetup.plan.steps import make_plan
from xpusetup.recommend.machine import known

if TYPE_CHECKING:
    from xpusetup.emit.image import DecidedImage

ABOUT = Described(known=known(), images=image_table(), device=device("xpu"))
IMAGE = make_image(shipped("torch-2.14"), Request(), ImageOrder(), ABOUT)


def with_texts(text: str) -> DecidedImage:
    """Give an image whose profile says a text wherever one is shown, past the schema."""
    parts = [replace(part, version=text) if part.kind != "skip" else part for part in IMAGE.profile.components]
    profile = replace(IMAGE.profile, summary=text, components=parts)
    return replace(IMAGE, profile=profile)


@examples(50)
@given(any_text)
def test_a_comment_is_one_line_without_escapes(text: str) -> None:
    assert comment(text).isprintable()


@examples(50)
@given(encodable)
def test_bash_reads_back_words_and_sentences(text: str) -> None:
    assert shlex.split(render_word(text)) == [text.replace("@ROOT@", "$ROOT")]
    assert shlex.split(bash_sentence(text)) == [text]


@examples(50)
@given(any_text)
def test_yaml_reads_back_a_text(text: str) -> None:
    read = YAML(typ="safe").load(f"- cell: {yaml_string(text)}\n  next: 1\n")
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read[0]["next"] == 1
    assert read[0]["cell"].encode("utf-16", "surrogatepass").decode("utf-16", "replace") == whole


@examples(50)
@given(any_text)
def test_a_dockerfile_reads_back_a_label(text: str) -> None:
    assert read_labels(f"a.b={docker_string(text)}") == {"a.b": comment(text)}


@examples(60)
@given(any_text)
def test_no_text_of_a_profile_changes_what_a_dockerfile_does(text: str) -> None:
    """As `summary = "syntax=docker.io/evil/frontend"` once did."""
    before = read_dockerfile(render_dockerfile(IMAGE)["Dockerfile"])
    after = read_dockerfile(render_dockerfile(with_texts(text))["Dockerfile"])
    assert after.directives == before.directives == ()
    assert after.documents == before.documents == ()
    assert {word for word, _rest in after.instructions} <= INSTRUCTIONS
    labels = next(rest for word, rest in after.instructions if word == "LABEL")
    if text:
        assert read_labels(labels)["org.opencontainers.image.description"] == comment(text)
    assert [each for each in after.instructions if each[0] != "LABEL"] == [
        each for each in before.instructions if each[0] != "LABEL"
    ]


@pytest.mark.parametrize("text", ["{{ X }}", "{{{ X }}}", "{{{{ X }}}}", "%files"])
def test_a_text_is_no_template_of_apptainer(text: str) -> None:
    assert "{{" not in apptainer_text(text)
    assert "}}" not in apptainer_text(text)
    assert not apptainer_text(text).startswith("%")


@examples(60)
@given(any_text)
def test_no_text_of_a_profile_begins_a_section_of_a_definition(text: str) -> None:
    def sections(image: DecidedImage) -> list[str]:
        lines = render_apptainer(image)[FILE].split("\n")
        return [line for line in lines if line.lstrip().startswith("%")]

    def templates(image: DecidedImage) -> set[str]:
        return set(re.findall(r"{{[^\n]*?}}", render_apptainer(image)[FILE]))

    assert sections(with_texts(text)) == sections(IMAGE)
    assert templates(with_texts(text)) == templates(IMAGE)
    assert "{{" not in apptainer_text(text)


def test_a_dockerfile_reader_sees_a_directive() -> None:
    read = read_dockerfile("# syntax=docker.io/evil/frontend\n# Written\nRUN a \\\n  # b\n  c <<END\n")
    assert read.directives == (("syntax", "docker.io/evil/frontend"),)
    assert read.instructions == (("RUN", "a   c <<END"),)
    assert read.documents == ("END",)


def workflow(again: tuple[str, ...], cxx: str, cell: str) -> Any:
    target = replace(NEW, cxx=cxx)
    plan = make_plan(shipped("main"), Request(), target, Layout())
    made = Cell(name=cell, profile=shipped("main"), plan=plan)
    return YAML(typ="safe").load(io.StringIO(render_github([made], Runners(label="own", again=again))[WORKFLOW]))


@examples(15)
@given(encodable, encodable)
def test_no_word_changes_what_a_workflow_does(word: str, name: str) -> None:
    before, after = workflow(("xpusetup", "x"), "g++", "main"), workflow(("xpusetup", word), word, name)
    steps = [job["jobs"]["build"]["steps"] for job in (before, after)]
    assert [step["name"] for step in steps[0][2:]] == [step["name"] for step in steps[1][2:]]
    runs = [step["run"] for step in steps[1] if "run" in step]
    assert "".join(runs).count("${{") == "".join(step["run"] for step in steps[0] if "run" in step).count("${{")
    assert after["jobs"]["build"]["strategy"]["matrix"]["include"][0]["cell"] == name


@examples(50)
@given(encodable)
def test_a_word_of_a_workflow_is_one_line_and_no_expression(text: str) -> None:
    found = workflow_command([text])
    assert found.isprintable()
    assert "${{" not in found
    if text.isprintable():
        assert shlex.split(found) == [text]


@examples(50)
@given(any_text)
def test_markdown_takes_no_markup_of_a_text(text: str) -> None:
    found = markdown_text(text)
    assert found.isprintable()
    assert re.sub(r"\\([\\`|<\[*])", r"\1", found) == comment(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`|<\[*]", found)


BAD_TARGETS = ("]] .. tostring(os.execute('touch x')) .. [[", "$(id)", "a b", "a;b", "../x", "-pvc", "x" * 61, "é")


@pytest.mark.parametrize("target", BAD_TARGETS)
def test_a_device_target_is_a_plain_word(target: str) -> None:
    more = f'\n[arch]\ndefault = ["{target}"]\nvariable = "A"\nsource = "made up"\nconfidence = "confirmed"\n'
    with pytest.raises(UsageError, match=r"arch\.default\.0"):
        small(more=more)
    with pytest.raises(UsageError):
        parse_arch(target.replace(",", ""))


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('summary = "one component"', 'summary = "a\\nb"', "summary"),
        ('summary = "one component"', 'summary = "\\u001b[31m"', "summary"),
        ('summary = "one component"', 'summary = "\\u202e"', "summary"),
        ('summary = "one component"', f'summary = "{"x" * 201}"', "summary"),
        ('name = "small"', 'name = "a b"', "name"),
        ('name = "small"', f'name = "{"x" * 101}"', "name"),
        ('version = "1.0"', 'version = "1.0]]"', "components.first.version"),
        ('version = "1.0"', f'version = "{"9" * 10_000}"', "components.first.version"),
        ('python = ">=3.10"', f'python = ">=3.{"1" * 10_000}"', "python"),
        ('frontend = "build"', 'frontend = "build"\ntag = "a b"', "components.first.tag"),
        ('frontend = "build"', 'frontend = "build"\ntag = "$(id)"', "components.first.tag"),
        ('frontend = "build"', 'frontend = "build"\nref = "a/../b"', "components.first.ref"),
        ('frontend = "build"', 'frontend = "build"\nenvironment = {"A;B" = "x"}', "components.first.environment"),
        ("https://example.org/first", "package:../../etc", "components.first.repo"),
        ("https://example.org/first", "package:a b", "components.first.repo"),
        ('python = ">=3.10"', 'python = ">=3.10"\nmemory_per_job_gib = inf', "memory_per_job_gib"),
        ('python = ">=3.10"', 'python = ">=3.10"\nmemory_per_job_gib = 1e308', "memory_per_job_gib"),
        ('python = ">=3.10"', 'python = ">=3.10"\nmemory_per_job_gib = nan', "memory_per_job_gib"),
    ],
)
def test_the_schema_is_narrow(old: str, new: str, path: str) -> None:
    with pytest.raises(UsageError, match=path):
        small((old, new))


@pytest.mark.parametrize("word", ["a b.toml", "x/$(id).toml", "..toml", "a\nb.toml", "-x.toml", "é.toml"])
def test_the_folder_of_a_build_is_a_plain_word(word: str) -> None:
    (place,) = make_places([(word, shipped("sim"))], [], [], target_table())
    assert re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*", place.name)


@examples(40)
@given(st.lists(one_line, min_size=1, max_size=3))
def test_a_step_script_reads_back_what_a_profile_says(texts: list[str]) -> None:
    step = Step(id="a.build", title=texts[0], run=(("cmd", *texts),), env=(("X", texts[-1]),))
    plan = replace(IMAGE.plan, steps=(step,))
    text = render_script(step, plan).replace("\\\n", "")
    assert shlex.split(next(line for line in text.splitlines() if line.startswith("run ")))[2:] == texts
    assert shlex.split(next(line for line in text.splitlines() if line.startswith("export X=")))[1] == f"X={texts[-1]}"
