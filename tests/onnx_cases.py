# The cases of the onnx package, of single nodes and of models, and what this runtime makes of them.
from __future__ import annotations

import collections
import dataclasses
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper
from onnx.backend.test.runner import Runner

import paddle_mini as pm


class Outcome(NamedTuple):
    """kind: passed, refused (load says what it cannot express) or failed."""

    name: str
    kind: str
    reason: str
    operators: frozenset[str]


# Their numbers are those of another generator: only shapes and types are compared.
RANDOM = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


@cache
def node_cases() -> list[Any]:
    """The cases of package onnx, for which it computes inputs and results while it collects them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return collect_testcases(None)


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _as_fed(value: Any) -> Any:
    return value.view(np.uint16) if getattr(value, "dtype", None) is not None and value.dtype.name == "bfloat16" else value


def run_case(case: Any, folder: Any) -> Outcome:
    """Loads the model of a case and compares its results; inputs that must be constant are given to load."""
    operators = frozenset(node.op_type for node in case.model.graph.node)
    path = folder / "model.onnx"
    try:
        path.write_bytes(case.model.SerializeToString())
    except ValueError as error:
        return Outcome(case.name, "refused", str(error), operators)
    if any(value is None or isinstance(value, (list, dict)) for data in case.data_sets[0] for value in data):
        return Outcome(case.name, "refused", "element type: sequence or optional", operators)
    weights = {tensor.name for tensor in case.model.graph.initializer}  # early models list them as inputs too
    names = [info.name for info in case.model.graph.input if info.name not in weights]
    fixed: dict[str, Any] = {}
    inputs, _ = case.data_sets[0]
    values = dict(zip(names, map(_array, inputs)))
    while True:
        scope = pm.Scope()
        try:
            program, feeds, fetches = pm.onnx.load(path, scope, fixed)
            break
        except pm.Error as error:
            # Axes, shapes and scales are inputs of most graphs, where models have constants.
            small = {name: value for name, value in values.items() if np.ndim(value) <= 1 and np.size(value) <= 16}
            if "must be constant" not in str(error) or fixed or not small:
                return Outcome(case.name, "refused", str(error), operators)
            fixed = small
    try:
        return Outcome(case.name, *_compare(case, program, feeds, fetches, values, scope), operators)
    except (pm.Error, ValueError, TypeError) as error:
        return Outcome(case.name, "failed", str(error), operators)


def _compare(case: Any, program: Any, feeds: Any, fetches: Any, values: Any, scope: Any) -> tuple[str, str]:
    executor = pm.Executor()
    for inputs, outputs in case.data_sets:
        values.update(zip(values, map(_array, inputs)))
        found = executor.run(program, {name: _as_fed(values[name]) for name in feeds}, fetches, scope=scope)
        for name, is_value, must in zip((var.name for var in fetches), found, map(_array, outputs)):
            value, must = np.asarray(is_value), _as_fed(np.asarray(must))
            if value.shape != must.shape or value.dtype != must.dtype:
                return "failed", f"{name} is {value.shape} {value.dtype}, it must be {must.shape} {must.dtype}"
            if any(node.op_type in RANDOM for node in case.model.graph.node):
                continue
            # 16-bit floats differ by the rounding of sums in another order, zeros by that of the largest elements.
            largest = np.abs(must[np.isfinite(must)]).max(initial=1) if must.dtype.kind == "f" else 1
            atol = 1e-3 if value.dtype == np.float16 else max(case.atol, 1e-7 * largest)
            if not np.allclose(value, must, rtol=max(case.rtol, 1e-3), atol=atol, equal_nan=True):
                return "failed", f"{name} differs"
    return "passed", ""


def by_operator(outcomes: Iterable[Outcome]) -> dict[str, list[int]]:
    """For each operator that load knows: the cases that pass, and all with known operators and element types."""
    known, counts = frozenset(pm.onnx.supported_operators()), collections.defaultdict(lambda: [0, 0])
    for outcome in outcomes:
        if outcome.operators <= known and "element type" not in outcome.reason:
            for name in outcome.operators:
                counts[name][0] += outcome.kind == "passed"
                counts[name][1] += 1
    return dict(sorted(counts.items()))


@cache
def model_cases() -> list[Any]:
    """The models that package onnx ships: small ones with their inputs and results, and networks for pictures, whose weights are
    constants and whose input the package defines."""
    from onnx.backend.test.loader import load_model_tests

    cases = [case for kind in MODEL_KINDS for case in load_model_tests(kind=kind)]
    return [_network(case) if case.url else _from_folder(case) for case in cases]


MODEL_KINDS = ("simple", "pytorch-converted", "pytorch-operator", "real")


def _from_folder(case: Any) -> Any:
    folder = Path(case.model_dir)
    sets = [tuple(_values(part, kind) for kind in ("input", "output")) for part in sorted(folder.glob("test_data_set_*"))]
    return dataclasses.replace(case, model=onnx.load(folder / "model.onnx"), data_sets=sets)


def _values(folder: Path, kind: str) -> list[Any]:
    """Tensors; None for a value of another kind."""
    found = []
    for number in range(len(list(folder.glob(f"{kind}_*.pb")))):
        tensor = onnx.TensorProto()
        try:
            tensor.ParseFromString((folder / f"{kind}_{number}.pb").read_bytes())
            found.append(_array(tensor))
        except (DecodeError, TypeError, ValueError):
            found.append(None)
    return found


def _network(case: Any) -> Any:
    file = Path(onnx.__file__).parent.parent / case.url
    model, output = onnx.load(file), onnx.TensorProto()
    output.ParseFromString(file.with_name(f"{file.stem}_output_0.pb").read_bytes())
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [info for info in model.graph.input if info.name not in weights]
    values = [Runner.generate_dummy_data(info, seed=0, name=case.model_name, random=False) for info in inputs]
    return dataclasses.replace(case, model=model, data_sets=[(values, [_array(output)])])
