"""DataParallel: replicas train like one device on the whole batch, stay equal to the bit, and fail together."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Latest, Uniform, Window
from replicas import ROWS, Replicated, device
from small_model import assert_same_bits, batch


@pytest.fixture(autouse=True)
def devices():
    yield
    for index in range(3):
        pm.devices.emulate(index)


def assert_alike(found, expected, tolerance=1e-12):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, tolerance, tolerance, err_msg=name)


def averaged(scheme, place=None, outside=True):
    """Wrappers of an optimizer: averages, around the sums or inside."""

    def around(optimizer, wrap):
        average = lambda inner: pm.optimizer.ParameterAverage(inner, scheme, place=place)
        return average(wrap(optimizer)) if outside else wrap(average(optimizer))

    return around


OPTIMIZERS = {
    "sgd": lambda: pm.optimizer.SGD(0.1),
    "regularized": lambda: pm.optimizer.Momentum(0.1, 0.9, regularization=0.01, grad_clip=pm.clip.GradientClipByGlobalNorm(0.3)),
    "adam": lambda: pm.optimizer.Adam(0.05),
    "merged": lambda: pm.optimizer.GradientMerge(pm.optimizer.SGD(0.1), 2),
    "scaled": lambda: pm.optimizer.LossScaling(pm.optimizer.SGD(0.1), init_loss_scaling=8.0),
    "lookahead": lambda: pm.optimizer.Lookahead(pm.optimizer.SGD(0.1), k=2),
    "schedule-free": lambda: pm.optimizer.ScheduleFree(pm.optimizer.SGD(0.1)),
}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_replicas_train_as_one_device_does(name, count):
    one, several = Replicated(0, optimizer=OPTIMIZERS[name]()), Replicated(count, optimizer=OPTIMIZERS[name]())
    assert_alike(several.values(), one.values(), 0)
    np.testing.assert_allclose(several.train(), one.train(), 1e-12)
    assert_alike(several.values(), one.values())


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("outside", [True, False], ids=["averages around the sums", "sums around the averages"])
@pytest.mark.parametrize("scheme", [Uniform(), Window(3), Exponential(0.9), Latest(2)], ids=repr)
def test_averages_are_the_same_bits_wherever_they_are(scheme, outside, count):
    pm.devices.emulate(1, latency=1e-4)
    here, there = (Replicated(count, averaged(scheme, place, outside)) for place in (None, pm.CPUPlace()))
    assert here.train() == there.train()
    assert_same_bits(here.values(), there.values())
    one = Replicated(0, averaged(scheme))
    one.train()
    with one.optimizer.apply(one.exe, one.scope):
        expected = one.values()
    average = here.optimizer if outside else here.optimizer.optimizer
    with average.apply(pm.Executor(), here.scope):
        assert_alike({name: here.scope.get(name) for name in expected}, expected)


def test_training_twice_gives_the_same_bits_whatever_the_timing():
    runs = []
    for delays in (None, 5, 6):
        for index in range(3):
            pm.devices.emulate(
                index, delays=delays if delays is None else delays + 10 * index, latency=0 if delays is None else 1e-4
            )
        model = Replicated(3, averaged([Uniform(), Window(2)], pm.CPUPlace()), dtype="float32", hidden=50)
        runs.append((model.train(8), model.values()))
    for losses, values in runs[1:]:
        assert losses == runs[0][0]
        assert_same_bits(values, runs[0][1])


@pytest.mark.parametrize("dtype", ["int32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_sums_are_added_in_the_order_of_the_replicas(dtype):
    replicas = pm.DataParallel([device(2), device(0), device(1)])
    program = pm.Program()
    block = program.global_block()
    block.create_var("x", dtype=dtype, shape=[-1, -1])
    block.append_op("c_allreduce_sum", {"X": "x"}, {"Out": "sum"})
    block.append_op("assign", {"X": "x"}, {"Out": "kept"})
    random = np.random.RandomState(0)
    for size in (0, 1, 63, 64, 65, 193, 5000):
        x = random.randn(3, size) * 100
        if dtype == "bfloat16":
            x = (x.astype("float32").view("uint32") >> 16).astype("uint16")
            wide = (x.astype("uint32") << 16).view("float32")
        else:
            x = x.astype(dtype)
            wide = x.astype("float32") if dtype == "float16" else x
        total = wide[0] + wide[1] + wide[2]
        sums, kept = replicas.run(program, {"x": x}, ["sum", "kept"])
        for rank in range(3):
            if dtype == "bfloat16":  # half a unit in the last place, by the rounding
                found = (sums[rank][0].astype("uint32") << 16).view("float32")
                np.testing.assert_allclose(found, total, 2**-8)
            elif device(0).name.startswith("gpu"):  # NCCL sums in another order
                np.testing.assert_allclose(sums[rank][0].astype(wide.dtype), total, 1e-2 if dtype == "float16" else 1e-6, 1e-3)
            else:
                np.testing.assert_array_equal(sums[rank][0], total.astype(dtype))
            np.testing.assert_array_equal(kept[rank][0], x[rank])
            assert sums[rank].tobytes() == sums[0].tobytes()


def test_the_processor_may_be_one_of_the_places():
    mixed = Replicated(2, averaged(Uniform()), places=[pm.CPUPlace(), device(0)])
    rounding = 1e-12 if device(0).name.startswith("gpu") else 0
    np.testing.assert_allclose(mixed.train(), Replicated(2, averaged(Uniform())).train(), rounding)
    one = Replicated(1, averaged(Uniform()), places=[pm.CPUPlace()])
    plain = Replicated(0, averaged(Uniform()))
    np.testing.assert_allclose(one.train(), plain.train(), 1e-12)


def test_optimizers_on_the_processor():
    """Each replica then sums on the CPU at the same time, so the replicas must not share one queue."""

    def offloaded(optimizer, wrap):
        class Offloaded:
            backward = staticmethod(optimizer.backward)

            def minimize(self, loss):
                pairs = wrapped.backward(loss)
                with pm.device_guard("cpu"):
                    wrapped.apply_gradients(pairs)

        wrapped = wrap(optimizer)
        return Offloaded()

    assert Replicated(2, offloaded).train() == Replicated(2).train()


def test_what_layers_keep_is_each_replicas_own():
    model = Replicated(
        2,
        lambda optimizer, wrap: pm.optimizer.ParameterAverage(wrap(optimizer), Uniform(), buffers="average"),
        layer=pm.layers.batch_norm,
    )
    model.train()
    differ = {name for name, value in model.values().items() if value.tobytes() != model.replicas.scopes[1].get(name).tobytes()}
    statistics = next(op for op in model.main.global_block().ops if op.type == "batch_norm")
    own = [*statistics.input("Mean"), *statistics.input("Variance")]
    assert differ == {*own, *(f"{name}_average_0" for name in own), *(f"{name}_average_block_0" for name in own)}


def test_random_operators_differ_by_replica_and_follow_the_seed():
    def masks(model):
        mask = next(op for op in model.main.global_block().ops if op.type == "dropout").output("Mask")[0]
        return [model.step(number, fetch=[mask]) for number in range(3)]

    def make():
        return Replicated(2, layer=lambda x: pm.layers.dropout(x, 0.5))

    model = make()
    states = model.replicas.random_state()
    first = masks(model)
    assert all((one != other).any() for one, other in first)
    np.testing.assert_array_equal(first, masks(make()))
    model.replicas.set_random_state(states)
    np.testing.assert_array_equal(first, masks(model))
    with pytest.raises(pm.OpError, match="random states of 1 replicas, these are 2"):
        model.replicas.set_random_state(states[:1])


def test_going_on_from_a_checkpoint(tmp_path):
    def make():
        return Replicated(2, averaged(Window(3)), layer=lambda x: pm.layers.dropout(x, 0.5))

    model, other, manager, exe = make(), make(), pm.io.CheckpointManager(tmp_path / "run"), pm.Executor()
    model.train(3)
    manager.save(3, model.main, exe, model.scope, {"random": model.replicas.random_state()}, force=True)
    at = manager.restore(other.main, exe, other.scope)
    other.replicas.copy_from_first()
    other.replicas.set_random_state(at.data["random"])
    assert model.train() == other.train()
    assert_same_bits(model.everything(), other.everything())


def test_threads_end_with_the_replicas():
    # Threads of replicas of other tests may still be ending; they are not counted.
    others = set(threading.enumerate())
    model = Replicated(3)
    model.train(1)
    threads = [thread for thread in threading.enumerate() if thread.name == "replica" and thread not in others]
    assert len(threads) == 2
    del model
    gc.collect()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_other_programs_run_on_the_first_replica_with_the_whole_feed():
    model = Replicated(2)
    model.train(2)
    ((logits,),) = model.replicas.run(model.main.clone(for_test=True), batch(0, "float64", ROWS), [model.logits])
    assert logits.shape == (ROWS, 3)
    set_zero = pm.Program()
    weight = model.main.all_parameters()[0]
    set_zero.global_block().create_var(weight.name, dtype="float64", shape=weight.shape, persistable=True)
    set_zero.global_block().append_op("fill_any_like", {"X": weight.name}, {"Out": weight.name}, {"value": 0.0})
    model.replicas.run(set_zero)
    assert not model.replicas.scopes[1].get(weight.name).any()
    model.replicas.check_equal(model.main)
    model.scope.set(weight.name, np.ones(weight.shape))
    with pytest.raises(pm.OpError, match=f"'{weight.name}' differs between replica 0 and replica 1"):
        model.replicas.check_equal(model.main)
    model.replicas.copy_from_first()
    model.replicas.check_equal(model.main)


def test_what_has_a_fixed_shape_goes_to_all():
    model = Replicated(2, layer=lambda x: x * pm.layers.data("factor", shape=[1], dtype="float64"))
    feed = {**batch(0, "float64", ROWS), "factor": np.array([2.0])}
    assert len(model.step(0, feed)) == 2
    lists = {name: value.tolist() for name, value in feed.items()}
    assert model.step(0, lists)[0].shape == ()


def test_groups_of_replicas_take_turns_on_the_devices_that_they_share():
    """Sums that two devices had in different orders waited for each other."""
    command = [sys.executable, str(Path(__file__).parents[1] / "two_replica_groups.py")]
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, timeout=120
    )
    assert (ended.stdout, ended.stderr) == ("3\n", "")
