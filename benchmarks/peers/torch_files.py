# PyTorch: torch.save of a dict of tensors, with fsync as a file of paddle_mini has it, and torch.load.
import os
import tempfile
from pathlib import Path

import torch

import workloads
from worker import serve

folder = tempfile.TemporaryDirectory(dir=Path(__file__).parent.parent.parent / "build" / "bench")
PATH = Path(folder.name) / "state.pt"


def write():
    state = {name: torch.from_numpy(array) for name, array in workloads.state().items()}

    def run(steps):
        for _ in range(steps):
            with PATH.open("wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
        return 0.0

    return run


def read():
    write()(1)

    def run(steps):
        for _ in range(steps):
            torch.load(PATH)
        return 0.0

    return run


serve({"torch_write": write, "torch_read": read})
