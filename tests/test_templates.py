"""Templates of the forms: each renders with its form, and takes no value that nothing quoted; code holds none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from jinja2.exceptions import TemplateAssertionError
from ruamel.yaml import YAML

from data.profiles import device, shipped
from data.targets import plan_for
from xpusetup.base.model import Request
from xpusetup.config.settings import ModuleSettings, Scheduler
from xpusetup.emit.dockerfile import render_apptainer, render_dockerfile
from xpusetup.emit.github import Runners, render_github
from xpusetup.emit.image import make_image
from xpusetup.emit.image_system import Described, ImageOrder, image_table
from xpusetup.emit.lmod import render_modules
from xpusetup.emit.matrix import Cell
from xpusetup.emit.script import render_readme, render_shell, render_system
from xpusetup.emit.slurm import render_slurm
from xpusetup.emit.template import FILTERS, FOLDER, check_quoted, environment, render_template
from xpusetup.recommend.machine import known
from xpusetup.system.files import package_file

EMIT = Path(__file__).parents[1] / "xpusetup/emit"
CELLS = tuple(Cell(name=name, profile=shipped(name), plan=plan_for(name)) for name in ("torch-2.5", "torch-2.14"))
ABOUT = Described(known=known(), images=image_table(), device=device("xpu"))
READY = {
    "first",
    "layer(build)",
    "layer(each)",
    "layer(closure)",
    "layer(runtime)",
    "layer(toolkit)",
    'head("build")',
    'head("runtime")',
    '"LABEL" if loop.first else "     "',
    'row | map("markdown") | join(" | ")',
    'conflicts | map("lua") | join(", ")',
    'version | join(".")',
    'version | join(", ")',
    'memory | join(" ")',
    "toolkit",
    "main",
    'targets | join(", ")',
    "scratch",
}
"""All that stands in a file without being quoted there: made of quoted words, of numbers, of a template's own text, by
another module in the file's language, inside of a passage that is quoted as a whole; `scratch` may name variables."""


def files_of(origin: str) -> list[dict[str, str]]:
    assert origin in {"source", "wheels"}
    image = make_image(shipped("torch-2.5"), Request(), ImageOrder(origin=origin), ABOUT)  # type: ignore[arg-type]
    devel = make_image(shipped("torch-2.14"), Request(), ImageOrder(target="devel"), ABOUT)
    return [render_dockerfile(image), render_dockerfile(devel), render_apptainer(image)]


def test_every_template_renders_with_its_form() -> None:
    environment.cache_clear()
    render_shell(CELLS[1].plan)
    render_readme(CELLS[1].plan)
    render_system(CELLS[0].plan.steps, "a machine")
    render_slurm(CELLS, Scheduler())
    render_modules(CELLS, ModuleSettings())
    render_github(CELLS, Runners(label="big", gpu_label="arc", extension="acme", again=("xpusetup",)))
    assert all(files_of("source")) and all(files_of("wheels"))  # noqa: PT018 - one thing: nothing is missing
    used = {name for _loader, name in environment().cache or ()}
    assert used == set(environment().list_templates())
    assert len(used) > 15


def test_a_value_that_is_missing_and_a_filter_that_is_none() -> None:
    with pytest.raises(UndefinedError, match="'verified' is undefined"):
        render_template("slurm/submit.sh", nodes=2, together=True, unset=[])
    with pytest.raises(TemplateAssertionError, match="No filter named 'html'"):
        environment().from_string("{= x | html =}")


@pytest.mark.parametrize(
    "text", ["a b", "a\n", "$(id)", "a;b", '"', "${{ x }}", "é", "a#b", "*", "%post", "{x}", "~/x", "!"]
)
def test_a_text_that_nothing_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="without a filter"):
        environment().from_string("x: {= text =}").render(text=text)
    for name in set(FILTERS) - {"command", "long_command", "workflow"}:
        assert environment().from_string(f"{{= text | {name} =}}").render(text=text)


@pytest.mark.parametrize("text", ["torch-2.14", "2.5.1+xpu", "/opt/x", "docker.io/a:1@sha256:0", "--a=b,c=d", "", 7])
def test_a_plain_word(text: str | int) -> None:
    assert check_quoted(text) == text


@pytest.mark.parametrize("label", ["a, b]", "x # y", "x\n    env: {}"])
def test_the_label_of_a_runner_is_a_word_in_the_workflow(label: str) -> None:
    """`emit` refuses it with a way out; in a workflow it would be text and nothing else."""
    written = render_github(CELLS[:1], Runners(label=label))
    workflow = YAML(typ="safe").load(next(text for name, text in written.items() if name.endswith(".yml")))
    assert label in {job["runs-on"] for job in workflow["jobs"].values()}


def test_what_is_quoted_nowhere_is_known() -> None:
    texts = [path.read_text() for path in package_file(FOLDER).rglob("*.j2")]
    found = {each for text in texts for each in re.findall(r"{= ((?:(?!=}).)*?) \| code =}", text)}
    assert found == READY


@pytest.mark.parametrize("path", sorted(EMIT.glob("*.py")), ids=lambda path: path.stem)
def test_no_module_holds_the_text_of_a_form(path: Path) -> None:
    tree = ast.parse(path.read_text())
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in told]
    assert [node.value for node in texts if isinstance(node.value, str) and node.value.count("\n") > 2] == []
    assert not re.search(r"@[A-Z_]+@", path.read_text())
