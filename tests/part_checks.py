# Checks that an operator that runs on parts gives the same bits: tiles, ranges of elements, entries of a batch.
from __future__ import annotations

import os
from typing import Any
from unittest import mock

import numpy as np

import paddle_mini as pm
from facts import listed
from paddle_mini import _core
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, Rows, array_of, each
from schema_checks import bits, cases_and_gradients

LARGE = 5_003  # elements: three tiles, the last one short


def check_tiles(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> bool:
    """tiled: tile by tile with another operator it gives the same bits as alone. False: the case has only one tile."""
    size = array_of(listed(inputs["Param"])[0]).size
    if size < 2 or any(isinstance(value, Rows) for value in inputs.values()):
        return False
    large = {port: np.resize(value, LARGE) if value.size == size else value for port, value in inputs.items()}
    read = "Grad" if "Grad" in inputs else "Param"

    def made(fuse: str) -> dict[str, bytes]:
        one = OneOp(op_type, large, attrs, counts)
        one.put("zeros", np.zeros(LARGE, large[read].dtype))
        one.put("rate", np.ones(1, large[read].dtype))
        name = one.arguments[read][0]
        one.block.prepend_op("sgd", {"Param": name, "Grad": "zeros", "LearningRate": "rate"}, {"ParamOut": name})
        with mock.patch.dict(os.environ, PM_FUSE=fuse):
            parts = f"in parts with it: {op_type}" in one.executor.plan_text(one.program, scope=one.scope)
            assert parts == (fuse == "1"), "the plan has other parts"
            one.executor.run(one.program, scope=one.scope)
        return {name: one.scope.get(name).tobytes() for name in sorted(one.written)}

    assert made("1") == made("0"), "in parts there are other bits"
    return True


def check_ranges(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> bool:
    """elementwise: on ranges of a few elements it gives the same bits. False: the next operator of the case is a cast."""
    expected = bits(OneOp(op_type, inputs, attrs, counts, aliased=False).run())
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    (name,) = one.written
    one.block.append_op("scale", {"X": name}, {"Out": "scaled"}, {"scale": 1.0})
    with mock.patch.dict(os.environ, PM_PASSES="epilogues"):
        if "in parts with it: scale" not in one.executor.plan_text(one.program, scope=one.scope):
            return False
        _core.set_epilogue_tile(3)
        try:
            assert bits(one.run()) == expected, "on ranges there are other bits"
        finally:
            _core.set_epilogue_tile()
    return True


def check_batch(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> bool:
    """splits_batch, and elementwise operators: parts of a batch have the same bits. False: the case has no batch."""
    schema = op_schema(op_type)
    if any(isinstance(item, (Rows, pm.LoDTensor)) for value in inputs.values() for item in listed(value)):
        return False
    outputs = _run(op_type, inputs, attrs, counts)

    def is_split(port: str, value: Any) -> bool:
        like_output = schema["elementwise"] and any(array_of(item).size == outputs[0].size for item in listed(value))
        return port in schema["splits_batch"] or like_output

    split = {port for port, value in inputs.items() if is_split(port, value)}
    arrays = [*outputs, *(array_of(item) for port in split for item in listed(inputs[port]))]
    sizes = {array.shape[0] if array.ndim else 0 for array in arrays}
    if not split or len(sizes) > 1 or max(sizes) < 2:
        return False
    (entries,) = sizes
    found = False
    for count in sorted({1, max(n for n in range(1, entries) if entries % n == 0)}):
        parts = [
            {
                port: each({port: value}, lambda item, at=at: item[at : at + count])[port] if port in split else value
                for port, value in inputs.items()
            }
            for at in range(0, entries, count)
        ]
        try:
            computed = [_run(op_type, part, attrs, counts) for part in parts]
        except (pm.ShapeError, pm.ProgramError):  # an attribute or another input has the size of the whole batch
            continue
        if any(array.shape != (count, *one.shape[1:]) for part in computed for array, one in zip(part, outputs, strict=True)):
            continue
        joined = [np.concatenate(pieces) for pieces in zip(*computed, strict=True)]
        assert bits(dict(enumerate(joined))) == bits(dict(enumerate(outputs))), f"{count} entries at a time: other bits"
        found = True
    return found


def _run(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> list[np.ndarray]:
    found = OneOp(op_type, inputs, attrs, counts, aliased=False).run()
    return [array_of(value) for values in found.values() for value in listed(values)]


def check_all_tiles(op_type: str) -> None:
    if op_schema(op_type)["tiled"]:
        assert [check_tiles(*case) for case in cases_and_gradients(op_type)].count(True) > 0, "no case has parts"


def check_all_ranges(op_type: str) -> None:
    if op_schema(op_type)["elementwise"] and not op_schema(op_type)["checks_data"]:
        assert [check_ranges(*case) for case in cases_and_gradients(op_type)].count(True) > 0, "no case has ranges"


def check_all_batches(op_type: str) -> None:
    """For each case of an operator that splits a batch, and for one of an elementwise operator: that its elements do not depend
    on each other is asked elsewhere."""
    schema = op_schema(op_type)
    if schema["splits_batch"] or schema["elementwise"]:
        with mock.patch.dict(os.environ, PM_PASSES=""):
            checked = (check_batch(*case) for case in cases_and_gradients(op_type))
            assert any(list(checked) if schema["splits_batch"] else checked), "no case has a batch"


def check_parts_of_product(op_type: str) -> None:
    """stores_parts: elementwise operators run on parts of its output."""
    x = np.ones((40, 40), "float32")
    one = OneOp(op_type, {"X": x, "Y": x}, {})
    one.block.append_op("relu", {"X": "out_Out_0"}, {"Out": "above_0"})
    with mock.patch.dict(os.environ, PM_PASSES="epilogues"):  # without constants, which are computed once
        assert "in parts with it: relu" in one.executor.plan_text(one.program, scope=one.scope)
        assert one.run()["Out"].tolist() == (x @ x).tolist()
