"""What git and a real build say of where a wheel is from."""

from __future__ import annotations

import importlib
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import xpusetup

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo

pytestmark = pytest.mark.e2e
sources: Any = importlib.import_module("helperlib.wheel.sources")
process: Any = importlib.import_module("helperlib.git.process")
tree_of: Any = importlib.import_module("helperlib.git.tree")


def git(place: Path, *words: str) -> str:
    own = (
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "-c",
        "protocol.file.allow=always",
        "-c",
        "init.defaultBranch=m",
    )
    done = subprocess.run(("git", *own, "-C", str(place), *words), check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(place: Path, **texts: str) -> str:
    place.mkdir(parents=True)
    git(place, "init", "-q")
    for name, text in texts.items():
        (place / name.replace("_", ".")).write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    return git(place, "rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Give a tree as the fetching step leaves one: a submodule, a part that the profile puts there, and a patch."""
    repository(tmp_path / "fmt", LICENSE="MIT", a_c="int a;")
    place = tmp_path / "src/demo"
    repository(place, LICENSE="BSD", NOTICE="thanks", license_py="pass", b_c="int b;\n")
    git(place, "submodule", "add", "-q", f"file://me:secret@{tmp_path}/fmt", "third_party/fmt")
    git(place, "commit", "-qm", "second")
    vendored = repository(place / "third_party/ops", COPYING="GPL")
    for folder in (place, place / "third_party/ops"):
        (folder / ".git/xpusetup-rev").write_text(git(folder, "rev-parse", "HEAD") + "\n")
    assert len(vendored) == 40
    return place


TOLD = {
    "repo": "https://example.com/demo",
    "tag": "v1",
    "vendored": [{"name": "ops", "path": "third_party/ops", "repo": "https://example.com/ops", "tag": ""}],
}


def find(tree: Path, told: dict[str, Any]) -> dict[str, Any]:
    found = sources.find_sources(process.make_git(), tree, "demo", told, tree.parent / "none.json")
    assert [each.path for each in found] == sorted(each.path for each in found)
    return {each.name: each for each in found}


def test_all_repositories_of_a_tree_are_named(tree: Path) -> None:
    found = find(tree, TOLD)
    assert set(found) == {"demo", "ops", "third_party/fmt"}
    assert found["demo"].uri == f"git+https://example.com/demo@{git(tree, 'rev-parse', 'HEAD')}"
    assert found["ops"].rev == git(tree / "third_party/ops", "rev-parse", "HEAD")
    assert [each.path for each in found["demo"].licences] == ["LICENSE", "NOTICE"]
    assert [each.path for each in found["third_party/fmt"].licences] == ["LICENSE"]
    assert "secret" not in found["third_party/fmt"].address
    assert found["third_party/fmt"].address.startswith("file://***@")
    assert not any(each.changed for each in found.values())


def test_a_tree_of_ones_own_has_no_address(tree: Path) -> None:
    found = find(tree, {**TOLD, "repo": "", "tag": ""})
    assert [found[name].address for name in ("demo", "third_party/fmt")] == ["", ""]
    assert found["ops"].address == "https://example.com/ops"  # brought into it by the profile


def test_a_commit_of_ones_own_has_no_address(tree: Path) -> None:
    git(tree, "commit", "-qm", "mine", "--allow-empty")
    assert find(tree, TOLD)["demo"].uri == ""


def test_what_stands_for_a_part_has_no_address(tree: Path, tmp_path: Path) -> None:
    (tree / "third_party/ops").rename(tmp_path / "mine")
    (tree / "third_party/ops").symlink_to(tmp_path / "mine")
    assert find(tree, TOLD)["ops"].address == ""


def test_changes_and_patches_are_named(tree: Path, tmp_path: Path) -> None:
    patch = tmp_path / "fix.patch"
    patch.write_text("--- a/b.c\n+++ b/b.c\n@@ -1 +1 @@\n-int b;\n+int c;\n")
    tree_of.put_on(process.make_git(), tree, [patch])
    found = find(tree, TOLD)["demo"]
    assert (found.changed, len(found.patches)) == (True, 1)


def test_an_unpacked_archive_is_known_by_its_hash(tmp_path: Path) -> None:
    place = tmp_path / "demo-1.0"
    (place / "build").mkdir(parents=True)
    for name in ("LICENSE", "build/LICENSE"):
        (place / name).write_text("MIT")
    (tmp_path / "demo.source.json").write_text(json.dumps({"archive": "ab" * 32}))
    (found,) = sources.find_sources(process.make_git(), place, "demo", {}, tmp_path / "demo.source.json")
    assert (found.digest, found.uri, [each.path for each in found.licences]) == ({"sha256": "ab" * 32}, "", ["LICENSE"])


@pytest.mark.xdist_group("demo")
def test_a_built_wheel_says_what_it_was_built_from(demo: Demo, tmp_path: Path) -> None:
    wheel = next((demo.root / "wheels").glob("simxpu-*.whl"))
    rows = {row["name"]: row["provenance"] for row in demo.json("status")["result"]["wheels"]}
    assert rows == {"torch": None, "simxpu": f"{wheel}.provenance.json"}
    assert asked(demo, wheel).code == 0
    key, public = make_key(tmp_path)
    assert failing(asked(demo, wheel, "--key", str(public))) == {"provenance.signature": "unsigned"}
    signed = xpusetup("wheel", "sign", str(wheel), "--key", str(key), "--json", env=demo.env)
    envelope = demo.root / f"wheels/{wheel.name}.intoto.jsonl"
    assert (signed.code, signed.result["wheels"][0]["file"], signed.result["replaced"]) == (0, str(envelope), [])
    assert asked(demo, wheel, "--key", str(public)).code == 0
    envelope.unlink()


@pytest.mark.xdist_group("demo")
def test_its_statement_names_all_that_went_in(demo: Demo) -> None:
    statement = next((demo.root / "wheels").glob("simxpu-*.provenance.json"))
    text = statement.read_text()
    definition = json.loads(text)["predicate"]["buildDefinition"]
    named = [row.get("name", row.get("uri")) for row in definition["resolvedDependencies"]]
    assert {"source/.", "steps/simxpu.build.sh", "steps/venv.sh"} < set(named)
    assert any(name.startswith("torch-") for name in named)
    assert any(name.startswith("pkg:pypi/setuptools@") for name in named)
    assert definition["internalParameters"]["facts"]["sha256"]
    assert str(demo.root) not in text


@pytest.mark.xdist_group("demo")
def test_a_changed_wheel_is_refused(demo: Demo, tmp_path: Path) -> None:
    wheel = next((demo.root / "wheels").glob("simxpu-*.whl"))
    copy = tmp_path / wheel.name
    copy.write_bytes(wheel.read_bytes() + b"\0")
    assert failing(asked(demo, copy)) == {"provenance.signature": "no-statement"}
    beside = str(demo.root / f"wheels/{wheel.name}.provenance.json")
    assert failing(asked(demo, copy, "--statement", beside))["provenance.subject"] == "subject-hash"


def asked(demo: Demo, wheel: Path, *words: str) -> Any:
    return xpusetup("wheel", "check", str(wheel), "--provenance", *words, "--json", env=demo.env)


def failing(said: Any) -> dict[str, str]:
    assert said.code == 1
    rows = [
        row
        for row in said.document["result"]["checks"]
        if row["level"] == "fail" and row["id"].startswith("provenance.")
    ]
    return {row["id"]: row["seen"].partition(":")[0] for row in rows}


def make_key(folder: Path) -> tuple[Path, Path]:
    key, public = folder / "key.pem", folder / "pub.pem"
    subprocess.run(("openssl", "genpkey", "-algorithm", "ed25519", "-out", key), check=True, capture_output=True)
    subprocess.run(("openssl", "pkey", "-in", key, "-pubout", "-out", public), check=True, capture_output=True)
    return key, public
