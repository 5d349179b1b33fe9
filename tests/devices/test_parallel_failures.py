"""DataParallel with failures: all replicas stop, none hangs, scopes are as before, and the error gives the reason."""

import faulthandler
import signal
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Uniform, Window
from replicas import ROWS, Replicated, device, wrong_batch
from small_model import assert_same_bits, batch


@pytest.fixture(autouse=True)
def devices():
    """If the replicas of a test hang, ends the process with a traceback; nothing else would stop it."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    for index in range(3):
        pm.devices.emulate(index)


AROUND = {
    "plain": lambda optimizer, wrap: wrap(optimizer),
    "averages on the CPU": lambda optimizer, wrap: pm.optimizer.ParameterAverage(
        wrap(optimizer), [Uniform(), Window(2)], place=pm.CPUPlace()
    ),
    "in parts": lambda optimizer, wrap: wrap(pm.optimizer.GradientMerge(optimizer, 2)),
}


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("around", AROUND)
def test_a_label_out_of_range_in_one_part_of_the_batch(around, count):
    model, other = (Replicated(count, AROUND[around], pm.optimizer.Adam(0.05), layer=pm.layers.batch_norm) for _ in range(2))
    for row in (0, ROWS - 1, 5):  # also in the first run
        before = model.everything()
        rank, row_there = divmod(row, ROWS // count)
        with pytest.raises(pm.OpError) as raised:
            model.step(0, wrong_batch(0, row))
        assert f"replica {rank} of {count}: softmax_with_cross_entropy: label 7 in row {row_there} is out of range" in str(
            raised.value
        )
        assert str(raised.value).splitlines()[-1].strip().startswith("added at ")
        assert "replicas.py" in str(raised.value).splitlines()[-1]
        assert raised.value.__cause__ is None and raised.value.__suppress_context__
        assert_same_bits(model.everything(), before)
        assert model.step(row) == other.step(row)
    model.train()
    other.train()
    assert_same_bits(model.everything(), other.everything())


def test_failures_at_any_time():
    """Random delays, failures in several replicas: the error is one of theirs, and training continues as without them."""
    model, other = (Replicated(3, AROUND["averages on the CPU"]) for _ in range(2))
    random = np.random.RandomState(0)
    for number in range(25):
        for index in range(3):
            pm.devices.emulate(index, delays=int(random.randint(1, 1000)), latency=random.uniform(0, 1e-3))
        feed = batch(number, "float64", ROWS)
        wrong = random.choice(ROWS, random.randint(1, 4), replace=False)
        feed["label"] = feed["label"].copy()
        feed["label"][wrong] = 5
        with pytest.raises(pm.OpError, match="softmax_with_cross_entropy: label 5 in row"):
            model.step(number, feed)
        assert model.step(number) == other.step(number)
    model.replicas.check_equal(model.main)
    assert_same_bits(model.everything(), other.everything())


def interrupt(*_):
    raise KeyboardInterrupt


# Python discards exceptions raised inside a __del__.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("around", AROUND)
def test_an_interrupt_leaves_a_whole_step_or_none_on_every_replica(around):
    model, other = (Replicated(2, AROUND[around], pm.optimizer.Adam(0.05), hidden=200) for _ in range(2))
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        met, taken = interrupted_steps(model, other)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert met >= 20 and taken >= 20


def interrupted_steps(model, other):
    """Runs steps with an interrupt after a random time; `other` runs those that took effect. Returns the numbers of
    interrupted steps and of those that took effect."""
    random, longest, met, taken = np.random.RandomState(0), 1e-3, 0, 0
    for number in range(1000):
        before, ended, start = model.everything(), False, time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, longest))
            model.step(number)
            signal.setitimer(signal.ITIMER_REAL, 0)
            ended = True
        except KeyboardInterrupt:
            met += 1
        longest = 1.5 * (time.perf_counter() - start) if ended else 1.1 * longest
        if ended or any(value.tobytes() != before[key].tobytes() for key, value in model.everything().items()):
            other.step(number)
            taken += 1
        model.replicas.check_equal(model.main)
        assert_same_bits(model.everything(), other.everything())
        if met >= 20 and taken >= 20:
            break
    return met, taken


def test_the_last_operator_refuses_in_one_replica():
    """A CPU then also saves the variables that this operator writes: the other replica may reject when all is written
    here."""
    replicas, program = pm.DataParallel([pm.CPUPlace(), device(0)]), pm.Program()
    with pm.program_guard(program):
        table = program.global_block().create_var("table", shape=[9, 2], dtype="float32", persistable=True)
        ids, rows = pm.layers.data("ids", shape=[-1], dtype="int64"), pm.layers.data("rows", shape=[-1, 2])
        total = pm.layers.reduce_sum(rows)
        program.global_block().append_op("c_allreduce_sum", {"X": total}, {"Out": total})
        program.global_block().append_op("scatter", {"X": table, "Ids": ids, "Updates": rows}, {"Out": table})
    for scope in replicas.scopes:
        scope.set("table", np.zeros((9, 2), "float32"))
    for wrong in range(2):
        feed = {"ids": np.array([4, 5]), "rows": np.ones((2, 2), "float32")}
        feed["ids"][wrong] = 9
        with pytest.raises(pm.OpError, match=f"replica {wrong} of 2: scatter: Ids has 9"):
            replicas.run(program, feed, [])
        assert not any(scope.get("table").any() for scope in replicas.scopes)
    replicas.run(program, {"ids": np.array([4, 5]), "rows": np.ones((2, 2), "float32")}, [])
    assert [scope.get("table")[4 + i].tolist() for i, scope in enumerate(replicas.scopes)] == [[1, 1], [1, 1]]


def test_replicas_that_do_not_come_to_the_same_sums():
    replicas, program = pm.DataParallel([device(0), device(1)]), pm.Program()
    with pm.program_guard(program):
        x = pm.layers.data("x", shape=[-1, 1])
        total = pm.layers.reduce_sum(x)
        with pm.layers.control_flow.ConditionalBlock(pm.layers.cast(total, "bool")).block():
            program.current_block().append_op("c_allreduce_sum", {"X": total}, {"Out": total})
    assert replicas.run(program, {"x": np.array([[1], [2]], "float32")}, [total]) == [[3, 3]]
    assert replicas.run(program, {"x": np.zeros((2, 1), "float32")}, [total]) == [[0, 0]]
    with pytest.raises(pm.DeviceError, match="the replicas diverge: replica 0 reached the end of its step"):
        replicas.run(program, {"x": np.array([[0], [2]], "float32")}, [total])
    assert replicas.run(program, {"x": np.array([[1], [2]], "float32")}, [total]) == [[3, 3]]


def test_a_gradient_that_overflows_on_one_replica_takes_the_step_from_all():
    model = Replicated(2, optimizer=pm.optimizer.LossScaling(pm.optimizer.SGD(0.1)))
    model.train(1)
    before = {p.name: model.scope.get(p.name) for p in model.main.all_parameters()}
    feed = batch(0, "float64", ROWS)
    feed["x"] = feed["x"].copy()
    feed["x"][ROWS - 1] = np.nan
    model.step(0, feed)
    model.replicas.check_equal(model.main)
    assert_same_bits({name: model.scope.get(name) for name in before}, before)


def test_threads_take_turns():
    model, other = Replicated(2), Replicated(2)
    threads = [threading.Thread(target=lambda: [model.step(0) for _ in range(5)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(15):
        other.step(0)
    assert_same_bits(model.everything(), other.everything())


class CalledByReplicas:
    """A feed of zeros; `action` is called when replica 1 asks for them, a while after replica 0 has got its own."""

    shape, dtype = (2,), np.dtype("float32")

    def __init__(self, action):
        self.action = action

    def __array__(self, dtype=None, copy=None):
        if threading.current_thread().name == "replica":
            time.sleep(0.2)
            self.action()
        return np.zeros(2, "float32")


def executor_that_has_run(index):
    """An executor of one device and its scope, with a parameter."""
    model = Replicated(0)
    executor, scope = pm.Executor(device(index)), pm.Scope()
    executor.run(model.startup, scope=scope)
    executor.run(model.main, batch(0, "float64", ROWS), [model.loss], scope)
    return executor, scope, model.main.all_parameters()[0].name


@pytest.mark.parametrize("what", ["ends", "is read"])
def test_another_executor_ends_or_is_read_in_the_thread_of_a_replica(what):
    """As Python's garbage collection may do. A wait for all work of replica 0's device would be one for a sum that waits
    for this thread."""
    replicas, program = pm.DataParallel([device(0), device(1)]), pm.Program()
    with pm.program_guard(program):
        rows, zeros = pm.layers.data("rows", shape=[-1, 2]), pm.layers.data("zeros", shape=[2])
        total = pm.layers.reduce_sum(rows)
        program.global_block().append_op("c_allreduce_sum", {"X": total}, {"Out": total})
        shown = pm.layers.elementwise_add(zeros, total)
    others = [executor_that_has_run(0)]
    name, scope = others[0][2], others[0][1]
    called = []

    def action():
        others.clear() if what == "ends" else scope.get(name)
        called.append(True)

    feed = {"rows": np.ones((2, 2), "float32"), "zeros": CalledByReplicas(action)}
    assert [value.tolist() for value in replicas.run(program, feed, [shown])[0]] == [[4, 4], [4, 4]]
    assert called == [True]


def test_executors_end_while_replicas_run_in_another_thread():
    """The work of such an executor may follow a sum of replicas whose threads need the GIL."""
    model, other = Replicated(2, hidden=50), Replicated(2, hidden=50)
    thread = threading.Thread(target=lambda: model.train(40))
    thread.start()
    turns = 0
    while thread.is_alive():
        executor, scope, _ = executor_that_has_run(turns % 2)
        del executor, scope
        turns += 1
    thread.join()
    other.train(40)
    assert turns > 2
    assert_same_bits(model.everything(), other.everything())


def test_what_is_refused():
    with pytest.raises(pm.ProgramError, match=r"EmulatedPlace\(1\) is listed twice"):
        pm.DataParallel([pm.EmulatedPlace(1), pm.EmulatedPlace(0), pm.EmulatedPlace(1)])
    for places in ([], pm.EmulatedPlace(0), ["cpu"]):
        with pytest.raises(pm.ProgramError, match="give a list of places"):
            pm.DataParallel(places)
    model = Replicated(2)
    before = model.everything()
    feed = batch(0, "float64", ROWS)
    for error, words, wrong in (
        (pm.ShapeError, "feed 'x' has 11 rows, which 2 replicas can't share evenly", {**feed, "x": feed["x"][:11]}),
        (pm.ShapeError, "feed 'x' has sequences", {**feed, "x": pm.LoDTensor(feed["x"], [[0, 6, 12]])}),
        (pm.ShapeError, r"feed 'x' has shape \[\]", {**feed, "x": np.float64(3)}),
        (pm.ProgramError, "feed 'z' is not a variable", {**feed, "z": feed["x"]}),
        (pm.ProgramError, "feed is of type list", [feed]),
        (pm.ShapeError, "an array of float32, the program wants float64", {**feed, "x": feed["x"].astype("float32")}),
    ):
        with pytest.raises(error, match=words):
            model.step(0, wrong)
    assert_same_bits(model.everything(), before)
    with pytest.raises(pm.ProgramError, match="run takes a Program, not int"):
        model.replicas.run(3)
    with pytest.raises(pm.ProgramError, match="put wrap"):
        model.replicas.run(Replicated(0).main, feed)
    model.train(1)


def test_programs_that_are_refused():
    def scaled(optimizer, wrap):
        return pm.optimizer.LossScaling(wrap(optimizer))

    with pytest.raises(pm.ProgramError, match="LossScaling around DataParallel.wrap"):
        Replicated(2, scaled)
    replicas = pm.DataParallel([pm.EmulatedPlace(0), pm.EmulatedPlace(1)])
    ids = pm.layers.data("ids", shape=[-1], dtype="int64")
    loss = pm.layers.mean(pm.layers.embedding(ids, [5, 4], is_sparse=True))
    with pytest.raises(pm.ProgramError, match="is sparse; make the embedding with is_sparse=False"):
        replicas.wrap(pm.optimizer.SGD(0.1)).minimize(loss)
    with pytest.raises(pm.ProgramError, match="takes an optimizer, not int"):
        replicas.wrap(3)

    def on_one_device(x):
        with pm.device_guard("gpu:0"):
            return pm.layers.relu(x)

    model = Replicated(2, layer=on_one_device)
    with pytest.raises(pm.ProgramError, match="names the device 'gpu:0', but replicas run on several"):
        model.step(0)
