"""Programs as ONNX models, with inputs, and the results of this runtime: the cases of tests/ops, the golden programs, and the
chapters of the book."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paddle_mini as pm
from book_chapters import CHAPTERS, chapter_to_train
from facts import facts_of_ops
from golden.case_values import feed_of, load_npz, read_stream
from paddle_mini.onnx.writing import EXPORTERS
from paddle_mini.testing.one_op import OneOp, Rows, array_of, cast, each

# Outputs that ONNX's operators do not have; gradients read most of them.
FOR_GRADIENTS = {
    "DropoutState",
    "InnerCache",
    "MatchX",
    "MidOut",
    "Reserve",
    "ReserveSpace",
    "SavedMean",
    "SavedVariance",
    "XShape",
}
GOLDEN = Path(__file__).parent / "golden/cases"


class Exported(NamedTuple):
    """refusal: export's message, or "" if the file was written."""

    name: str
    path: str
    inputs: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    refusal: str


def operator_cases(folder: Path, opset: int = 18, most: int | None = None) -> Iterator[Exported]:
    """Exports the cases of each operator that has an exporter, in float32. most: the number of cases of an operator."""
    number = itertools.count()
    for op_type in sorted(set(facts_of_ops()) & set(EXPORTERS)):
        cases = [(facts, *case) for facts in facts_of_ops()[op_type] for case in facts.cases.items()]
        for facts, name, (inputs, attrs) in cases[:most]:
            made = _one_op(op_type, facts, inputs, attrs)
            if made is not None:
                one, names = made
                values = {given: array_of(value) for given, value in one.values.items() if given not in one.written}
                path = folder / f"{next(number)}.onnx"
                yield exported(f"{op_type}: {name}", path, one.program, values, names, one.scope, opset)


def by_operator(cases: Iterable[Exported]) -> dict[str, list[int]]:
    """For each operator that export knows: the cases that are written, and all."""
    counts: dict[str, list[int]] = {}
    for case in cases:
        count = counts.setdefault(case.name.split(":")[0], [0, 0])
        count[0] += not case.refusal
        count[1] += 1
    return counts


def _one_op(op_type: str, facts: Any, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """The operator in a program and the names of the outputs that its reference gives; None where ONNX has no such values, and
    for tensors without elements, for which ONNX Runtime does not have all operators."""
    items = [item for value in inputs.values() for item in (value if isinstance(value, list) else [value])]
    if any(isinstance(item, (Rows, pm.LoDTensor)) or array_of(item).size == 0 for item in items):
        return None
    inputs = each(inputs, lambda item: cast(item, "float32"))
    attrs = {**attrs, "is_test": True} if op_type in ("batch_norm", "dropout", "rnn") else attrs
    expected, counts = facts.expected(inputs, attrs)
    one = OneOp(op_type, inputs, attrs, counts, aliased=op_type == "batch_norm")  # its statistics must be in place
    ports = [port for port in expected if port not in {*facts.unchecked, *FOR_GRADIENTS}]
    return one, [name for port in ports for name in one.outputs[port] if name not in one.values]


def exported(
    name: str, path: Path, program: pm.Program, inputs: dict[str, Any], fetches: list[str], scope: pm.Scope, opset: int = 18
) -> Exported:
    test = program.clone(for_test=True).prune(list(inputs), fetches)
    results = pm.Executor().run(test, inputs, fetches, scope=scope)
    try:
        pm.onnx.export(program, path, list(inputs), fetches, scope, opset)
        refusal = ""
    except pm.Error as error:
        refusal = str(error)
    return Exported(name, str(path), inputs, dict(zip(fetches, results)), refusal)


def read_back(case: Exported) -> dict[str, np.ndarray]:
    """The results of the file in this runtime."""
    scope = pm.Scope()
    program, feeds, fetches = pm.onnx.load(case.path, scope)
    found = pm.Executor().run(program, {name: case.inputs[name] for name in feeds}, fetches, scope=scope)
    return {var.name: np.asarray(value) for var, value in zip(fetches, found)}


def difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: float = 1e-5) -> str:
    """The first output that differs, relative to its largest element; "" if none does."""
    for name, must in expected.items():
        value = found[name]
        if value.dtype != must.dtype or value.shape != must.shape:
            return f"{name} is {value.dtype} {value.shape}, it must be {must.dtype} {must.shape}"
        finite = must[np.isfinite(must)] if must.dtype.kind == "f" else must
        largest = max(float(np.abs(finite.astype("float64")).max(initial=0)), 1.0)
        if not np.allclose(value, must, rtol=0, atol=tolerance * largest, equal_nan=True):
            return f"{name} differs"
    return ""


def golden_models(folder: Path) -> Iterator[Exported]:
    """The golden programs that can be run for inference, at the values that they begin with."""
    for case in sorted(GOLDEN.iterdir()):
        meta = json.loads((case / "case.json").read_text())
        if meta["kind"] not in ("train", "infer", "op"):
            continue
        scope = pm.Scope()
        if meta.get("model"):
            content, at, values = (case / meta["params"]).read_bytes(), 0, {}
            for name in meta["param_order"]:
                values[name], _, used = read_stream(content, at)
                at += used
        else:
            values = load_npz(str(case / "init.npz")) if (case / "init.npz").exists() else {}
        for name, value in values.items():
            scope.set(name, value)
        program = pm.Program.from_bytes((case / (meta.get("model") or "main.pb")).read_bytes())
        given = feed_of(load_npz(str(case / "feeds.npz")), "0", meta.get("set_vars", ()))
        inputs = {name: pm.LoDTensor(*value) if isinstance(value, tuple) else value for name, value in given.items()}
        test = program.clone(for_test=True)
        computed = {name for op in test.global_block().ops for name in op.output_names}
        fetches = [name for name in meta["fetch"] if name in computed]
        read = {name for op in test.prune(list(inputs), fetches).global_block().ops for name in op.input_names}
        inputs = {name: value for name, value in inputs.items() if name in read}
        yield exported(case.name, folder / f"{case.name}.onnx", program, inputs, fetches, scope)


def book_models(folder: Path, monkeypatch: Any) -> Iterator[Exported]:
    """The losses of the chapters of the book, with the parameters as they are initialized."""
    for number, argv, rows in CHAPTERS:
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(main, startup):
            samples, feed_list, loss, _ = chapter_to_train(monkeypatch, number, *argv)
            inputs = pm.data.DataFeeder(feed_list).feed(next(pm.data.batch(samples.train, rows, drop_last=True)))
        pm.seed(1)
        pm.Executor().run(startup, scope=scope)
        name = "_".join([number, *argv[1:]])
        yield exported(name, folder / f"book_{name}.onnx", main, inputs, [loss.name], scope)
