# NativeOptimizer: arrays in, arrays out, and errors of paddle_mini.
import copy
import gc
import pickle
import re
import resource
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from one_parameter import KINDS, library, values

O = pm.optimizer


def test_it_keeps_the_values_it_is_given():
    begin = values()
    native = O.NativeOptimizer(O.SGD(0.1).to_config(), begin)
    wanted = begin.copy()
    begin[:] = 0
    np.testing.assert_array_equal(native.parameter(), wanted)
    assert native.parameter().shape == (7, 5) and native.parameter().dtype == np.float32


def test_a_configuration_may_be_bytes():
    config = O.SGD(0.5).to_config()
    for given in (config, config.SerializeToString()):
        native = O.NativeOptimizer(given, np.ones(2))
        native.update(np.ones(2))
        assert native.parameter().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("config", [None, {"sgd": {}}, "SGD", O.SGD(0.1)])
def test_what_is_no_configuration(config):
    with pytest.raises(pm.ProgramError, match="to_config"):
        O.NativeOptimizer(config, np.ones(2))


@pytest.mark.parametrize("parameter", [np.ones(3, "int64"), np.ones(3, "float16"), np.ones(3, ">f4"), ["a"], np.array([None])])
def test_parameters_that_are_no_floats(parameter):
    with pytest.raises(pm.ShapeError, match="float32 or float64"):
        O.NativeOptimizer(O.SGD(0.1).to_config(), parameter)


def test_a_view_shows_each_update_and_can_not_be_written():
    native = O.NativeOptimizer(O.SGD(1.0).to_config(), np.zeros((2, 2)))
    view, copy = native.view(), native.parameter()
    native.update(np.ones((2, 2)))
    assert view.tolist() == [[-1, -1], [-1, -1]] and not copy.any()
    with pytest.raises(ValueError):
        view[0, 0] = 1
    with pytest.raises(ValueError):
        view.flags.writeable = True


def test_a_view_keeps_the_memory():
    with O.NativeOptimizer(O.SGD(1.0).to_config(), np.arange(1000.0)) as native:
        view = native.view()[10:20]
    del native
    gc.collect()
    others = [O.NativeOptimizer(O.SGD(1.0).to_config(), np.zeros(1000)) for _ in range(20)]
    assert view.tolist() == list(range(10, 20)) and len(others) == 20


def test_copies_have_a_memory_of_their_own():
    first = library("Adam", values())
    first.update(values(seed=1))
    for second in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert second.state() == first.state()
        second.update(values(seed=2))
        assert second.state() != first.state()
        second.close()
    assert first.updates == 1


def test_closed():
    native = O.NativeOptimizer(O.SGD(1.0).to_config(), np.zeros(2))
    native.close()
    native.close()
    for call in (lambda: native.update(np.zeros(2)), native.parameter, native.state, lambda: native.updates):
        with pytest.raises(pm.ProgramError, match="closed"):
            call()
    assert "closed" in repr(native)


@pytest.mark.parametrize(
    "gradient",
    [
        np.zeros((5, 7), "float32"),
        np.zeros(35, "float32"),
        np.zeros((7, 5)),
        np.zeros((7, 5), "int32"),
        np.zeros((7, 5), ">f4"),
        np.zeros((7, 4), "float32"),
        0.5,
    ],
)
def test_gradients_of_another_shape_or_dtype(gradient):
    native = library("Adam", values())
    before = native.state()
    for call in (native.update, native.apply_delta):
        with pytest.raises(pm.ShapeError, match=r"must be \[7, 5\] float32"):
            call(gradient)
    assert native.state() == before


@pytest.mark.parametrize("rows, shape", [([0, 1], (3, 5)), ([0], (5,)), ([0.5], (1, 5)), ([[0]], (1, 5)), ([0], (1, 4))])
def test_rows_of_another_shape_or_dtype(rows, shape):
    native = library("SGD", values())
    with pytest.raises(pm.ShapeError):
        native.update_rows(rows, np.zeros(shape, "float32"))


def test_rows_that_are_not_there():
    native = library("SGD", values())
    for rows in ([7], [-1], [0, 2**40]):
        with pytest.raises(pm.ProgramError, match=r"7 rows"):
            native.update_rows(rows, np.zeros((len(rows), 5), "float32"))
        with pytest.raises(pm.ProgramError, match=r"7 rows"):
            native.rows(rows)


def test_rows():
    begin = values()
    native = library("SGD", begin)
    np.testing.assert_array_equal(native.rows([3, 0, 3]), begin[[3, 0, 3]])
    assert native.rows([]).shape == (0, 5)
    native.update_rows(np.array([2], "uint8"), np.ones((1, 5), "float32"))
    np.testing.assert_array_equal(native.rows([1, 2]), [begin[1], begin[2] - np.float32(0.1)])


def test_strides_do_not_matter():
    first, second = library("SGD", values()), library("SGD", np.asfortranarray(values()))
    gradient = values(seed=4)
    first.update(gradient)
    second.update(np.asfortranarray(gradient))
    assert first.parameter().tobytes() == second.parameter().tobytes()
    second.update_rows(np.arange(14)[::2][:3], values(shape=(6, 5))[::-2])
    with pytest.raises(pm.ShapeError):
        second.update(gradient[::-1, ::2])


def test_its_own_view_is_no_gradient():
    native = library("SGD", values())
    with pytest.raises(pm.ProgramError, match="overlaps"):
        native.update(native.view())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (3, 0), (1, 1)])
def test_small_shapes(kind, shape):
    native = library(kind, np.ones(shape), KINDS[kind])
    native.update(np.ones(shape))
    assert native.parameter().shape == native.view().shape == shape and native.updates == 1
    again = library(kind, np.zeros(shape), KINDS[kind], native.state())
    np.testing.assert_array_equal(again.parameter(), native.parameter())
    assert np.isfinite(native.parameter()).all()


def test_a_number_has_no_rows():
    with pytest.raises(pm.ShapeError, match="rows"):
        library("SGD", np.ones(())).rows([0])


def test_deltas():
    native = library("Adam", np.zeros(3))
    native.apply_delta(np.array([1.0, 2.0, 3.0]), 0.5)
    assert native.parameter().tolist() == [0.5, 1, 1.5] and native.updates == 1


@pytest.mark.parametrize("policy", ["Apply", "Refuse", "Skip"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["SGD", "Adam", "Lamb"])
def test_gradients_that_are_not_finite(kind, bad, policy):
    native = library(kind, values(), nan_policy=policy)
    native.update(values(seed=1))
    state, gradient = native.state(), values(seed=2)
    gradient[3, 2] = bad
    calls = [lambda: native.update(gradient)]
    if kind != "Lamb":
        calls.append(lambda: native.update_rows([1, 3], gradient[[1, 3]]))
    for number, call in enumerate(calls, 1):
        if policy == "Refuse":
            with pytest.raises(O.NotFiniteError, match=f"gradient is .*{bad}"):
                call()
            assert native.state() == state
            continue
        call()
        assert native.skipped == (number if policy == "Skip" else 0)
        assert np.isfinite(native.parameter()).all() == (policy == "Skip")
    assert native.updates == (1 + len(calls) if policy == "Apply" else 1)


def test_the_kinds_of_errors():
    assert issubclass(O.NotFiniteError, pm.OpError) and issubclass(O.BusyError, pm.Error)
    assert not issubclass(O.BusyError, O.NotFiniteError)


def test_a_refused_update_changes_nothing():
    native = library("Adam", values(), averaging=[{"scheme": "uniform"}])
    native.update(values())
    before = native.state()
    for wrong in (
        lambda: native.update(values("float64")),
        lambda: native.average(1),
        lambda: native.average(-1),
        lambda: native.set_learning_rate(-1.0),
        lambda: native.set_pass(-1),
        lambda: native.update_rows([9], values(shape=(1, 5))),
    ):
        with pytest.raises(pm.Error):
            wrong()
    assert native.state() == before


def test_memory_does_not_grow():
    native, gradient, begin = library("Adam", values()), values(seed=1), values()
    config = O.Adam(0.1).to_config().SerializeToString()

    def work(count):
        for _ in range(count):
            native.update(gradient)
            native.state()
            native.view()
            O.NativeOptimizer(config, begin).close()

    work(500)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(20000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024  # KiB


def test_the_documents_program_runs():
    page = (Path(__file__).resolve().parents[2] / "docs/optimizer_library.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)
    names = {}
    exec(program, names)
    assert names["again"].updates == 1 and names["averaged"].shape == (1000, 64)


def test_arguments_that_ctypes_would_change_are_refused():
    native = library("SGD", values(), averaging=[{"scheme": "uniform"}])
    before = native.state()
    for call, words in (
        (lambda: native.set_pass(2**64), "the pass is 18446744073709551616, it must be an integer, at least 0 and below"),
        (lambda: native.set_pass(1.7), "the pass is 1.7"),
        (lambda: native.average(2**64), "which is 18446744073709551616"),
        (lambda: native.set_learning_rate("fast"), "the learning rate is 'fast', it must be a number"),
        (lambda: native.set_learning_rate(True), "the learning rate is True"),
        (lambda: native.apply_delta(values(), None), "scale is None, it must be a number"),
        (lambda: library("SGD", values(), state="abc"), "state is 'abc', it must be bytes"),
        (lambda: library("SGD", values(), state=np.zeros(3)), "state is array"),
    ):
        with pytest.raises(pm.ProgramError, match=words):
            call()
    with pytest.raises(pm.ShapeError, match="count is 36, the parameter has 35 elements"):
        native.average_part(0, 0, 36)
    assert native.state() == before
    for kind in (bytearray, memoryview):
        assert library("SGD", values(seed=5), state=kind(before), averaging=[{"scheme": "uniform"}]).state() == before
    with native.snapshot() as snapshot:
        for size in (0, -1, 0.5):
            with pytest.raises(pm.ProgramError, match="the size of a piece is"):
                next(snapshot.pieces(size))
        assert b"".join(map(bytes, snapshot.pieces(100))) == before


def test_a_copy_leaves_late_decay_as_it_is():
    """Decay that is applied earlier is rounded in another place."""
    first = library("SGD", values(), l2_rate=0.1)
    first.update_rows([0, 3], np.ones((2, 5), "float32"))
    first.update_rows([3], np.ones((1, 5), "float32"))
    before = first.state()
    assert copy.deepcopy(first).state() == first.state() == before
