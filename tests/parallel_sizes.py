"""Writes tests/parallel_sizes.json: from about how many elements on the CPU kernel of each operator uses several threads.

Runs the cases of each operator's test with inputs tiled to a large size, while loops of any length are split, and asks the
pool for the expected time of the longest loop that was split (cpp/core/parallel.h). Arguments: the operators to measure; all by
default. docs/make_operators.py measures new ones.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

import paddle_mini as pm
from facts import all_facts, cases_of, listed
from paddle_mini import _core
from paddle_mini.testing.one_op import OneOp, Rows, array_of, each
from split_loops import threads

FILE = pathlib.Path(__file__).with_suffix(".json")
LEFT_OUT = {"print", "save", "load"}
LARGE, LARGEST = 10_000, 4_000_000  # elements of the largest input, or output, of a run
LEAST_LOOP = 20_000  # kLeastLoop of cpp/core/kernel.h, nanoseconds


def tiled(value: Any, times: int) -> Any:
    """`times` copies of a tensor, one after the other along its first axis."""
    if isinstance(value, Rows) or array_of(value).ndim == 0:
        return value
    numbers = np.concatenate([array_of(value)] * times)
    if not isinstance(value, pm.LoDTensor) or not value.lod:
        return numbers
    if len(value.lod) > 1:
        return value
    lengths = np.tile(np.diff(value.lod[0]), times)
    return pm.LoDTensor(numbers, [[0, *np.cumsum(lengths).tolist()]])


def enlarged(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The inputs with all of them tiled, with those as long as the largest one, or with that one alone."""
    arrays = [array_of(item) for value in inputs.values() for item in listed(value)]
    largest = max(arrays, key=lambda numbers: numbers.size, default=np.zeros(0))
    if largest.ndim == 0 or largest.size == 0:
        return
    times = math.ceil(LARGE / largest.size)

    def grow(fits: Any) -> dict[str, Any]:
        return each(inputs, lambda item: tiled(item, times) if fits(array_of(item)) else item)

    yield grow(lambda numbers: True)
    yield grow(lambda numbers: numbers.shape[:1] == largest.shape[:1])
    yield grow(lambda numbers: numbers is largest or numbers.shape == largest.shape)


def longest_loop(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> tuple[int, float]:
    """Elements of the largest input or output, and nanoseconds of the longest loop that was split."""
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    shapes = [one.block.var(name).shape for name in one.written]
    if any(math.prod(shape) > LARGEST for shape in shapes):
        raise pm.ShapeError("too large")
    with threads(8):
        _core.take_longest_split_loop()
        found = one.run()
        time = _core.take_longest_split_loop()
    values = [*one.values.values(), *(item for value in found.values() for item in listed(value))]
    return max((array_of(value).size for value in values), default=0), time


def rounded(elements: float) -> int:
    """To one of 1, 2 and 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(max(elements, 1)))
    return int(min((1, 2, 5, 10), key=lambda digit: abs(math.log(elements / (digit * power)))) * power)


def size_of(op_type: str) -> int | bool:
    """The smallest size of any case; True: not known, because no case can be enlarged; False: no loop is split."""
    split, sizes = False, []
    for _, inputs, attrs, counts, _ in cases_of(op_type):
        for larger in enlarged(inputs):
            try:
                elements, time = longest_loop(op_type, larger, attrs, counts)
            except pm.Error:
                continue
            if time > 0 and elements >= LARGE:
                sizes.append(elements * LEAST_LOOP / time)
                break
        else:
            split = split or longest_loop(op_type, inputs, attrs, counts)[1] > 0
    return rounded(max(min(sizes), 1)) if sizes else split


def measured() -> Iterator[str]:
    return iter(sorted(set(all_facts()) - LEFT_OUT))


def update(again: Container[str] = ()) -> None:
    """Measures the operators that the file does not have, and those of `again`; removes those that no longer exist."""
    stored = json.loads(FILE.read_text())
    wanted = {name: size_of(name) if name in again or name not in stored else stored[name] for name in measured()}
    FILE.write_text(json.dumps(wanted, indent=1) + "\n")


if __name__ == "__main__":
    update(sys.argv[1:] or list(measured()))
