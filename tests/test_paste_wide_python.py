"""doctor --paste: which torch is in an environment, what hides or breaks it, and containers that are only told of."""

from __future__ import annotations

import pytest

from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import examine, root_causes
from xpusetup.machine.probe import TOLD
from xpusetup.paste.facts import facts_from_paste
from xpusetup.run.tables import known_bad, sayings, showings

ZE = "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) Arc(TM) A770 1.0 [1.6]\n"
CPU = "[opencl:cpu][opencl:1] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0 (Build 0)\n"
GONE = "    Found existing installation: torch {0}\n      Successfully uninstalled torch-{0}\n"
LISTED = "$ pip list | grep torch\ntorch 2.8.0+xpu\n"
ASKED = "$ python -c 'import torch; print(torch.xpu.is_available())'\n"
LDD = "$ ldd {}\n\tlibsycl.so.{} => /x/lib/libsycl.so.{} (0x7f1)\n"
INIT = "     4711:\tcalling init: {}\n"
CRASH = "$ python run.py\nSegmentation fault (core dumped)\n"
NODE = "crw-rw-rw- 1 {} 226, 128 Nov  1 10:00 renderD128\n"
TABLE = "|{}| [level_zero:gpu:{}]| Intel {} Graphics| 12.2| 32| 512| 32| 31024M| 1.6.32224|\n"
PROPERTIES = "_XpuDeviceProperties(name='Intel(R) Arc(TM) A380 Graphics', type='gpu', has_fp16=1, has_fp64={})\n"
CARD = "| 0     {}               | OK            | 94.6        38                0    / 0             |\n"
ENGINE = "EZ9999: Inner Error!\nRuntimeError: call aclnnRmsNorm failed, error code 507035\n"


def causes(text: str) -> list[str]:
    facts = facts_from_paste([text], "2026-11-24", GPUS, TOLD, sayings(), showings())[0]
    question = Question(facts, shipped("torch-2.14"), device("xpu"), "run", GPUS, known_bad())
    return list(root_causes({each.id: each for each in examine(question, TEXTS)}.values()))


POSTS: tuple[tuple[str, str, str], ...] = (
    # which torch is there in the end
    (
        "a plain torch in the place of one for XPU",
        (
            f"$ sycl-ls\n{ZE}$ pip install -r requirements.txt\n{GONE.format('2.6.0+xpu')}"
            "Successfully installed torch-2.6.0 torchvision-0.21.0\n"
        ),
        "torch.is_xpu_build",
    ),
    (
        "one that was built here",
        f"$ sycl-ls\n{ZE}$ pip install torchvision\n{GONE.format('2.7.0a0+git12')}Successfully installed torch-2.7.0\n",
        "torch.is_xpu_build",
    ),
    (
        "and back again",
        (
            f"$ sycl-ls\n{ZE}{GONE.format('2.6.0+xpu')}Successfully installed torch-2.6.0\n{GONE.format('2.6.0')}"
            "Successfully installed torch-2.8.0+xpu\n"
        ),
        "",
    ),
    ("a nightly", f"{GONE.format('2.8.0+xpu')}Successfully installed torch-2.10.0.dev20250901+xpu\n", ""),
    ("another build of one's own", f"{GONE.format('2.9.0a0+git12')}Successfully installed torch-2.9.0a0+git34\n", ""),
    ("it works all the same", f"{GONE.format('2.6.0+xpu')}Successfully installed torch-2.7.0\n{ASKED}True\n", ""),
    (
        "printed by a script",
        (
            f"I installed torch 2.8.0+xpu.\n$ sycl-ls\n{ZE}$ python3 - <<'EOF'\nimport torch\n"
            "print(torch.__version__)\nEOF\n2.2.0+cpu\n"
        ),
        "torch.is_xpu_build",
    ),
    # another Python, or another folder
    (
        "PYTHONPATH",
        (
            f'$ source venv/bin/activate\n{LISTED}(venv) $ python -c "print(torch.__version__, torch.__file__)"'
            "\n2.5.1+cu124 /home/jo/.local/lib/python3.10/site-packages/torch/__init__.py\n(venv) $ echo $PYTHONPATH\n"
        ),
        "env.other_python",
    ),
    (
        "the folder of the user",
        (
            f'{LISTED}(xpu) jo@box:~$ python -c "import torch; print(torch.__file__, torch.__version__)"\n'
            "/home/jo/.local/lib/python3.11/site-packages/torch/__init__.py 2.5.1+cpu\n"
        ),
        "env.other_python",
    ),
    (
        "one torch, in the folder of the user",
        (
            f"{LISTED}(xpu) jo@box:~$ python -c 'import torch; print(torch.__version__, torch.__file__)'\n"
            "2.8.0+xpu /home/jo/.local/lib/python3.11/site-packages/torch/__init__.py\n"
        ),
        "",
    ),
    (
        "pipx",
        (
            f"{LISTED}$ pipx run whisper a.mp3 --device xpu\n"
            '  File "/home/jo/.local/share/pipx/venvs/whisper/lib/python3.12/site-packages/torch/xpu/__init__.py"\n'
            "AssertionError: Torch not compiled with XPU enabled\n"
        ),
        "env.other_python",
    ),
    ("pipx beside it", f"package nvitop in /home/jo/.local/share/pipx/venvs/nvitop\n{LISTED}{ASKED}True\n", ""),
    # two runtimes of SYCL
    (
        "calling init",
        (
            f"torch 2.8.0+xpu\n$ LD_DEBUG=libs python t.py\n{INIT.format('/v/lib/libsycl.so.8')}"
            f"{INIT.format('/v/lib/libur_loader.so.0')}{INIT.format('/opt/intel/oneapi/lib/libsycl.so.7')}{CRASH}"
        ),
        "torch.libsycl_links",
    ),
    ("one of them", f"$ LD_DEBUG=libs python t.py\n{INIT.format('/v/lib/libsycl.so.8') * 2}{CRASH}{LISTED}", ""),
    (
        "maps",
        (
            f"{LISTED}$ grep -o '/.*libsycl.*' /proc/4242/maps | sort -u\n/v/lib/libsycl.so.8.0.0\n"
            f"/opt/intel/oneapi/compiler/2025.3/lib/libsycl.so.9.0.0\n{CRASH}"
        ),
        "torch.libsycl_links",
    ),
    (
        "maps with one, and another one on the disk",
        (
            f"{LISTED}$ grep libsycl /proc/4242/maps\n/v/lib/libsycl.so.8.0.0\n$ find / -name 'libsycl.so*'\n"
            f"/opt/intel/oneapi/compiler/2025.3/lib/libsycl.so.9\n{CRASH}"
        ),
        "",
    ),
    (
        "a debugger",
        (
            f"torch 2.5.1+xpu\n{CRASH}#0  0x00007f in plugin::call () from /opt/intel/oneapi/lib/libsycl.so.7\n"
            "#1  0x00007f in update () from /home/jo/.triton/cache/5a/spirv_utils.so\n"
            "#2  0x00007f in submit () from /home/jo/venv/lib/libsycl.so.8\n"
        ),
        "torch.libsycl_links",
    ),
    (
        "ldd",
        LISTED + LDD.format("my_ext.so", 7, 7) + LDD.format("torch/lib/libtorch_xpu.so", 8, 8) + CRASH,
        "torch.libsycl_links",
    ),
    (
        "ldd of a tool",
        LISTED + LDD.format("bin/sycl-ls", 9, 9) + LDD.format("torch/lib/libtorch_xpu.so", 8, 8) + CRASH,
        "",
    ),
    # variables
    (
        "an older sycl-ls",
        (
            "$ sycl-ls\nWarning: SYCL_DEVICE_FILTER environment variable is set to opencl.\n"
            "To see the correct device id, please unset SYCL_DEVICE_FILTER.\n"
            "[opencl:cpu:0] Intel(R) OpenCL, 12th Gen Intel(R) Core(TM) i5-12400 3.0\n"
        ),
        "umd.device_filter_env",
    ),
    (
        "a selector that lets it through",
        f"$ sycl-ls\nWarning: ONEAPI_DEVICE_SELECTOR environment variable is set to level_zero:0.\n{ZE}",
        "",
    ),
    # double precision
    (
        "none in hardware",
        (
            f">>> torch.xpu.get_device_properties(0)\n{PROPERTIES.format(0)}"
            ">>> torch.ones(2, dtype=torch.float64, device='xpu').sum()\n"
            "RuntimeError: Native API failed. Native API returns: -59 (PI_ERROR_INVALID_OPERATION)\n"
        ),
        "hw.no_native_fp64",
    ),
    (
        "there, and another error",
        (
            f">>> torch.xpu.get_device_properties(0)\n{PROPERTIES.format(1)}"
            ">>> torch.ones(2, dtype=torch.float64, device='xpu').sum()\n"
            "RuntimeError: Native API failed. Native API returns: -59 (PI_ERROR_INVALID_OPERATION)\n"
        ),
        "",
    ),
    (
        "none, and another program fails",
        f"{PROPERTIES.format(0)}My torch.double test is another one.\n$ sycl-ls\nterminate: ZE_RESULT_ERROR_UNKNOWN\n",
        "",
    ),
    ("none, and none asked for", f">>> torch.xpu.get_device_properties(0)\n{PROPERTIES.format(0)}", ""),
    # containers
    (
        "open to all and nobody's, without a driver",
        (
            f"root@llm:~# ls -l /dev/dri\n{NODE.format('nobody nogroup')}root@llm:~# clinfo\n"
            "Number of platforms                               0\n"
            "root@llm:~# dpkg -l | grep -iE 'level-zero|libze|opencl'\nii  libze1:amd64   1.20.2-1   amd64   loader\n"
        ),
        "umd.ze_intel_gpu",
    ),
    (
        "the same by numbers",
        (
            "$ docker run --rm -it --device /dev/dri it:1 bash\nroot@0a1b2c3d4e5f:/# ls -ln /dev/dri\n"
            f"{NODE.format('65534 65534')}root@0a1b2c3d4e5f:/# sycl-ls\n{CPU}"
            "root@0a1b2c3d4e5f:/# ldconfig -p | grep -E 'libze|igdrcl'\n"
            "\tlibze_loader.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libze_loader.so.1\n"
        ),
        "umd.ze_intel_gpu",
    ),
    (
        "nobody's and closed",
        (
            f"jo@llm:~$ ls -l /dev/dri\n{NODE.format('nobody nogroup').replace('rw-rw-rw-', 'rw-rw----')}"
            f"jo@llm:~$ sycl-ls\n{CPU}In my LXC container on Proxmox.\n"
        ),
        "perm.container_gid",
    ),
    (
        "a container that is only told of",
        (
            "I know that in Docker one writes\ndocker run --rm -it ubuntu:24.04 bash\nbut this is bare metal:\n"
            "jo@box:~$ ls -l /dev/dri\n"
            "crw-rw---- 1 root render 226, 128 Nov  1 10:00 renderD128\njo@box:~$ id\n"
            f"uid=1000(jo) gid=1000(jo) groups=1000(jo),4(adm)\njo@box:~$ sycl-ls\n{CPU}"
        ),
        "perm.render_group",
    ),
    (
        "a container that is started so, and fails",
        (
            f"I start it so:\ndocker run -it --rm -p 8080:8080 it:1\njo@box:~$ sycl-ls\n{ZE}jo@box:~$ docker logs it\n"
            "RuntimeError: No XPU devices are available.\n"
        ),
        "container.no_device",
    ),
    (
        "a pod",
        "$ kubectl exec -it it-0 -- ls -l /dev/dri\nls: cannot access '/dev/dri': No such file or directory\n",
        "container.no_device",
    ),
    # programs
    (
        "llama.cpp took the integrated one",
        (
            f"found 2 SYCL devices:\n{TABLE.format(0, 0, 'UHD')}{TABLE.format(1, 1, 'Arc A770')}"
            "llama_model_load: using device SYCL0 (Intel UHD Graphics 770) - 29000 MiB free\n"
        ),
        "umd.device_choice",
    ),
    (
        "it took both",
        (
            f"found 2 SYCL devices:\n{TABLE.format(0, 0, 'Arc A770')}{TABLE.format(1, 1, 'UHD')}"
            "llama_model_load: using device SYCL0 (Intel(R) Arc(TM) A770 Graphics) - 15473 MiB free\n"
            "llama_model_load: using device SYCL1 (Intel(R) UHD Graphics 770) - 29000 MiB free\n"
        ),
        "",
    ),
    # what was unset
    ("unset", f"$ sycl-ls\n{CPU}$ unset ZE_AFFINITY_MASK\n$ sycl-ls\n{ZE}{CPU}", "umd.device_filter_env"),
    (
        "env -u",
        f"{ASKED}False\n$ env -u ONEAPI_DEVICE_SELECTOR {ASKED[2:]}True\n",
        "umd.device_filter_env",
    ),
    ("unset, and it helps nothing", f"{ASKED}False\n$ unset ZE_AFFINITY_MASK\n{ASKED}False\n", ""),
    ("unset from the beginning", f"$ unset ZE_AFFINITY_MASK\n$ sycl-ls\n{ZE}$ sycl-ls\n{ZE}", ""),
    # notebooks and services
    (
        "a notebook",
        (
            "(xpu) jo@box:~$ pip list | grep torch\ntorch 2.8.0+xpu\nIn [1]: print(sys.executable, torch.__version__)\n"
            "/home/jo/miniforge3/bin/python 2.5.1+cu124\n"
        ),
        "env.other_python",
    ),
    (
        "a service",
        (
            "(venv) $ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.8.0+xpu True\n"
            "$ systemctl cat it\nExecStart=/usr/bin/python3 /home/jo/it/main.py\n$ journalctl -u it\n"
            "AssertionError: Torch not compiled with CUDA enabled\n"
        ),
        "env.other_python",
    ),
    (
        "a service of the environment",
        (
            "(venv) $ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.8.0+xpu True\n"
            "ExecStart=/home/jo/venv/bin/python3 /home/jo/it/main.py\n"
            "AssertionError: Torch not compiled with CUDA enabled\n"
        ),
        "",
    ),
    (
        "CUDA's packages by uv",
        (
            "$ uv add torch\nInstalled 26 packages in 3.1s\n + nvidia-cublas-cu12==12.8.4.1\n + torch==2.8.0\n"
            "$ uv run main.py\nRuntimeError: PyTorch is not linked with support for xpu devices\n"
        ),
        "torch.is_xpu_build",
    ),
    (
        "CUDA's packages that were left",
        f"$ pip list\nnvidia-cudnn-cu12 9.1.0\ntorch 2.8.0\n{ASKED}True\n",
        "",
    ),
    (
        "a program for CUDA, in the right environment",
        (
            "(venv) jo@box:~$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n"
            "2.8.0+xpu True\n(venv) jo@box:~$ sudo python3 tools/flash.py\n(venv) jo@box:~$ python app.py\n"
            "AssertionError: Torch not compiled with CUDA enabled\n"
        ),
        "",
    ),
    # names and numbers of groups and nodes
    (
        "a group by its name",
        (
            "Error response from daemon: Unable to find group render: no matching entries in group file\n"
            "$ ls -l /dev/dri\ncrw-rw---- 1 root render 226, 128 Nov  1 10:00 renderD128\n"
        ),
        "perm.container_gid",
    ),
    (
        "a node of another number",
        (
            "root@pve:~# pct start 105\nTASK ERROR: Device /dev/dri/renderD128 does not exist\n"
            "root@pve:~# ls /dev/dri\nby-path  card1  renderD129\n"
        ),
        "env.elsewhere",
    ),
    # modules and drivers of others
    (
        "Gaudi without its module",
        (
            "$ lspci | grep -i habana\n19:00.0 Processing accelerators: Habana Labs Ltd. Device 1020 (rev 01)\n"
            "$ lsmod | grep habana\n$ ls /dev/accel\nls: cannot access '/dev/accel': No such file or directory\n"
        ),
        "hpu.modules",
    ),
    (
        "Gaudi with it",
        (
            "$ lspci | grep -i habana\n19:00.0 Processing accelerators: Habana Labs Ltd. Device 1020 (rev 01)\n"
            "$ lsmod | grep habana\nhabanalabs           1536000  0\n$ ls /dev/accel\naccel0\n"
        ),
        "",
    ),
    (
        "Ascend's driver stayed outside",
        (
            'root@c1:/# python -c "import torch_npu"\nImportError: libascend_hal.so: cannot open shared object file:'
            " No such file or directory\nroot@c1:/# ls /usr/local/Ascend/driver\n"
            "ls: cannot access '/usr/local/Ascend/driver': No such file or directory\n"
        ),
        "npu.no_node",
    ),
    # an image for another chip
    (
        "an image for the 910B",
        f"$ npu-smi info\n{CARD.format('310P3')}$ docker run --device /dev/davinci0 it/vllm-ascend:v0.11.0\n{ENGINE}",
        "npu.release",
    ),
    (
        "an image for the 310P",
        f"$ docker run --device /dev/davinci0 quay.io/ascend/vllm-ascend:v0.11.0-310p it\n{ENGINE}$ npu-smi info\n"
        + CARD.format("910B3"),
        "npu.release",
    ),
    (
        "the image of the chip",
        f"$ npu-smi info\n{CARD.format('910B3')}$ docker run --device /dev/davinci0 it/vllm-ascend:v0.11.0\n{ENGINE}",
        "",
    ),
)


@pytest.mark.parametrize(("text", "first"), [each[1:] for each in POSTS], ids=[each[0] for each in POSTS])
def test_what_is_named_first(text: str, first: str) -> None:
    assert next(iter(causes(text)), "") == first
