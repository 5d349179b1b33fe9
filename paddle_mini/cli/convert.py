# paddle-mini convert: writes the parameters of one file to another, or a model in another format.
from __future__ import annotations

import argparse
import os

import paddle_mini as pm

from .._core import printable

FORMATS = (".pdparams", ".safetensors")
MODEL, ONNX = ".pdmodel", ".onnx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads .safetensors, .pdparams, .pdopt, or PREFIX.pdiparams, whose names are in PREFIX.pdmodel beside it. Writes "
        + " or ".join(FORMATS)
        + ". From PREFIX.onnx it writes PREFIX.pdmodel and PREFIX.pdiparams, from these PREFIX.onnx."
    )
    parser.add_argument("source", metavar="FROM")
    parser.add_argument("target", metavar="TO", help="is replaced if it exists")
    parser.set_defaults(command=_convert)


def _convert(arguments: argparse.Namespace) -> None:
    source, target = arguments.source, arguments.target
    formats = {ONNX: (MODEL,), MODEL: (ONNX,)}.get(os.path.splitext(source)[1], FORMATS)
    if not target.endswith(formats):
        raise pm.ProgramError(f"'{printable(target)}': the file name must end with {' or '.join(formats)}")
    if source.endswith(ONNX):
        _read_onnx(source, target)
        return
    if source.endswith(MODEL):
        _write_onnx(source, target)
        return
    state = pm.io.load_state(source)
    pm.io.save_state(target, state)
    print(f"{len(state)} arrays in {printable(target)}")


def _read_onnx(source: str, target: str) -> None:
    scope = pm.Scope()
    program, feeds, fetches = pm.onnx.load(source, scope)
    pm.io.save_inference_model(target.removesuffix(MODEL), feeds, fetches, program=program, scope=scope)
    print(f"{len(program.global_block().ops)} operators in {printable(target)}; feed {', '.join(map(printable, feeds))}")


def _write_onnx(source: str, target: str) -> None:
    scope = pm.Scope()
    program, feeds, fetches = pm.io.load_inference_model(source, scope=scope)
    pm.onnx.export(program, target, feeds, fetches, scope)
    print(f"{len(program.global_block().ops)} operators in {printable(target)}; feed {', '.join(map(printable, feeds))}")
