"""Arrays of states share the memory of their file where they are aligned in it; values on devices are saved."""

import pickle

import numpy as np
import pytest

import paddle_mini as pm
from small_model import assert_same_bits


@pytest.mark.parametrize("suffix", ["pdparams", "safetensors"])
def test_large_arrays_stay_in_the_memory_of_the_file(tmp_path, suffix):
    path, state = tmp_path / f"s.{suffix}", {"a": np.ones(3, "int8"), "b": np.ones(9000), "c": np.arange(70000, dtype="int8")}
    pm.io.save_state(path, state)
    found = pm.io.load_state(path)
    assert_same_bits(found, state)
    assert all(array.flags.aligned and array.flags.writeable for array in found.values())
    assert found["b"].base is found["c"].base and found["a"].base is None  # a small one would keep the memory of all
    found["b"] += 1
    assert (found["b"] == 2).all() and found["c"][5] == 5


def test_arrays_that_are_not_aligned_in_the_file_are_copied(tmp_path):
    for shift in range(8):
        (tmp_path / "s.pdparams").write_bytes(pickle.dumps({"n" * (shift + 1): np.arange(9000.0)}, 4))
        (array,) = pm.io.load_state(tmp_path / "s.pdparams").values()
        assert array.flags.aligned and (array == np.arange(9000)).all()


def test_values_on_a_device_are_saved(tmp_path):
    exe = pm.Executor(pm.EmulatedPlace(0))
    loss = pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 3]), 2))
    pm.optimizer.Adam(0.1).minimize(loss)
    exe.run(pm.default_startup_program())
    exe.run(feed={"x": np.ones((2, 3), "float32")})
    main, found = pm.default_main_program(), pm.Scope()
    expected = pm.io.get_state(main)
    pm.io.save(main, tmp_path / "m")
    pm.io.load(main, tmp_path / "m", found)
    assert_same_bits(pm.io.get_state(main, found), expected)
    manager = pm.io.CheckpointManager(tmp_path / "checkpoints")
    manager.save(1, main, exe)
    manager.restore(main, exe, found := pm.Scope())
    assert_same_bits(pm.io.get_state(main, found), expected)
