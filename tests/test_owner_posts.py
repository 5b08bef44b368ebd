"""What the owner of a card is told of what he posted: of what each line speaks, what decides, and one recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.diagnosis import diagnose
from data.pasting import look
from test_machines import screen
from xpusetup.base.errors import UsageError
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.explain import explain_log
from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
from xpusetup.config.shipped import load_profile
from xpusetup.run.workspace import Where
from xpusetup.ui.doctor import show_doctor
from xpusetup.ui.setup import show_setup as show_setup_screen

if TYPE_CHECKING:
    from pathlib import Path

CARD = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]"
SEES = "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) Arc(TM) A770 Graphics"
HERE = '$ python3 -c "import torch; print(torch.__version__, torch.xpu.is_available())"\n2.9.1+xpu {}\n'
POSTS = {
    "blind": f"Arc B580, Ubuntu 24.10\n$ uname -r\n6.11.0-9-generic\n{HERE.format(False)}",
    "message": "B580\n$ pip list\ntorch 2.9.1+xpu\n$ python t.py\nRuntimeError: No XPU devices are available.\n",
    "cpu": "I have an Arc B580 on Fedora 42.\n>>> torch.__version__\n'2.9.1+cpu'\n>>> torch.xpu.is_available()\nFalse\n"
    '>>> torch.randn(2).to("xpu")\nAssertionError: Torch not compiled with XPU enabled\n',
    "cuda": f"{CARD}\n$ python3 -c 'import torch; print(torch.__version__)'\n2.7.1+cu126\n"
    "RuntimeError: Found no NVIDIA driver on your system.\n",
    "said": "Arc A770\n$ python app.py\nAssertionError: Torch not compiled with CUDA enabled\n",
}
FULL = (
    f"Arc B580\n{HERE.format(True)}torch.OutOfMemoryError: XPU out of memory. Tried to allocate 4.00 GiB. GPU 0 has",
    f"{SEES}\nRuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n",
    "torch 2.8.0+xpu on B580\ntorch.OutOfMemoryError: Allocation on device\n",
    "torch 2.9.1+xpu on B580\nRuntimeError: XPU out of memory. Tried to allocate 4.00 GiB (GPU 0; 11.33 GiB total\n",
)


def shown(text: str, folder: Path) -> str:
    return screen(show_doctor, look(text, folder))


@pytest.mark.parametrize("name", POSTS)
def test_no_line_takes_the_release_for_the_torch_of_the_post(name: str, tmp_path: Path) -> None:
    """A tick under PyTorch said what the newest release has."""
    told = look(POSTS[name], tmp_path)
    assert "✓ PyTorch     code for this GPU" not in screen(show_doctor, told)
    assert {each.area for each in told.findings if each.id == "hw.release_has_code"} == {"release"}
    assert " What was posted: " in screen(show_doctor, told)
    assert "Container   GPU in the container" not in shown(SEES, tmp_path)


@pytest.mark.parametrize("name", ["blind", "message"])
def test_where_no_cause_is_sure_none_is_counted(name: str, tmp_path: Path) -> None:
    """It said "1 cause" above "no cause is sure", and hid what decides behind "and 9 more"."""
    text = shown(POSTS[name], tmp_path)
    assert "no cause is sure" in text
    assert "1 cause" not in text
    first = text.partition("Judged from")[0]
    for command in ("lspci -nnk", "id; ls -l /dev/dri /dev/dri/by-path", "sycl-ls"):
        assert f"     {command}\n" in first


@pytest.mark.parametrize("text", FULL)
def test_full_memory_is_told_of_memory_alone(text: str, tmp_path: Path) -> None:
    """Of a card that works it was said to install drivers, or wheels."""
    told = shown(text, tmp_path)
    assert "the GPU's memory is full" in told
    assert "nothing has to be installed" in told
    assert "xpusetup " not in told
    assert "with it came" not in told


def test_an_answer_behind_its_command_is_read(tmp_path: Path) -> None:
    split = f"B580 Ubuntu 24.04\n{HERE.format(False)}$ uname -r\n6.8.0-41-generic\n"
    joined = split.replace('"\n', '" ').replace("-r\n", "-r ")
    assert joined.count("\n") == split.count("\n") - 2
    assert shown(joined, tmp_path) == shown(split, tmp_path)


def test_a_question_is_not_told_as_its_answer(tmp_path: Path) -> None:
    """The line of an error was the command with its prompt, and the answer behind it."""
    text = f"jo@box:~{HERE.format(False)}"
    assert "A message   torch.xpu.is_available() says 2.9.1+xpu False" in shown(text, tmp_path)


@pytest.mark.parametrize("name", POSTS)
def test_one_recipe_one_placeholder_and_one_python(name: str, tmp_path: Path) -> None:
    text = shown(POSTS[name], tmp_path)
    assert text.count("Replace ") <= 1
    assert text.count("xpusetup install") + text.count("pip install") == (name not in ("blind", "message"))
    assert ("python3 -" in text) + ("python -" in text) <= 1
    if "python3" in POSTS[name]:
        assert "python -" not in text


@pytest.mark.parametrize("command", ["$ lspci -nnk | grep -A3 VGA", "$ lspci -nnk", "some lines of it:"])
def test_a_post_without_an_intel_gpu_says_so(command: str, tmp_path: Path) -> None:
    card = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD104 [GeForce RTX 4070] [10de:2786]"
    text = shown(f"{command}\n{card}\n{HERE.format(False).replace('2.9.1+xpu ', '')}", tmp_path)
    assert "The post shows no Intel GPU\n   NVIDIA GPU 10de:2786 is served by PyTorch's own wheels" in text
    assert "rt.asked_in_vain" not in text
    assert "imports, and finds no device" in text


def test_the_card_behind_an_integrated_gpu_is_named(tmp_path: Path) -> None:
    second = SEES.replace("zero:0", "zero:1").replace("A770", "B580")
    first = SEES.replace("Arc(TM) A770 Graphics", "UHD Graphics 770")
    asked = (
        '$ python -c "import torch; print(torch.xpu.device_count(), torch.xpu.get_device_name(0))"\n2 Intel(R) UHD\n'
    )
    told = look(f"$ sycl-ls\n{first}\n{second}\n{asked}", tmp_path)
    found = next(each for each in told.findings if each.id == "umd.igpu_dgpu_mix")
    assert (found.level, found.fix.commands) == ("warn", ["export ONEAPI_DEVICE_SELECTOR=level_zero:1"])


@pytest.mark.parametrize(("name", "text", "option"), [("p.txt", "hi", "--paste"), ("f.json", "{}", "--facts")])
@pytest.mark.parametrize("by_path", [False, True])
def test_a_file_in_the_place_of_a_profile_is_told_its_option(
    *, name: str, text: str, option: str, by_path: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`doctor post.txt` said at which column it is no TOML."""
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    given = str(tmp_path / name) if by_path else name
    with pytest.raises(UsageError, match="is no profile") as raised:
        load_profile(given)
    assert raised.value.fix.endswith(f": xpusetup doctor {option} {given}")


def test_a_kernel_is_named_in_one_way(tmp_path: Path) -> None:
    """Of one card and one Ubuntu it was 6.12 on one screen, and 6.11 on another."""
    text = shown(f"Ubuntu 24.04\n$ uname -r\n6.8.0-41-generic\n{CARD}\n{HERE.format(False)}", tmp_path)
    assert "6.12" in text
    assert text.count("6.11") == text.count("6.12 (of Ubuntu: 6.11)")


def test_setup_names_the_user_of_saved_facts_as_a_shell_does(tmp_path: Path) -> None:
    """Facts are saved without names: `usermod` was told of '<user>'."""
    node = "crw-rw---- 1 root render 226, 128 Mar  5 10:05 renderD128"
    groups = "uid=1000(jo) gid=1000(jo) groups=1000(jo),27(sudo)"
    (tmp_path / "post.txt").write_text(f"Ubuntu 24.04\n{CARD}\n\tKernel driver in use: xe\n{node}\n$ id\n{groups}\n")
    saved = tmp_path / "facts.json"
    diagnose(Where(), DoctorOptions(paste=(str(tmp_path / "post.txt"),), save=str(saved)))
    saved.write_text(saved.read_text().replace('"user": "jo"', '"user": "<user>"'))
    text = screen(show_setup_screen, show_setup(prepare_setup(SetupOptions(facts=str(saved)))).data)
    assert 'sudo usermod -aG render,video "$USER"' in text
    assert "for you" in text


def test_a_setvars_that_is_not_there_is_a_lack_of_oneapi(tmp_path: Path) -> None:
    line = "bash: /opt/intel/oneapi/setvars.sh: No such file or directory"
    text = shown(f"Arc B580, Ubuntu 24.04\n$ source /opt/intel/oneapi/setvars.sh\n{line}\n", tmp_path)
    assert "Only a build from source needs it" in " ".join(text.split())


def test_the_error_comes_before_the_question_that_was_answered_no(tmp_path: Path) -> None:
    """`explain` put the error that the post is about under "Also"."""
    file = tmp_path / "post.txt"
    file.write_text(POSTS["cpu"])
    assert [each.id for each in explain_log(str(file))[0].causes if not each.caused_by] == ["rt.not_compiled"]
    file.write_text("$ python -c 'import torch; print(torch.xpu.is_available())'\nFalse\n" + POSTS["message"])
    assert [each.id for each in explain_log(str(file))[0].causes][:1] == ["rt.no_devices"]


def test_what_a_cause_says_is_not_said_again_by_its_error(tmp_path: Path) -> None:
    loader = "ImportError: libze_loader.so.1: cannot open shared object file: No such file or directory"
    text = shown(f"Arc B580, Fedora 42\n$ python3 -c 'import torch'\n{loader}\n", tmp_path)
    assert "Its errors" not in text
    node = "$ ls /dev/dri\nls: cannot access '/dev/dri': No such file or directory"
    text = shown(f"Debian 12\n$ uname -r\n6.1.0-28-amd64\n$ lspci -nn\n{CARD}\n{node}\n", tmp_path)
    assert "a newer kernel" in text
    assert "Its errors" not in text
