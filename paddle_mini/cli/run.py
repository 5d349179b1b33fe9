# paddle-mini run: runs a saved program once.
from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np

import paddle_mini as pm

from .._core import printable, write_files
from ..feeds import bfloat16_values, element_type
from .options import EPILOG, add_json, add_program_options, print_json
from .programs import fetches_of, read_feeds, short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_program_options(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write what is fetched to DIR/NAME.npy")
    add_json(parser)
    parser.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> None:
    scope = pm.Scope()
    program = pm.io.load_program(arguments.prefix, scope)
    fetches = fetches_of(program, arguments.fetch)
    if not fetches:
        raise pm.ProgramError("the program has no fetch operators: name its outputs with --fetch")
    if arguments.out:
        _require_distinct_files(fetches)
    exe = pm.Executor(pm.CPUPlace(), max_loop_steps=arguments.max_loop_steps)
    values = exe.run(program, read_feeds(arguments.feed), fetches, scope)
    arrays = [value.to_dense() if isinstance(value, pm.SelectedRows) else np.asarray(value) for value in values]
    if arguments.json:
        print_json({name: _facts(array) for name, array in zip(fetches, arrays)})
    for name, array in zip(fetches, arrays):
        if not arguments.json:
            print(f"{printable(name)} {list(array.shape)} {element_type(array.dtype)}  {short(array)}")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        files = {f"{_file_name(name)}.npy": array for name, array in zip(fetches, arrays)}
        write_files([(str(arguments.out / name), _npy_pieces(array)) for name, array in files.items()])


def _npy_pieces(array: np.ndarray) -> list[Any]:
    """An .npy file: its header, and the elements where they are."""
    header, elements = io.BytesIO(), np.ascontiguousarray(array).reshape(array.shape)
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(elements))
    return [header.getvalue(), elements]


def _facts(array: np.ndarray) -> dict[str, Any]:
    return {"shape": list(array.shape), "dtype": element_type(array.dtype), "values": bfloat16_values(array).tolist()}


def _require_distinct_files(names: list[str]) -> None:
    variables: dict[str, str] = {}
    for name in names:
        other = variables.setdefault(_file_name(name), name)
        if other != name:
            raise pm.ProgramError(
                f"--out would write '{printable(other)}' and '{printable(name)}' to one file, {printable(_file_name(name))}.npy: "
                "fetch them in two runs, with --fetch"
            )


def _file_name(name: str) -> str:
    """A variable's name is never a path."""
    plain = name.replace("/", "_").replace("\0", "_")
    return "_" if plain in (".", "..") else plain
