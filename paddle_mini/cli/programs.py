# Programs, feeds and fetches of the subcommands that run or show programs.
from __future__ import annotations

import tokenize
from typing import Any

import numpy as np

import paddle_mini as pm

from .._core import printable
from ..feeds import bfloat16_values
from ..io.model import fetch_names
from ..io.regular_files import open_regular


def read_program(prefix: str) -> pm.Program:
    program = pm.io.read_program(prefix)
    program.handle()  # verified before it is used or shown
    return program


def read_feeds(pairs: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    feeds = {}
    for name, path in pairs:
        if name in feeds:
            raise pm.ProgramError(f"--feed has '{printable(name)}' twice")
        with open(path, "rb", opener=open_regular) as file:
            if file.read(6) != b"\x93NUMPY":
                raise pm.ProgramError(f"'{path}' is not an .npy file")
            file.seek(0)
            try:
                feeds[name] = np.load(file, allow_pickle=False)
            except (ValueError, MemoryError) as error:
                raise pm.ProgramError(f"'{path}': {error}") from None
            except (TypeError, tokenize.TokenError) as error:  # NumPy lets these through
                raise pm.ProgramError(f"'{path}': the header is malformed: {error}") from None
    return feeds


def fetches_of(program: pm.Program, arguments: list[str]) -> list[str]:
    names = [name for item in arguments for name in item.split(",")]
    return names or fetch_names(program)


def short(value: Any) -> str:
    flat = bfloat16_values(np.ravel(value.to_dense() if isinstance(value, pm.SelectedRows) else value))
    shown = [f"{item:.7g}" if flat.dtype.kind == "f" else str(item) for item in flat[:6]]
    return " ".join(shown + ["…"] if flat.size > 6 else shown)
