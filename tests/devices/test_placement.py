"""Placement: the devices of operators, the necessary copies, and rejected programs."""

import numpy as np
import pytest

import paddle_mini as pm

X = np.arange(6, dtype="float32").reshape(2, 3)


def two_devices():
    """relu on the executor's place, scale on the CPU, relu again on the place; and the output."""
    x = pm.layers.data("x", [-1, 3])
    a = pm.layers.relu(x)
    with pm.device_guard("cpu"):
        b = pm.layers.scale(a, scale=2.0)
    return pm.layers.relu(b + a)


def lines(text, op_type):
    return [line for line in text.splitlines() if f" {op_type}(" in line]


def test_operators_run_where_they_say(place):
    out, exe = two_devices(), pm.Executor(place)
    np.testing.assert_array_equal(exe.run(feed={"x": X}, fetch_list=[out])[0], 3 * X)
    text = exe.plan_text(feed={"x": X}, fetch_list=[out])
    assert [line.split()[1] for line in lines(text, "relu")] == [place.name] * 2
    assert lines(text, "scale")[0].split()[1] == "cpu"


def test_copies_are_made_once_for_each_value_and_device(place):
    x = pm.layers.data("x", [-1, 3])
    a = pm.layers.relu(x)
    with pm.device_guard("cpu"):
        b = pm.layers.scale(a, scale=2.0) + pm.layers.scale(a, scale=3.0) + a
    text = pm.Executor(place).plan_text(feed={"x": X}, fetch_list=[b])
    assert len(lines(text, "memcpy_h2d")) == 1 and len(lines(text, "memcpy_d2h")) == 1, text


def test_a_value_passes_from_one_device_to_another():
    """The copy in the host's memory is made once."""
    x = pm.layers.data("x", [-1, 3])
    y = pm.layers.relu(x)
    with pm.device_guard("emulated:1"):
        z = pm.layers.scale(y, scale=2.0) + y
    exe = pm.Executor(pm.EmulatedPlace(0))
    np.testing.assert_array_equal(exe.run(feed={"x": X}, fetch_list=[z])[0], 3 * X)
    text = exe.plan_text(feed={"x": X}, fetch_list=[z])
    assert len(lines(text, "memcpy_d2h")) == 2 and len(lines(text, "memcpy_h2d")) == 2


def test_a_plan_shows_device_and_waits(place):
    out, exe = two_devices(), pm.Executor(place)
    text = exe.plan_text(feed={"x": X}, fetch_list=[out])
    assert f"{place.name} from host memcpy_h2d(X=x" in text and f"{place.name} to host memcpy_d2h" in text
    scale = lines(text, "scale")[0]
    copy = lines(text, "memcpy_d2h")[0]
    assert scale.endswith(f"waits for {copy.split()[0]}"), text


def test_a_program_for_a_device_runs_from_the_processor(place):
    """op_device of the program takes precedence: the executor's place is only for operators that name none."""
    x = pm.layers.data("x", [-1, 3])
    with pm.device_guard(place.name):
        y = pm.layers.relu(x)
    z = pm.layers.scale(y, scale=2.0)
    exe = pm.Executor(pm.CPUPlace())
    np.testing.assert_array_equal(exe.run(feed={"x": X}, fetch_list=[y, z])[1], 2 * X)
    assert lines(exe.plan_text(feed={"x": X}, fetch_list=[z]), "scale")[0].split()[1] == "cpu"


def test_gradients_run_where_the_operator_does(place):
    x = pm.layers.data("x", [-1, 3])
    h = pm.layers.fc(x, 4, act="tanh")
    with pm.device_guard("cpu"):
        g = pm.layers.fc(h, 2, act="relu")
    loss = pm.layers.mean(g)
    pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor(place)
    exe.run(pm.default_startup_program())
    text = exe.plan_text(feed={"x": X}, fetch_list=[loss])
    assert [line.split()[1] for line in lines(text, "relu_grad") + lines(text, "tanh_grad")] == ["cpu", place.name]


def test_values_live_where_they_are_written(place):
    main, startup = pm.default_main_program(), pm.default_startup_program()
    x = pm.layers.data("x", [-1, 3])
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.fc(x, 4)))
    exe, scope = pm.Executor(place), pm.global_scope()
    exe.run(startup)
    w = next(p.name for p in main.all_parameters())
    value = np.full((3, 4), 2, "float32")
    scope.set(w, value)
    assert scope.place(w) == place.name  # the existing memory is reused
    scope.erase(w)
    scope.set(w, value)
    assert scope.place(w) == "cpu"
    exe.run(main, feed={"x": X})
    assert scope.place(w) == place.name and not np.array_equal(scope.get(w), value)
    before = scope.get(w)
    pm.Executor(pm.CPUPlace()).run(main, feed={"x": X})
    assert scope.place(w) == "cpu"
    exe.run(main, feed={"x": X})
    assert scope.place(w) == place.name and not np.array_equal(scope.get(w), before)


def test_sparse_gradients_and_sequences_cross(place):
    ids = pm.LoDTensor(np.array([[1], [4], [1]]), [[0, 2, 3]])

    def train(on):
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(main, startup):
            words = pm.layers.data("words", [-1, 1], dtype="int64", lod_level=1)
            rows = pm.layers.embedding(words, [9, 4], is_sparse=True)
            with pm.device_guard("cpu"):
                pooled = pm.layers.sequence_pool(rows, "sum")
            loss = pm.layers.mean(pm.layers.fc(pooled, 2, act="tanh"))
            pm.optimizer.Adagrad(0.1).minimize(loss)
        exe = pm.Executor(on, allow_cpu_fallback=True)  # a GPU leaves sparse gradients to the CPU
        pm.seed(1)
        exe.run(startup, scope=scope)
        for _ in range(3):
            (value,) = exe.run(main, {"words": ids}, [loss], scope)
        return [value] + [scope.get(name) for name in sorted(scope.names())]

    for here, there in zip(train(pm.CPUPlace()), train(place)):
        np.testing.assert_allclose(there, here, *((0, 0) if place.name.startswith("emulated") else (1e-4, 1e-6)))


def test_loops_and_branches(place):
    """Control operators run on the host; blocks inside them run on the device."""

    def run(on):
        main, scope = pm.Program(), pm.Scope()
        with pm.program_guard(main, pm.Program()):
            x = pm.layers.data("x", [-1, 3])
            i, n = pm.layers.fill_constant([1], "int64", 0), pm.layers.fill_constant([1], "int64", 5)

            def body(i, y):
                return pm.layers.increment(i), pm.layers.scale(y, scale=1.5) + x

            _, y = pm.layers.while_loop(lambda i, y: pm.layers.less_than(i, n), body, [i, x])
        return pm.Executor(on).run(main, {"x": X}, [y], scope)[0]

    np.testing.assert_array_equal(run(place), run(pm.CPUPlace()))


def test_operators_without_a_kernel(place, capfd):
    if place.name.startswith("emulated"):
        pytest.skip("an emulated device has a kernel for everything")
    x, rows = pm.layers.data("x", [2, 3]), pm.layers.data("rows", [2, 1], dtype="int32")
    block = x.block
    block.append_op("multiplex", {"X": [pm.layers.relu(x), x], "Ids": rows}, {"Out": "y"})
    feed = {"x": X, "rows": np.array([[1], [0]], "int32")}
    with pytest.raises(pm.DeviceError) as caught:
        pm.Executor(place).run(feed=feed, fetch_list=["y"])
    message = str(caught.value)
    assert (
        f"multiplex: no kernel on {place.name}: it selects rows from any number of tensors" in message
        and "there is one on cpu" in message
    )
    assert 'block.append_op("multiplex"' in message and len(message.splitlines()) <= 12
    (found,) = pm.Executor(place, allow_cpu_fallback=True).run(feed=feed, fetch_list=["y"])
    np.testing.assert_array_equal(found, X)
    assert "run on the cpu: multiplex x 1" in capfd.readouterr().err


@pytest.mark.parametrize(
    "name, words",
    [
        ("gpu:7", "'gpu:7' is not available"),
        ("tpu:0", "is not a device"),
        ("cpu:1", "is not a device"),
        ("gpu:-1", "is not a device"),
        ("emulated:", "is not a device"),
    ],
)
def test_devices_that_are_not_there(place, name, words):
    x = pm.layers.data("x", [-1, 3])
    y = pm.layers.relu(x)
    y.block.ops[-1].set_attr("op_device", name)  # as in a program of another tool; device_guard rejects most of these
    with pytest.raises(pm.DeviceError, match=words) as caught:
        pm.Executor(place).run(feed={"x": X}, fetch_list=[y])
    assert "y = pm.layers.relu(x)" in str(caught.value)
    z = pm.layers.scale(x, scale=2.0)  # other operators still run
    program = pm.default_main_program().clone()
    program.global_block().remove_op(0)
    np.testing.assert_array_equal(pm.Executor(place).run(program, {"x": X}, [z.name])[0], 2 * X)


def test_files_hold_what_devices_hold(place, tmp_path):
    x = pm.layers.data("x", [-1, 3])
    y = pm.layers.fc(x, 4)
    exe = pm.Executor(place)
    exe.run(pm.default_startup_program())
    pm.io.save_inference_model(str(tmp_path / "m"), [x], [y], exe)
    (expected,) = exe.run(feed={"x": X}, fetch_list=[y])
    with pm.scope_guard(pm.Scope()):
        program, feeds, fetches = pm.io.load_inference_model(str(tmp_path / "m"), exe)
        np.testing.assert_array_equal(exe.run(program, {feeds[0]: X}, fetches)[0], expected)
        np.testing.assert_allclose(pm.Executor().run(program, {feeds[0]: X}, fetches)[0], expected, 1e-5, 1e-6)
