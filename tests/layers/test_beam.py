# Beam search with layers: two steps, whose words are decoded into sentences.
import numpy as np
import pytest

import paddle_mini as pm
from programs import start
from sequence_cases import lod_tensor, split

END = 0


def test_two_steps_and_their_sentences():
    last = pm.layers.data("last", [-1, 1], dtype="int64", lod_level=2)
    before = pm.layers.data("before", [-1, 1], lod_level=2)
    candidates = [pm.layers.data(name, [-1, 3], lod_level=2) for name in ("first", "second")]
    words, scores = pm.layers.create_array("int64"), pm.layers.create_array("float32")
    for step, rows in enumerate(candidates):
        last, before, parent = pm.layers.beam_search(last, before, None, rows, beam_size=2, end_id=END, return_parent_idx=True)
        place = pm.layers.fill_constant([1], "int64", step)
        pm.layers.array_write(last, place, words)
        pm.layers.array_write(before, place, scores)
    sentences, chances = pm.layers.beam_search_decode(words, scores, beam_size=2, end_id=END)
    assert parent.dtype == "int32" and sentences.stop_gradient
    one, two = ([1], [1]), ([2], [1, 1])
    values = start().run(
        feed={
            "last": lod_tensor(np.array([[9]]), *one),
            "before": lod_tensor(np.zeros((1, 1), "f4"), *one),
            "first": lod_tensor(np.array([[0.1, 0.5, 0.4]], "f4"), *one),
            "second": lod_tensor(np.array([[0.9, 0.2, 0.3], [0.6, 0.8, 0.1]], "f4"), *two),
        },
        fetch_list=[sentences, chances, parent],
        return_numpy=False,
    )
    assert [part.ravel().tolist() for part in split(values[0])] == [[1, 0], [2, 1]]
    np.testing.assert_allclose(values[1].array, [0.5, 0.9, 0.4, 0.8], rtol=1e-6)
    assert getattr(values[2], "array", values[2]).tolist() == [0, 1]


def test_beams_that_are_no_number():
    x, scores = pm.layers.data("x", [-1, 1], dtype="int64", lod_level=2), pm.layers.data("s", [-1, 1], lod_level=2)
    with pytest.raises(pm.ProgramError, match=r"(?s)beam_size is 0.*test_beam.py:"):
        pm.layers.beam_search(x, scores, None, scores, beam_size=0, end_id=END)
