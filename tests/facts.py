# The facts that tests/ops state, for tests that ask something else about the same cases.
from __future__ import annotations

import importlib.util
import pathlib
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Tuple

import harness


@lru_cache(maxsize=None)
def all_facts() -> Dict[str, List[Any]]:
    """harness.FACTS, when every file of tests/ops has been read."""
    for path in sorted((pathlib.Path(__file__).resolve().parent / "ops").glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"facts_of_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return harness.FACTS


def cases_of(op_type: str) -> Iterator[Tuple[str, Dict[str, Any], Dict[str, Any], Dict[str, int], List[str]]]:
    """(name, inputs, attrs, {output: number of variables}, outputs that the reference gives). Floats are of the first
    type that the harness asks about."""
    for cases, reference, unchecked in all_facts()[op_type]:
        for name, (inputs, attrs) in cases.items():
            dtype = harness._dtypes_to_test(op_type, inputs)[0]
            cast = harness._each(inputs, lambda item, dtype=dtype: harness._cast(item, dtype))
            expected = reference(harness._each(cast, lambda item: harness._cast(item, "float64")),
                                 {**harness.defaults(op_type), **attrs})
            counts = {port: len(value) if isinstance(value, list) else 1 for port, value in expected.items()}
            counts.update({port: counts.get(port, 1) for port in unchecked})
            yield name, cast, attrs, counts, [port for port in counts if port not in unchecked]
