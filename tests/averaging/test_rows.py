"""Tables with sparse gradients: averages are updated row by row and equal those of dense averaging."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import paddle_mini as pm
from averaged_models import LAZY
from averages_by_definition import expected
from bfloat16 import numbers_of
from paddle_mini.averaging import BiasCorrected, Exponential, Latest, Uniform, Window
from paddle_mini.optimizer import ParameterAverage
from thorough import some

O = pm.optimizer
LEAVES_ROWS = {
    "SGD": lambda **k: O.SGD(0.3, **k),
    "Adagrad": lambda **k: O.Adagrad(0.2, epsilon=0.0, **k),
    "Ftrl": lambda **k: O.Ftrl(0.2, l1=0.01, l2=0.05, **k),
    "lazy Adam": lambda **k: O.Adam(0.05, lazy_mode=True, **k),
}
MOVES_ROWS = {
    "Momentum": lambda: O.Momentum(0.1, 0.9),
    "Adam": lambda: O.Adam(0.05),
    "SGD with a regularizer": lambda: O.SGD(0.3, regularization=pm.regularizer.L2Decay(0.05)),
    "GradientMerge": lambda: O.GradientMerge(O.SGD(0.3), 2),
}
ROWS, WIDTH = 9, 3


class Lookup:
    """The mean square of rows of a table times a weight; history: the table after every step."""

    def __init__(self, optimizer, scheme, dtype="float32", **arguments):
        self.main, self.startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
        with pm.program_guard(self.main, self.startup):
            ids = pm.layers.data("ids", [-1], dtype="int64")
            rows = pm.layers.embedding(ids, [ROWS, WIDTH], is_sparse=True, param_attr="table", dtype=dtype)
            hidden = pm.layers.fc(rows, 2, param_attr="w", bias_attr=False)
            self.average = ParameterAverage(optimizer, scheme, **arguments)
            self.average.minimize(pm.layers.mean(pm.layers.square(hidden)))
        pm.seed(1)
        self.exe.run(self.startup, scope=self.scope)
        self.history = []

    def step(self, ids):
        self.exe.run(self.main, {"ids": np.asarray(ids, "int64")}, scope=self.scope)
        self.history.append(self.scope.get("table"))

    def walk(self, steps, seed=0):
        """Rows 1 to 5 often, some twice in a batch; 6 once; 0 in the last half only; 7 and 8 never."""
        random = np.random.RandomState(seed)
        for number in range(steps):
            seldom = [3, 3] * (number % 4 == 0) + [6] * (number == 1) + [0] * (number > steps // 2)
            self.step([*random.randint(1, 6, 4), *seldom])
        return self

    def value(self, scheme=None, name="table"):
        with self.average.apply(self.exe, self.scope, scheme):
            return self.scope.get(name)


def is_lazy(model):
    return any("row_stamps" in name for name in model.scope.names())


def dense(optimizer):
    """The same steps, with averages of whole tables."""
    optimizer.leaves_other_rows = False
    return optimizer


@pytest.mark.parametrize("name", LEAVES_ROWS)
@pytest.mark.parametrize("arguments", some([{}, {"every": 3}, {"start_step": 5}, {"every": 2, "start_step": 3}], 2), ids=str)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("float64", 1e-13)])
def test_lazy_is_dense(name, arguments, dtype, tolerance):
    """N1: every scheme that supports rows, duplicate ids, rows that are never named; training has the same bits."""
    lazy = Lookup(LEAVES_ROWS[name](), LAZY, dtype, **arguments)
    whole = Lookup(dense(LEAVES_ROWS[name]()), LAZY, dtype, **arguments)
    assert is_lazy(lazy) and not is_lazy(whole)
    for _ in range(3):
        for model in (lazy, whole):
            model.walk(8, len(model.history))
        assert lazy.history[-1].tobytes() == whole.history[-1].tobytes()
        for scheme in LAZY:
            found = lazy.value(scheme)
            assert_allclose(found, whole.value(scheme), atol=tolerance, rtol=tolerance, err_msg=repr(scheme))
            assert_allclose(
                found, expected(scheme, lazy.history, **arguments), atol=2 * tolerance, rtol=2 * tolerance, err_msg=repr(scheme)
            )
            assert found[7:].tobytes() == lazy.history[0][7:].tobytes()
            assert lazy.value(scheme, "w").tobytes() == whole.value(scheme, "w").tobytes()


@given(
    number=st.integers(0, len(LAZY) - 1),
    every=st.integers(1, 4),
    start_step=st.integers(0, 9),
    steps=st.lists(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=3), min_size=1, max_size=30),
    looks=st.integers(1, 30),
)
@settings(max_examples=60)
def test_any_rows_at_any_steps(number, every, start_step, steps, looks):
    """Reading averages in between does not change them later."""
    scheme = LAZY[number]
    model = Lookup(O.SGD(0.3), scheme, "float64", every=every, start_step=start_step)
    for step, ids in enumerate(steps, 1):
        model.step(ids)
        if (step % looks == 0 or step == len(steps)) and step >= max(start_step, scheme.start) + every:
            wanted = expected(scheme, model.history, every, start_step)
            assert_allclose(model.value(), wanted, rtol=1e-12, atol=1e-12)


def test_long_pauses_between_changes():
    model = Lookup(O.SGD(0.3), LAZY, "float64")
    for step in range(1500):
        model.step([1 if step == 700 else 2])
    for scheme in LAZY:
        assert_allclose(model.value(scheme), expected(scheme, model.history), rtol=1e-11, err_msg=repr(scheme))


@pytest.mark.parametrize("name", MOVES_ROWS)
def test_optimizers_that_move_all_rows_have_dense_averages(name):
    model = Lookup(MOVES_ROWS[name](), LAZY, "float64").walk(12)
    assert not is_lazy(model)
    history = model.history[1::2] if name == "GradientMerge" else model.history
    for scheme in LAZY:
        assert_allclose(model.value(scheme), expected(scheme, history), rtol=1e-12, err_msg=repr(scheme))


@pytest.mark.parametrize("name", ["SGD", "Adagrad", "lazy Adam"])
@pytest.mark.parametrize(
    "clip", [pm.clip.GradientClipByGlobalNorm(0.05), pm.clip.GradientClipByNorm(0.05)], ids=["global", "norm"]
)
def test_clipped_gradients_leave_rows_alone_too(name, clip):
    model = Lookup(LEAVES_ROWS[name](grad_clip=clip), LAZY, "float64").walk(12)
    for scheme in LAZY:
        assert_allclose(model.value(scheme), expected(scheme, model.history), rtol=1e-12, err_msg=repr(scheme))


def test_loss_scaling_around_rows():
    model = Lookup(O.LossScaling(O.SGD(0.3)), LAZY, "float64").walk(12)
    assert is_lazy(model)
    for scheme in LAZY:
        assert_allclose(model.value(scheme), expected(scheme, model.history), rtol=1e-12, err_msg=repr(scheme))


@pytest.mark.parametrize("scheme", [Latest(3), BiasCorrected()], ids=repr)
@pytest.mark.parametrize("name", LEAVES_ROWS)
def test_schemes_that_keep_whole_tables_are_refused(name, scheme):
    with pytest.raises(
        pm.ProgramError,
        match=r"keeps whole tables, but 'table' has a sparse gradient; average it with "
        r"Uniform\(\), .*, or leave it out with parameters=\[...\]",
    ):
        Lookup(LEAVES_ROWS[name](), scheme)
    model = Lookup(LEAVES_ROWS[name](), scheme, parameters=["w"]).walk(5)
    assert model.value().tobytes() == model.history[-1].tobytes()


@pytest.mark.parametrize(
    "one, other", [(Uniform(compensated=True), Uniform()), (Exponential(0.9, compensated=True), Exponential(0.9))], ids=repr
)
def test_rows_lose_nothing_whether_that_is_asked_for_or_not(one, other):
    model = Lookup(O.SGD(0.3), [one, other]).walk(20)
    assert model.value(one).tobytes() == model.value(other).tobytes()


@pytest.mark.parametrize("name", LEAVES_ROWS)
def test_a_step_costs_what_its_rows_cost(name):
    """A21: only the lookup, the optimizer and average_rows name the table or the variables kept for it."""
    model = Lookup(LEAVES_ROWS[name](), [Uniform(), Window(3), Exponential(0.9)]).walk(2)
    kept = {key for key in model.scope.names() if key.startswith("table")}
    assert len([key for key in kept if "average" in key]) == 7
    naming = {op.type for op in model.main.global_block().ops if kept & {*op.input_names, *op.output_names}}
    own = {"lazy Adam": "adam"}.get(name, name.lower())
    assert naming == {"lookup_table_v2", "lookup_table_v2_grad", "average_rows", own}
    plan = model.exe.plan_text(model.main, {"ids": np.array([1, 2])}, scope=model.scope)
    lines = [line for line in plan.splitlines() if "parameter_average" in line]
    assert lines and not any("table" in line for line in lines)
    assert all("w" in line for line in lines)


def test_a_table_averaged_by_rows_goes_on_from_a_file(tmp_path):
    whole, stopped = (Lookup(O.SGD(0.3), [Window(3), Uniform()]).walk(5) for _ in range(2))
    pm.io.save_program(tmp_path / "half", stopped.main, stopped.scope)
    stopped.scope = pm.Scope()
    stopped.main = pm.io.load_program(tmp_path / "half", stopped.scope)
    for model in (whole, stopped):
        model.walk(6, 1)
    for scheme in (Window(3), Uniform()):
        assert stopped.value(scheme).tobytes() == whole.value(scheme).tobytes()


def test_a_program_reads_rows_up_to_date():
    model = Lookup(O.SGD(0.3), LAZY).walk(9)
    testing = pm.Program()
    with pm.program_guard(testing, pm.Program()):
        ids = pm.layers.data("ids", [-1], dtype="int64")
        table = pm.layers.embedding(ids, [ROWS, WIDTH], param_attr="table")
    for scheme in LAZY:
        averaged = model.average.program(testing, scheme)
        (found,) = model.exe.run(averaged, {"ids": np.arange(ROWS)}, [table.name], model.scope)
        assert found.tobytes() == model.value(scheme).tobytes()
        model.exe.run(model.average.apply_program(scheme, keep_raw=True), scope=model.scope)
        assert model.scope.get("table").tobytes() == found.tobytes()
        model.average.restore(scope=model.scope)


def test_a_row_that_is_not_finite_is_refused_before_it_enters_an_average():
    model = Lookup(O.SGD(0.3), [Uniform(), Window(3)]).walk(3)
    table = model.scope.get("table")
    table[2, 1] = np.inf
    model.scope.set("table", table)
    kept = {name: model.scope.get(name) for name in model.scope.names() if name.startswith("table_average")}
    with pytest.raises(pm.OpError, match="row 2 of Param holds inf: it does not enter the average"):
        model.step([2])
    assert all(np.isfinite(model.scope.get(name)).all() for name in kept)
    assert all(model.scope.get(name).tobytes() == value.tobytes() for name, value in kept.items())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_tables_of_16_bits_have_dense_averages(dtype):
    """Their averages are float32."""
    model = Lookup(O.SGD(0.3), Uniform(), dtype).walk(6)
    assert not is_lazy(model)
    numbers = numbers_of if dtype == "bfloat16" else np.asarray
    tables = np.array([numbers(table) for table in model.history], "float64")
    np.testing.assert_allclose(numbers(model.value()), tables.mean(0), rtol=2**-8, atol=1e-4)
