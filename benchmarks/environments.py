# The peers: pinned packages of each, and one virtual environment for each under build/bench.
from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent.parent / "build" / "bench"

# One environment each; other versions give other figures. onnxruntime-training imports torch.
PACKAGES: dict[str, list[str]] = {
    "torch": ["torch==2.13.0", "numpy==2.4.6", "onnx==1.23.2", "onnxscript==0.7.2"],
    "timm": ["timm==1.0.31", "torch==2.13.0", "numpy==2.4.6"],
    "paddle": ["paddlepaddle==2.6.2", "numpy==1.26.4", "setuptools==65.5.0"],
    "paddle3": ["paddlepaddle==3.3.1", "numpy==2.4.6", "setuptools==80.9.0"],
    "onnxruntime": ["onnxruntime-training==1.19.2", "onnx==1.17.0", "torch==2.13.0", "numpy==1.26.4"],
    "onnxruntime-inference": ["onnxruntime==1.32.0", "numpy==2.4.6"],
    "jax": ["jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"],
    "tensorflow": ["tensorflow-cpu==2.21.0", "numpy==2.4.6"],
}


class Peer(NamedTuple):
    """How to run a workload: an environment of PACKAGES and a script in peers/ with its arguments and environment variables."""

    environment: str
    script: str
    arguments: Sequence[str] = ()
    variables: Sequence[str] = ()  # NAME=value


# glibc then keeps freed memory for the next step, and returns none to the system.
KEEPS_MEMORY = ["MALLOC_MMAP_THRESHOLD_=4294967295", "MALLOC_TRIM_THRESHOLD_=17179869184", "MALLOC_TOP_PAD_=268435456"]

PEERS: dict[str, Peer] = {
    "torch eager": Peer("torch", "torch_eager.py"),
    "torch.compile": Peer("torch", "torch_eager.py", ["--compile"]),
    "torch channels last": Peer("torch", "torch_eager.py", ["--channels-last"], KEEPS_MEMORY),
    "torch.compile channels last": Peer("torch", "torch_eager.py", ["--channels-last", "--compile"], KEEPS_MEMORY),
    "paddle static": Peer("paddle", "paddle_static.py"),
    "paddle 3 static": Peer("paddle3", "paddle_static.py"),
    "onnxruntime training": Peer("onnxruntime", "onnxruntime_training.py"),
    "jax.jit": Peer("jax", "jax_jit.py"),
    "tf.function": Peer("tensorflow", "tensorflow_function.py"),
    "tf.function jit": Peer("tensorflow", "tensorflow_function.py", ["--jit"]),
    "torch AveragedModel": Peer("torch", "torch_averaging.py"),
    "timm ModelEmaV3": Peer("timm", "torch_averaging.py"),
    "paddle averages": Peer("paddle", "paddle_averaging.py"),
    "torch.save": Peer("torch", "torch_files.py"),
    "torch.optim fused": Peer("torch", "torch_optimizers.py"),
    "keras use_ema": Peer("tensorflow", "keras_averaging.py"),
    "keras use_ema jit": Peer("tensorflow", "keras_averaging.py", ["--jit"]),
}


class NotInstalled(Exception):
    """The reason why an environment could not be created."""


def is_made(environment: str) -> bool:
    """Whether the environment exists with the packages that are listed now."""
    made_of = FOLDER / environment / "made-of.txt"
    return made_of.exists() and made_of.read_text() == "\n".join(PACKAGES[environment])


def python_of(environment: str) -> Path:
    """The interpreter of an environment, which is created first, or recreated if its list has changed."""
    folder = FOLDER / environment
    python = folder / "bin" / "python"
    if is_made(environment):
        return python
    print(f"== installing {', '.join(PACKAGES[environment])}", file=sys.stderr)
    _call([sys.executable, "-m", "venv", "--clear", str(folder)])
    _call([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[environment]])
    (folder / "made-of.txt").write_text("\n".join(PACKAGES[environment]))
    return python


def command_of(name: str) -> list[str]:
    """The command line that starts a peer's process."""
    peer = PEERS[name]
    script = Path(__file__).parent / "peers" / peer.script
    return [*(["env", *peer.variables] if peer.variables else []), str(python_of(peer.environment)), str(script), *peer.arguments]


def compiled(source: Path, *options: str) -> list[str]:
    """The command line of a C program, compiled for this machine; `options` of gcc, after the source."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / source.stem
    # With that pass, gcc would replace a loop that copies by a call of memcpy.
    _call(
        [
            "gcc",
            "-O3",
            "-march=native",
            "-fno-tree-loop-distribute-patterns",
            "-fopenmp",
            "-o",
            str(program),
            str(source),
            *options,
        ]
    )
    return [str(program)]


def _call(command: list[str]) -> None:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        raise NotInstalled(str(error)) from None
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith("WARNING")]
        raise NotInstalled(lines[-1] if lines else f"{command[0]} failed")
