"""The stand-in upstreams keep the manners of the real ones; each rule is proved by running it, without the product."""

from dataclasses import replace
from pathlib import Path

import pytest

from standins.upstreams import TORCH, TORCH_XPU_OPS, Upstreams, git_environment, make_upstreams
from standins.workshop import (
    CONFIGURE_ONLY,
    Workshop,
    dynamic,
    fetch,
    frontend,
    names,
    only_wheel,
    refusal,
    setup_py,
    torch_tree,
    unpack,
)

pytest_plugins = ("standins.fixtures",)
pytestmark = [pytest.mark.e2e, pytest.mark.long]  # every build of test_eras.py goes through the same

XPU_LIBRARY = "torch/lib/libtorch_xpu.so"
CACHE = "build/CMakeCache.txt"


class TestUpstreams:
    def test_the_commits_depend_on_content_alone(self, old: Upstreams, tmp_path: Path) -> None:
        assert make_upstreams(tmp_path, release="2.5").revs == old.revs

    def test_git_goes_to_the_local_repositories(self, shop: Workshop, old: Upstreams, tmp_path: Path) -> None:
        for url in (TORCH, f"{TORCH}.git"):
            done = shop.run("git", "ls-remote", url, "v2.5.1^{}", cwd=tmp_path, env=git_environment(old))
            assert done.stdout.split()[0] == old.revs["torch"]

    def test_no_other_repository_is_reached(self, shop: Workshop, old: Upstreams, tmp_path: Path) -> None:
        url = "https://github.com/pytorch/builder"
        assert "does not appear" in refusal(shop.run("git", "ls-remote", url, cwd=tmp_path, env=git_environment(old)))

    def test_one_commit_at_depth_1_with_submodules_two_deep(
        self, shop: Workshop, old: Upstreams, tmp_path: Path
    ) -> None:
        tree = torch_tree(shop, old, tmp_path / "tree")
        assert shop.run("git", "rev-list", "--count", "HEAD", cwd=tree).stdout == "1\n"
        assert (tree / "third_party/fbgemm/external/asmjit/CMakeLists.txt").exists()
        assert (tree / "third_party/xpu.txt").read_text() == old.revs["torch-xpu-ops"] + "\n"

    def test_a_server_may_refuse_commits(self, shop: Workshop, tmp_path: Path) -> None:
        strict = make_upstreams(tmp_path / "up", release="2.5", refuse_sha=True)
        assert "unadvertised object" in refusal(fetch(shop, strict, "torch", TORCH, tmp_path / "tree"))
        by_tag = replace(strict, revs={"torch": "refs/tags/v2.5.1"})
        fetch(shop, by_tag, "torch", TORCH, tmp_path / "by-tag")
        assert (tmp_path / "by-tag/setup.py").exists()


class TestSetupPyEra:
    def test_without_sycl_it_warns_and_builds_on(self, shop: Workshop, old: Upstreams, tmp_path: Path) -> None:
        tree = torch_tree(shop, old, tmp_path / "tree")
        configured = setup_py(shop, tree, "build", "--cmake-only")
        assert "Could NOT find SYCL" in configured.stdout
        assert "USE_XPU               : OFF" in configured.stdout
        assert "USE_XPU:BOOL=OFF" in (tree / CACHE).read_text()
        assert not list(tree.rglob("*.so"))
        assert setup_py(shop, tree, "bdist_wheel").returncode == 0
        assert XPU_LIBRARY not in names(only_wheel(tree))

    def test_with_sycl_xpu_is_in_the_wheel(self, old_site: Path, oneapi: Path, shop: Workshop) -> None:
        assert "[$ORIGIN]" in dynamic(old_site / XPU_LIBRARY)
        assert "[libsycl.so.8]" in dynamic(old_site / XPU_LIBRARY)
        metadata = (old_site / "torch-2.5.1+xpu.dist-info/METADATA").read_text()
        assert {"Requires-Dist: intel-sycl-rt ==2025.3.1", "Requires-Dist: intel-sycl-rt==2025.3.1"} & set(
            metadata.splitlines()
        )
        code = "import torch; print(torch.__version__, torch.xpu.get_arch_list(), torch.xpu.is_available())"
        env = {"PYTHONPATH": str(old_site)}
        assert "libsycl.so.8: cannot open" in refusal(shop.run(shop.python, "-c", code, cwd=shop.home, env=env))
        done = shop.run(shop.python, "-c", code, cwd=shop.home, env=env, oneapi=oneapi)
        assert done.stdout == "2.5.1+xpu ['pvc', 'bmg'] False\n"

    def test_configured_once_the_environment_is_not_read_again(
        self, shop: Workshop, old: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        tree = torch_tree(shop, old, tmp_path / "tree")
        setup_py(shop, tree, "build", "--cmake-only", USE_XPU="0")
        assert "USE_XPU:BOOL=0" in (tree / CACHE).read_text()
        assert setup_py(shop, tree, "bdist_wheel", oneapi=oneapi).returncode == 0
        assert XPU_LIBRARY not in names(only_wheel(tree))

    def test_missing_submodules_are_refused(self, shop: Workshop, old: Upstreams, tmp_path: Path) -> None:
        tree = torch_tree(shop, old, tmp_path / "tree")
        shop.run("git", "submodule", "deinit", "--force", "external/asmjit", cwd=tree / "third_party/fbgemm")
        text = refusal(setup_py(shop, tree, "build", "--cmake-only"))
        assert "Could not find any of CMakeLists.txt" in text
        assert "git submodule update --init --recursive" in text

    def test_intels_compiler_as_host_compiler_leaves_xpu_out(
        self, shop: Workshop, old: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        tree = torch_tree(shop, old, tmp_path / "tree")
        done = setup_py(shop, tree, "bdist_wheel", oneapi=oneapi, CXX="icpx")
        assert "Not compiling with XPU" in done.stdout
        assert "IntelLLVM" in done.stdout
        assert XPU_LIBRARY not in names(only_wheel(tree))

    def test_configure_clones_torch_xpu_ops_that_is_not_there(
        self, shop: Workshop, old: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        fetch(shop, old, "torch", TORCH, tmp_path / "tree")
        configure = ("build", "--cmake-only")
        hidden = setup_py(shop, tmp_path / "tree", *configure, oneapi=oneapi, **git_environment(old))
        assert "Cloning torch-xpu-ops" in hidden.stdout
        fetch(shop, old, "torch", TORCH, tmp_path / "offline")
        without = replace(old, repos={url: path for url, path in old.repos.items() if url != TORCH_XPU_OPS})
        offline = setup_py(shop, tmp_path / "offline", *configure, oneapi=oneapi, **git_environment(without))
        assert "Fail to clone" in refusal(offline)

    def test_a_pre_placed_tree_with_a_remote_is_still_fetched(
        self, shop: Workshop, old: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        tree = torch_tree(shop, old, tmp_path / "tree")
        shop.run("git", "remote", "add", "origin", "/nowhere", cwd=tree / "third_party/torch-xpu-ops")
        assert "Fail to fetch" in refusal(setup_py(shop, tree, "build", "--cmake-only", oneapi=oneapi))


class TestScikitBuildCoreEra:
    def test_without_sycl_an_explicit_use_xpu_fails(self, shop: Workshop, new: Upstreams, tmp_path: Path) -> None:
        tree = torch_tree(shop, new, tmp_path / "tree")
        assert "XPU was explicitly requested (USE_XPU=1)" in refusal(frontend(shop, tree, *CONFIGURE_ONLY))
        assert not list(tree.rglob("*.so"))

    def test_configuring_alone_compiles_nothing_and_the_build_goes_on_from_it(
        self, shop: Workshop, new: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        tree = torch_tree(shop, new, tmp_path / "tree")
        configured = frontend(shop, tree, *CONFIGURE_ONLY, oneapi=oneapi)
        assert configured.returncode == 0, configured.stdout
        assert "USE_XPU:STRING=1" in (tree / CACHE).read_text()
        assert not list(tree.rglob("*.so"))
        built = frontend(shop, tree, oneapi=oneapi, PYTORCH_EXTRA_INSTALL_REQUIREMENTS="intel-sycl-rt==2025.3.1")
        assert "ninja -v -j 2" in built.stdout
        assert built.stdout.count(" -c ") == 7
        site = unpack(only_wheel(tree), tmp_path / "site")
        assert "Requires-Dist: intel-sycl-rt==2025.3.1" in (site / "torch-2.14.1+xpu.dist-info/METADATA").read_text()
        assert "[$ORIGIN]" in dynamic(site / XPU_LIBRARY)
        again = frontend(shop, tree, oneapi=oneapi).stdout  # the clone of oneDNN is looked at in every build
        assert ("-gitupdate.cmake" in again, again.count(" -c ")) == (True, 0)
        assert shop.run("git", "status", "--porcelain", cwd=tree).stdout == "?? configured/\n"

    def test_the_mpi_of_the_sourced_scripts_is_refused(
        self, shop: Workshop, new: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        """Upstream would take it without a word; which releases insist on it is in the ledger."""
        tree = torch_tree(shop, new, tmp_path / "tree")
        said = refusal(frontend(shop, tree, *CONFIGURE_ONLY, oneapi=oneapi, USE_MPI=""))
        assert "USE_MPI=0 was not exported" in said

    def test_onednn_is_cloned_in_the_middle_of_the_build(
        self, shop: Workshop, new: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        tree = torch_tree(shop, new, tmp_path / "tree")
        nowhere = {"GIT_CONFIG_KEY_0": f"url.{tmp_path}/nowhere.insteadOf"}
        assert frontend(shop, tree, *CONFIGURE_ONLY, oneapi=oneapi, **nowhere).returncode == 0
        refused = frontend(shop, tree, oneapi=oneapi, **nowhere)
        assert "Failed to clone repository: 'https://github.com/uxlfoundation/oneDNN'" in refusal(refused)

    def test_missing_submodules_are_refused(self, shop: Workshop, new: Upstreams, tmp_path: Path) -> None:
        tree = torch_tree(shop, new, tmp_path / "tree")
        shop.run("git", "submodule", "deinit", "--force", "external/asmjit", cwd=tree / "third_party/fbgemm")
        assert "git submodule update --init --recursive" in refusal(frontend(shop, tree, USE_XPU="0"))

    def test_two_folders_give_the_same_bytes(
        self, shop: Workshop, new: Upstreams, oneapi: Path, tmp_path: Path
    ) -> None:
        def build(name: str, **env: str) -> bytes:
            tree = torch_tree(shop, new, tmp_path / name)
            done = frontend(shop, tree, oneapi=oneapi, **env)
            assert done.returncode == 0, done.stdout
            return only_wheel(tree).read_bytes()

        assert build("a") == build("a-longer-name")
        assert build("b", CXXFLAGS="") != build("c", CXXFLAGS="")
