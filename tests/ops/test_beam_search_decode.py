"""beam_search_decode: sentences traced back through the steps of a beam search."""

import numpy as np
import pytest

import paddle_mini as pm

END = 0


def decode(steps, beam_size=2, dtype="float32", scores=None):
    """steps: (ids, scores, lod) of each step."""
    program, feed = pm.Program(), {}
    block = program.global_block()
    for name in ("ids", "scores"):
        block.create_var(name, kind=13, dtype="int64" if name == "ids" else dtype)
    for i, (ids, values, lod) in enumerate(steps):
        for name, value, kind in (("ids", ids, "int64"), ("scores", values, dtype)):
            fed = block.create_var(f"{name}_{i}", shape=[-1, 1], dtype=kind, lod_level=2, need_check_feed=True)
            feed[fed.name] = pm.LoDTensor(np.array(value, kind).reshape(-1, 1), lod)
            at = block.create_var(f"at_{name}_{i}", shape=[1], dtype="int64")
            block.append_op("fill_constant", {}, {"Out": at}, {"shape": [1], "dtype": 3, "value": float(i)})
            block.append_op("write_to_array", {"X": fed, "I": at}, {"Out": name})
    for name, kind in (("sentence_ids", "int64"), ("sentence_scores", dtype)):
        block.create_var(name, shape=[-1], dtype=kind, lod_level=2)
    block.append_op(
        "beam_search_decode",
        {"Ids": "ids", "Scores": scores or "scores"},
        {"SentenceIds": "sentence_ids", "SentenceScores": "sentence_scores"},
        {"beam_size": beam_size, "end_id": END},
    )
    return pm.Executor().run(program, feed, ["sentence_ids", "sentence_scores"], scope=pm.Scope(), return_numpy=False)


# Two sources of two beams: the first continues prefixes 0 and 0, the second ends early.
STEPS = [
    ([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], [[0, 1, 2], [0, 2, 4]]),
    ([5, 6, 7, END], [0.5, 0.6, 0.7, 0.8], [[0, 2, 4], [0, 2, 2, 3, 4]]),
    ([8, END, END, 9], [0.9, 1.1, 0.8, 0.75], [[0, 2, 4], [0, 1, 2, 3, 4]]),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sentences_the_best_first(dtype):
    ids, scores = decode(STEPS, dtype=dtype)
    # Source 0: rows 0, 1 of the last step continue 5 and 6, both from word 1. Source 1: 3 7 end, and 4 end 9.
    assert ids.lod == scores.lod == [[0, 2, 4], [0, 3, 6, 9, 11]]
    np.testing.assert_array_equal(ids.array, [1, 6, END, 1, 5, 8, 3, 7, END, 4, 9])
    np.testing.assert_array_equal(scores.array, np.array([0.1, 0.6, 1.1, 0.1, 0.5, 0.9, 0.3, 0.7, 0.8, 0.4, 0.75], dtype))


def test_a_source_that_ended_early_and_a_repeated_end():
    steps = STEPS[:2] + [([8, END], [0.9, 1.1], [[0, 2, 4], [0, 1, 2, 2, 2]])]
    ids, _ = decode(steps)
    assert ids.lod == [[0, 2, 4], [0, 3, 6, 8, 10]]
    np.testing.assert_array_equal(ids.array, [1, 6, END, 1, 5, 8, 4, END, 3, 7])
    twice = [([END], [0.5], [[0, 1], [0, 1]]), ([END], [0.5], [[0, 1], [0, 1]])]
    np.testing.assert_array_equal(decode(twice, beam_size=1)[0].array, [END])


def test_sentences_that_were_never_made_are_empty_and_last():
    ids, _ = decode([([3], [0.5], [[0, 1], [0, 1]])], beam_size=3)
    assert ids.lod == [[0, 3], [0, 1, 1, 1]]


def test_nothing():
    ids, scores = decode([([], [], [[0, 0], [0]])])
    assert ids.lod == [[0, 2], [0, 0, 0]] and ids.array.shape == scores.array.shape == (0,)


@pytest.mark.parametrize(
    "steps, words",
    [
        ([([1, 2, 3], [1, 2, 3], [[0, 1], [0, 3]])], "more than beam_size"),
        ([([1], [1], [[0, 1]])], "it must have 2"),
        ([([1], [1], [[0, 1], [0, 1]]), ([1], [1], [[0, 1, 1], [0, 1]])], "differs from element 0 in its sources"),
        ([([1], [1], [[0, 1], [0, 1]]), ([1], [1], [[0, 2], [0, 0, 1]])], "row 1"),
    ],
)
def test_refused(steps, words):
    with pytest.raises(pm.Error, match=words):
        decode(steps)
