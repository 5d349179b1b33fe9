"""beam_search: the best candidates of each source; rows and sequences depend on data."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    """Sorts all candidates of a source: scores of these cases differ."""
    scores, lod = inputs["scores"].array, inputs["scores"].lod
    n = len(scores)
    scores = scores.reshape(n, scores.shape[1])
    ids = np.asarray(getattr(inputs.get("ids"), "array", inputs.get("ids", np.tile(np.arange(scores.shape[1]), (n, 1))))).reshape(
        scores.shape
    )
    before, last = (np.asarray(getattr(inputs[port], "array", inputs[port])).reshape(-1) for port in ("pre_scores", "pre_ids"))
    high = lod[attrs["level"]]
    for level in lod[attrs["level"] + 1 :]:
        high = [level[i] for i in high]
    out = [[] for _ in range(n)]
    for a, b in itertools.pairwise(high):
        items = []
        for row in range(a, b):
            if last[row] == attrs["end_id"]:
                items.append((before[row], row, attrs["end_id"]))
                continue
            for k, score in enumerate(scores[row]):
                items.append((score if attrs["is_accumulated"] else before[row] + np.log(score), row, ids[row, k]))
        items = sorted(items, key=lambda item: -item[0])[: attrs["beam_size"]]
        if not all(item[2] == attrs["end_id"] == last[item[1]] for item in items):
            for item in items:
                out[item[1]].append(item)
    chosen = [item for row in out for item in row]
    lod = [list(high), np.cumsum([0, *map(len, out)]).tolist()]
    return {
        "selected_ids": pm.LoDTensor(np.array([item[2] for item in chosen], "int64").reshape(-1, 1), lod),
        "selected_scores": pm.LoDTensor(np.array([item[0] for item in chosen], "float64").reshape(-1, 1), lod),
        "parent_idx": np.array([item[1] for item in chosen], "int32"),
    }


def prefixes(*lod, k=3, last=None, ids=True, low=0.1):
    n = lod[-1][-1]
    inputs = {
        "pre_ids": np.array(last if last is not None else [5] * n, "int64").reshape(-1, 1),
        "pre_scores": array(n, 1, seed=1),
        "scores": pm.LoDTensor(array(n, k, low=low), [list(level) for level in lod]),
    }
    return {**inputs, "ids": ints(n, k, high=50)} if ids else inputs


ATTRS = {"level": 0, "beam_size": 2, "end_id": 0}

test_beam_search = op_tests(
    "beam_search",
    reference,
    cases={
        "first step": (prefixes([0, 1, 2], [0, 1, 2]), ATTRS),
        "second step": (prefixes([0, 2, 4], [0, 1, 2, 3, 4]), ATTRS),
        "rows grouped twice": (prefixes([0, 1, 3], [0, 2, 3, 4]), {**ATTRS, "beam_size": 3}),
        "level 1": (prefixes([0, 2], [0, 2, 5]), {**ATTRS, "level": 1}),
        "column numbers": (prefixes([0, 2, 4], k=5, ids=False), ATTRS),
        "probabilities": (prefixes([0, 2, 4]), {**ATTRS, "is_accumulated": False}),
        "one has ended": (prefixes([0, 2, 4], last=[5, 0, 0, 7]), ATTRS),
        "a source has ended": (prefixes([0, 2, 4], last=[0, 0, 3, 7]), ATTRS),
        "all have ended": (prefixes([0, 2, 4], last=[0, 0, 0, 0]), ATTRS),
        "a source without prefixes": (prefixes([0, 0, 2]), ATTRS),
        "more beams than candidates": (prefixes([0, 1]), {**ATTRS, "beam_size": 10}),
        "one element": (prefixes([0, 1], k=1), {**ATTRS, "beam_size": 1}),
        "no rows": (prefixes([0, 0]), ATTRS),
        "no candidates": (prefixes([0, 2], k=0), ATTRS),
    },
    refusals={
        "no lod": ({**prefixes([0, 2]), "scores": array(2, 3)}, ATTRS, pm.ShapeError, "scores no sequences (lod)"),
        "level too deep": (prefixes([0, 2]), {**ATTRS, "level": 1}, pm.ShapeError, "'level' 1"),
        "negative level": (prefixes([0, 2]), {**ATTRS, "level": -1}, pm.ProgramError, "level"),
        "no beams": (prefixes([0, 2]), {**ATTRS, "beam_size": 0}, pm.ProgramError, "beam_size"),
        "too few scores": ({**prefixes([0, 2]), "pre_scores": array(1, 1)}, ATTRS, pm.ShapeError, "pre_scores [1, 1]"),
        "other ids": ({**prefixes([0, 2]), "ids": ints(2, 2)}, ATTRS, pm.ShapeError, "ids [2, 2]"),
        "float ids": ({**prefixes([0, 2]), "pre_ids": array(2, 1)}, ATTRS, pm.ShapeError, "pre_ids float64"),
    },
    open_shapes=True,
)


@pytest.mark.parametrize(
    "beam_size, ids, offsets",
    [
        (1, [6], [0, 0, 1]),
        (2, [4, 6], [0, 0, 2]),
        (3, [4, 5, 6], [0, 0, 3]),
        (4, [1, 4, 5, 6], [0, 1, 4]),
        (6, [1, 2, 3, 4, 5, 6], [0, 3, 6]),
    ],
)
def test_of_equal_scores_the_later_row_and_a_full_beam_ends_with_the_last(beam_size, ids, offsets):
    inputs = {
        "pre_ids": np.array([[5], [5]]),
        "pre_scores": np.zeros((2, 1), "float32"),
        "scores": pm.LoDTensor(np.ones((2, 3), "float32"), [[0, 2]]),
        "ids": np.array([[1, 2, 3], [4, 5, 6]]),
    }
    found = run_op("beam_search", inputs, {**ATTRS, "beam_size": beam_size})
    np.testing.assert_array_equal(found["selected_ids"].array.reshape(-1), ids)
    assert found["selected_ids"].lod == [[0, 2], offsets]


def test_not_a_number_is_no_crash():
    inputs = prefixes([0, 2])
    for port in ("pre_scores", "scores"):
        value = inputs[port]
        full = np.full(getattr(value, "array", value).shape, np.nan, "float32")
        inputs[port] = pm.LoDTensor(full, value.lod) if isinstance(value, pm.LoDTensor) else full
    assert len(run_op("beam_search", inputs, ATTRS)["selected_ids"].array) == 2
