# paddle-mini convert: writes the parameters of one file to another, or an ONNX model as a program.
from __future__ import annotations

import argparse

import paddle_mini as pm

from .._core import printable

FORMATS = (".pdparams", ".safetensors")
MODEL, ONNX = ".pdmodel", ".onnx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads .safetensors, .pdparams, .pdopt, or PREFIX.pdiparams, whose names are in PREFIX.pdmodel beside it. Writes "
        + " or ".join(FORMATS)
        + ". Reads also .onnx, and writes PREFIX.pdmodel and PREFIX.pdiparams."
    )
    parser.add_argument("source", metavar="FROM")
    parser.add_argument("target", metavar="TO", help="is replaced if it exists")
    parser.set_defaults(command=_convert)


def _convert(arguments: argparse.Namespace) -> None:
    source, target = arguments.source, arguments.target
    formats = (MODEL,) if source.endswith(ONNX) else FORMATS
    if not target.endswith(formats):
        raise pm.ProgramError(f"'{printable(target)}': the file name must end with {' or '.join(formats)}")
    if source.endswith(ONNX):
        _convert_model(source, target)
        return
    state = pm.io.load_state(source)
    pm.io.save_state(target, state)
    print(f"{len(state)} arrays in {printable(target)}")


def _convert_model(source: str, target: str) -> None:
    scope = pm.Scope()
    program, feeds, fetches = pm.onnx.load(source, scope)
    pm.io.save_inference_model(target.removesuffix(MODEL), feeds, fetches, program=program, scope=scope)
    print(f"{len(program.global_block().ops)} operators in {printable(target)}; feed {', '.join(map(printable, feeds))}")
