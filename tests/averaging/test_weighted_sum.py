"""Plans of synthesize executed: files of every format, each read once, summed exactly, rejected by name."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from paddle_mini.averaging import Checkpoint, Exponential, Uniform, synthesize, weighted_sum
from paddle_mini.averaging.profiles import share
from paddle_mini.optimizer import ParameterAverage
from small_model import SmallModel, assert_same_bits
from trajectories import Latest, norm, weights


def files(folder, suffix, dtype="float32"):
    """A model trained for 12 steps, with its parameters in a file after every third."""
    model, kept, path = SmallModel(pm.optimizer.SGD(0.2).minimize, dtype), [], []
    for number in range(1, 13):
        model.step(number)
        path.append(model.values())
        if number % 3 == 0:
            file, program = str(folder / f"{number}{suffix}"), None
            if suffix == ".pdiparams":
                program = model.main
                pm.io.save_parameters(file, program, model.scope)
            else:
                pm.io.save_state(file, model.values())
            kept.append(Checkpoint(number, file, program=program))
    return model, kept, path


@pytest.mark.parametrize("suffix", [".pdparams", ".safetensors", ".pdiparams"])
def test_files_of_every_format(tmp_path, suffix):
    model, kept, path = files(tmp_path, suffix)
    found = synthesize(kept, Latest(3, 3)).state(model.parameters)
    for name in model.parameters:
        wanted = np.mean([path[step - 1][name].astype("float64") for step in (6, 9, 12)], 0)
        assert found[name].dtype == np.float32
        np.testing.assert_array_equal(found[name], wanted.astype("float32"))
    pm.io.set_state(model.main, {**pm.io.get_state(model.main, model.scope), **found}, model.scope)
    assert_same_bits(model.values(), found)


def test_a_program_beside_its_parameters(tmp_path):
    model = SmallModel(pm.optimizer.Adam(0.01).minimize)
    pm.io.save_program(tmp_path / "run", model.main, model.scope)
    found = synthesize([Checkpoint(4, tmp_path / "run.pdiparams")], Uniform()).state()
    assert_same_bits(found, model.everything())
    (tmp_path / "run.pdmodel").unlink()
    with pytest.raises(pm.ProgramError, match="run.pdmodel"):
        synthesize([Checkpoint(4, tmp_path / "run.pdiparams")], Uniform()).state()


@pytest.mark.parametrize("arguments", [{}, {"every": 2}, {"start_step": 3}, {"every": 2, "start_step": 3}], ids=str)
def test_averages_that_training_tracked(arguments):
    """Averages of ParameterAverage equal the description in their checkpoints, so that a target among them is found alone."""
    average = ParameterAverage(pm.optimizer.SGD(0.2), Exponential(0.8), **arguments)
    model, path, kept = SmallModel(average.minimize, "float64"), [], []
    for number in range(1, 21):
        model.step(number)
        path.append(model.values())
        if number % 5 == 0:
            with average.apply(model.exe, scope=model.scope):
                kept.append(Checkpoint(number, model.values(), Exponential(0.8), **arguments))
    plan = synthesize(kept + [Checkpoint(20, path[-1])], Exponential(0.8), max_error=0.7)
    profile = np.diff(share(Exponential(0.8), 20, np.arange(21), **arguments))
    for name in model.parameters:
        tracked_ = sum(w * step[name] for w, step in zip(profile, path))
        np.testing.assert_allclose(kept[-1].source[name], tracked_, rtol=1e-12, atol=1e-14)
        true = sum(w * step[name] for w, step in zip(weights(Exponential(0.8), 20), path))
        assert norm(plan.state()[name] - true) <= 5 * max(plan.error, 1e-12) * norm(true - path[-1][name]) + 1e-12
    assert arguments or plan.weights == (0, 0, 0, 1, 0)


def test_files_are_read_once_each_one_at_a_time_and_only_when_needed(tmp_path, monkeypatch):
    size, count = 500_000, 8
    for step in range(1, count + 1):
        pm.io.save_state(tmp_path / f"{step}.safetensors", {"a": np.full(size, step, "float32"), "n": np.array([step])})
    kept = [Checkpoint(step, str(tmp_path / f"{step}.safetensors")) for step in range(1, count + 1)]
    read = []
    original = weighted_sum.load_state
    monkeypatch.setattr(weighted_sum, "load_state", lambda path: read.append(path) or original(path))
    plan = synthesize(kept, Latest(3, 1), step=7)
    assert read == [] and plan.weights == pytest.approx((0, 0, 0, 0, 1 / 3, 1 / 3, 1 / 3, 0))
    tracemalloc.start()
    found = plan.state()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == [one.source for one in kept[4:7]]
    assert (found["a"] == 6).all() and found["n"] == [7]
    # The sum and one term in float64, and the memory that load_state needs for one file: its bytes, its arrays, a copy
    # of each.
    assert peak < 2 * 8 * size + 4 * 4 * size + 100_000
    read.clear()
    everything = synthesize(kept, Uniform()).state()
    assert sorted(read) == [one.source for one in kept] and (everything["a"] == 4.5).all()


def test_one_checkpoint_is_returned_bit_for_bit():
    values = {
        "w": np.random.RandomState(0).randn(50).astype("float32"),
        "n": np.arange(3),
        "b": np.full((), 2.5, "float32"),
        "empty": np.zeros((0, 3), "float32"),
        "half": np.array([1.5, -0.25], "float16"),
        "bits": np.array([0x3F80, 0xC2F7, 0x0001], "uint16"),
    }
    plan = synthesize([Checkpoint(7, values)], Exponential(0.5))
    assert plan.weights == (1.0,) and plan.error == pytest.approx(1)
    assert_same_bits(plan.state(), {name: np.asarray(value) for name, value in sorted(values.items())})
    assert plan.state(["n"]).keys() == {"n"}
    assert synthesize([Checkpoint(1, values)], Uniform()).error == 0


def test_the_result_shares_no_memory_with_the_checkpoints():
    values = {"w": np.ones(3), "n": np.arange(3)}
    found = synthesize([Checkpoint(1, values)], Uniform()).state()
    assert not any(np.shares_memory(found[name], values[name]) for name in values)


@settings(max_examples=100)
@given(st.lists(st.integers(0, 2**16 - 1), min_size=2, max_size=2), st.floats(0, 1, width=16))
def test_bfloat16_is_summed_exactly_and_rounded_once(bits, decay):
    """Against the two neighbours: no bfloat16 is nearer."""
    numbers = (np.array(bits, "uint32") << 16).view("float32").astype("float64")
    if not np.isfinite(numbers).all() or decay == 1:
        return
    plan = synthesize(
        [Checkpoint(step, {"w": np.array([one], "uint16")}) for step, one in enumerate(bits, 1)], Exponential(decay)
    )
    exact = np.array(plan.weights) @ numbers
    found = int(plan.state()["w"][0])

    def value(bits):
        return float((np.array([bits], "uint32") << 16).view("float32")[0])

    neighbours = [value(other) for other in (found - 1, found + 1) if 0 <= other < 2**16]
    assert all(abs(value(found) - exact) <= abs(other - exact) for other in neighbours if np.isfinite(other))


GOOD = {"w": np.ones((2, 3), "float32"), "n": np.array([4])}


@pytest.mark.parametrize(
    "other, error, message",
    [
        ({"w": GOOD["w"]}, pm.ProgramError, r"'arrays of step 8' lacks 'n', which 'arrays of step 4' has"),
        ({**GOOD, "x": GOOD["w"]}, pm.ProgramError, r"'arrays of step 8' has 'x', which 'arrays of step 4' lacks"),
        (
            {**GOOD, "w": np.ones((3, 2), "float32")},
            pm.ShapeError,
            r"'arrays of step 8': 'w' is \[3, 2\] float32; in 'arrays of step 4' it is \[2, 3\] float32",
        ),
        ({**GOOD, "w": np.ones((2, 3))}, pm.ProgramError, r"'arrays of step 8': 'w' is \[2, 3\] float64"),
        ({**GOOD, "w": 3.0}, pm.ProgramError, r"'arrays of step 8': 'w' is of type float"),
        ({**GOOD, "w": np.full((2, 3), np.nan, "float32")}, pm.ProgramError, "'w' has values that are not finite"),
    ],
)
def test_checkpoints_that_differ_are_named(other, error, message):
    plan = synthesize([Checkpoint(4, GOOD), Checkpoint(8, other)], Uniform())
    with pytest.raises(error, match=message):
        plan.state()


def test_files_that_differ_are_named(tmp_path):
    pm.io.save_state(tmp_path / "1.pdparams", {"w": np.ones(2)})
    pm.io.save_state(tmp_path / "2.pdparams", {"v": np.ones(2)})
    plan = synthesize([Checkpoint(step, tmp_path / f"{step}.pdparams") for step in (1, 2, 3)], Uniform())
    with pytest.raises(pm.ProgramError, match=r"2\.pdparams' has 'v', which '.*1\.pdparams' lacks"):
        plan.state()
    with pytest.raises(pm.ProgramError, match=r"1\.pdparams' lacks 'v'"):
        plan.state(["v"])


def test_a_result_too_large_for_its_dtype_is_refused():
    kept = [Checkpoint(step, {"w": np.full(2, value, "float32")}, Uniform()) for step, value in ((10, -3e38), (20, 3e38))]
    plan = synthesize(kept, Exponential(0.8))
    assert plan.weights[1] > 1.3
    with pytest.raises(pm.ProgramError, match="the result for 'w' is too large for float32"):
        plan.state()
