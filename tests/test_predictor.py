"""Predictor: the results of an executor, from many threads, with parameters that are in the memory once."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from threads import together

RANDOM = np.random.RandomState(0)


@pytest.fixture
def model(tmp_path):
    """The prefix of a model with two inputs and two outputs."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.scope_guard(scope):
        image, extra = pm.layers.data("image", [-1, 3, 8, 8]), pm.layers.data("extra", [-1, 4])
        h = pm.layers.concat([pm.layers.reshape(pm.layers.conv2d(image, 4, 3, act="relu"), [0, -1]), extra], axis=1)
        outputs = [pm.layers.fc(h, 5, act="softmax"), pm.layers.fc(h, 2)]
        exe = pm.Executor()
        exe.run(startup)
        pm.io.save_inference_model(tmp_path / "model", [image, extra], outputs, exe)
    return tmp_path / "model"


def batch(size):
    return {"image": RANDOM.randn(size, 3, 8, 8).astype("float32"), "extra": RANDOM.randn(size, 4).astype("float32")}


def test_results_from_many_threads_with_batches_of_any_size(model):
    scope, exe = pm.Scope(), pm.Executor()
    program, _, fetches = pm.io.load_inference_model(model, scope=scope)
    batches = [batch(1 + i % 5) for i in range(40)]
    wanted = [[value.tobytes() for value in exe.run(program, feed, fetches, scope)] for feed in batches]
    predictor = pm.Predictor(model, threads=1)
    assert (predictor.inputs, len(predictor.outputs)) == (["image", "extra"], 2)
    found = {}

    def call(first):
        for i in range(first, len(batches), 8):
            found[i] = [value.tobytes() for value in predictor(batches[i])]

    together(*(lambda first=first: call(first) for first in range(8)))
    assert [found[i] for i in range(len(batches))] == wanted


def test_calls_run_at_the_same_time(model):
    """While one call holds its executor, another one gets its own, and both are kept for later calls."""
    predictor = pm.Predictor(model)
    predictor.warm_up(batch(2), calls=3)
    assert len(predictor._free) == 3
    held = predictor._free.pop()
    predictor(batch(2))
    predictor._free.append(held)
    assert len(predictor._free) == 3
    free, predictor._free = list(predictor._free), type(predictor._free)()
    predictor(batch(2))  # none is free
    assert len(predictor._free) == 1 and predictor._free[0] not in free


def test_an_executor_is_free_again_after_an_error(model):
    predictor = pm.Predictor(model)
    for wrong in ({"image": batch(1)["image"]}, {**batch(1), "extra": np.ones((2, 4), "float32")}):
        with pytest.raises(pm.Error):
            predictor(wrong)
    assert len(predictor._free) == 1
    predictor(batch(1))


def test_one_input_needs_no_name(tmp_path):
    x = pm.layers.data("x", [-1, 4])
    exe = pm.Executor()
    out = pm.layers.fc(x, 2)
    exe.run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "m", [x], [out], exe)
    predictor, rows = pm.Predictor(tmp_path / "m"), np.ones((3, 4), "float32")
    assert predictor(rows)[0].tobytes() == predictor({"x": rows})[0].tobytes()
    assert predictor.parameter_bytes == 4 * (4 * 2 + 2)


def test_clones_share_the_parameters(tmp_path):
    x = pm.layers.data("x", [-1, 1000])
    out = pm.layers.reduce_sum(pm.layers.fc(x, 2000, bias_attr=False))
    pm.Executor().run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "m", [x], [out])
    predictor, rows = pm.Predictor(tmp_path / "m"), np.ones((3, 1000), "float32")
    predictor(rows)  # packs the parameters once, a copy that the clones share as well
    before = _core.memory_in_use()
    clones = [predictor.clone(threads=1) for _ in range(5)]
    assert {predictor(rows)[0].tobytes(), *(clone(rows)[0].tobytes() for clone in clones)} == {predictor(rows)[0].tobytes()}
    assert _core.memory_in_use() - before < predictor.parameter_bytes / 8
    assert predictor.parameter_bytes == 8_000_000


def test_refusals(model, tmp_path):
    with pytest.raises(pm.ProgramError, match="the model has 2 inputs: give a dict by name, of image, extra"):
        pm.Predictor(model)(batch(1)["image"])
    for calls in (0, True, 1.5):
        with pytest.raises(pm.ProgramError, match="warm_up: calls is"):
            pm.Predictor(model).warm_up(batch(1), calls=calls)
    with pytest.raises(pm.ProgramError, match="nothing"):
        pm.Predictor(tmp_path / "nothing")


def test_names_belong_to_one_predictor(model):
    predictor = pm.Predictor(model)
    clone = predictor.clone()
    clone.inputs.clear()
    clone.outputs.clear()
    assert (predictor.inputs, len(predictor.outputs)) == (["image", "extra"], 2)
