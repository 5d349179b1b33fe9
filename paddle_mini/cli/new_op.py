# paddle-mini new-op NAME: writes the C++ file of an operator and its test, which pass as they are written.
from __future__ import annotations

import argparse
from pathlib import Path

from .. import _core
from .._core import ProgramError
from ..own_operators.registry import require_operator_name

_SOURCE = """// {name}: Out = scale X^2
#include "ops/family/unary.h"

namespace paddle_mini {{
namespace {{

// V is a number or a register of them. math/number.h lists the functions that it has.
struct Function {{
  float scale;

  explicit Function(const KernelInit& init) : scale(init.attr<float>("scale")) {{}}

  template <class V>
  PM_HD V operator()(V x) const {{
    return V(scale) * x * x;
  }}
{gradient}}};

}}  // namespace

void define_{name}(OpTable& ops) {{
  OpSchema schema = unary("{name}");
  schema.doc("Out = scale X^2, element by element.").attr("scale", 1.0f, "factor of the square");
{registered}}}

}}  // namespace paddle_mini
"""
_GRADIENT = """  // X@GRAD from X and Out@GRAD.
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return V(2 * scale) * x * gradient;
  }
"""
_WITH_GRADIENT = """  add_unary<Function, Saved::X>(ops, schema, "X@GRAD = 2 scale X Out@GRAD.");
"""
_WITHOUT_GRADIENT = """  schema.no_gradient("it is not written yet").kernels<UnaryKernel<Function>::For, float, double>();
  ops.add(schema);
"""
_TEST = '''"""{name}: Out = scale X^2. Run it with pytest."""

from pathlib import Path

import paddle_mini as pm
from paddle_mini.testing import array, ints, op_tests

pm.load_op(Path(__file__).with_name("{name}.cc"))

test_{name} = op_tests(
    "{name}",
    lambda inputs, attrs: {{"Out": attrs["scale"] * inputs["X"] ** 2}},
    cases={{"matrix": ({{"X": array(3, 4)}}, {{}}), "scaled": ({{"X": array(5)}}, {{"scale": -0.5}})}},
{gradients}    refusals={{"integers": ({{"X": ints(2)}}, {{}}, pm.Error, "int64")}},
)
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the operator; NAME.cc and test_NAME.py are written")
    parser.add_argument("--gradient", action="store_true", help="with a gradient")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the files are written; by default, here")
    parser.set_defaults(command=_new_op)


def _new_op(arguments: argparse.Namespace) -> None:
    name: str = arguments.name
    require_operator_name(name, name)
    if name in _core.op_types():
        raise ProgramError(f"operator '{name}' exists already: choose another name")
    with_gradient: bool = arguments.gradient
    source = _SOURCE.format(
        name=name, gradient=_GRADIENT if with_gradient else "", registered=_WITH_GRADIENT if with_gradient else _WITHOUT_GRADIENT
    )
    test = _TEST.format(name=name, gradients='    gradients=["X"],\n' if with_gradient else "")
    files = {arguments.folder / f"{name}.cc": source, arguments.folder / f"test_{name}.py": test}
    for path in files:
        if path.exists():
            raise ProgramError(f"{path} exists already; nothing is written")
    for path, text in files.items():
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
        print(path)
