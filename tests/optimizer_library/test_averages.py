# Averages of the C library: the same bits as those of ParameterAverage, dense and row by row.
import numpy as np
import pytest

import paddle_mini as pm
from averages_by_definition import digits_off, expected
from one_parameter import Program, gradients, library, row_gradients, same_bits, values
from paddle_mini.averaging import Exponential, Polynomial, Power, Tail, Uniform, Window, fraction
from paddle_mini.optimizer.config import config_class
from weight_steps import Weights

O = pm.optimizer
MESSAGE = config_class().DESCRIPTOR.fields_by_name["averaging"].message_type
STEPS = 24
SCHEMES = {
    "window": Window(5),
    "window by rate": Window(rate=0.3, min_size=2, max_size=6),
    "uniform": Uniform(),
    "tail": Tail(4),
    "exponential": Exponential(0.9),
    "uncorrected": Exponential(0.9, bias_correction=False),
    "ratio": Exponential(0.99, warmup="ratio"),
    "warmup": Exponential(0.99, warmup=(2, 0.75)),
    "half life": Exponential(half_life=fraction(0.2)),
    "polynomial": Polynomial(3.0),
    "power": Power(6.94),
    "width": Power(relative_width=0.1),
}
WHEN = {"each": {}, "every": {"every": 3}, "start": {"start_step": 7}, "both": {"every": 2, "start_step": 5}}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("name", SCHEMES)
def test_dense(name, when, dtype):
    begin = values(dtype)
    program = Program(O.ParameterAverage(O.Momentum(0.1), SCHEMES[name], **WHEN[when]), begin)
    native, history = program.native(begin), []
    for number, gradient in enumerate(gradients(STEPS, dtype)):
        program.update(gradient)
        native.update(gradient)
        history.append(program.value())
        if number > 8 and number % 4 == 3:  # after each scheme's first member
            same_bits(native.average(), program.average(), f"update {number}")
    wanted = expected(SCHEMES[name], history, **WHEN[when])
    np.testing.assert_allclose(native.average(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("optimizer", [O.SGD, O.Adagrad])
def test_rows(optimizer, name):
    begin = values("float64")
    program = Program(O.ParameterAverage(optimizer(0.1), SCHEMES[name], every=2), begin, sparse=True)
    native = program.native(begin)
    for number, (rows, gradient) in enumerate(row_gradients(STEPS, "float64", distinct=True)):
        program.update_rows(rows, gradient)
        native.update_rows(rows, gradient)
        if number > 8 and number % 4 == 3:  # after each scheme's first member
            same_bits(native.average(), program.average(), f"update {number}")


def test_averages_of_rows_are_those_of_dense_gradients():
    begin, config = values("float64"), O.ParameterAverage(O.SGD(0.1), list(SCHEMES.values())).to_config()
    by_rows, dense = O.NativeOptimizer(config, begin), O.NativeOptimizer(config, begin)
    for rows, gradient in row_gradients(STEPS, "float64"):
        by_rows.update_rows(rows, gradient)
        whole = np.zeros_like(begin)
        np.add.at(whole, rows, gradient)
        dense.update(whole)
        for which in range(len(SCHEMES)):
            np.testing.assert_allclose(by_rows.average(which), dense.average(which), rtol=1e-9, atol=1e-12)


def test_several_averages_of_one_parameter():
    schemes = [Uniform(), Exponential(0.8), Window(3)]
    begin = values()
    program = Program(O.ParameterAverage(O.Adam(0.05), schemes), begin)
    native = program.native(begin)
    for gradient in gradients(10):
        program.update(gradient)
        native.update(gradient)
    for which, scheme in enumerate(schemes):
        same_bits(native.average(which), program.average(scheme))


def test_before_the_first_member_it_is_the_parameter():
    native = O.NativeOptimizer(O.ParameterAverage(O.SGD(0.1), Uniform(), start_step=3).to_config(), values())
    for gradient in gradients(3):
        same_bits(native.average(), native.parameter())
        native.update(gradient)
    same_bits(native.average(), native.parameter())


@pytest.mark.parametrize("by_rows", [False, True])
def test_a_part_of_an_average(by_rows):
    """Whole rows of a table that is updated by rows, any elements of another parameter."""
    begin, config = values(), O.ParameterAverage(O.SGD(0.1), list(SCHEMES.values())).to_config()
    native = O.NativeOptimizer(config, begin)
    for rows, gradient in row_gradients(12):
        native.update_rows(rows, gradient) if by_rows else native.update(np.resize(gradient, begin.shape))
    for which in range(len(SCHEMES)):
        whole = native.average(which).ravel()
        for first, count in ((0, whole.size), (5, 10), (whole.size, 0), (10, 0), *((3, 7), (1, 1)) * (not by_rows)):
            same_bits(native.average_part(which, first, count), whole[first : first + count])
        for first, count in ((0, whole.size + 5), (whole.size + 5, 0), (2**63, 5)):
            with pytest.raises(pm.Error, match="are not in the 35 of the parameter|count is 40|below 2\\*\\*63"):
                native.average_part(which, first, count)
        if by_rows:
            with pytest.raises(pm.ProgramError, match="kept for each row of 5 elements"):
                native.average_part(which, 3, 5)


def test_an_average_that_is_not_there():
    native = O.NativeOptimizer(O.SGD(0.1).to_config(), values())
    with pytest.raises(pm.ProgramError, match="average"):
        native.average()


def test_average_does_not_change_the_parameter_or_what_follows():
    begin, config = values(), O.ParameterAverage(O.SGD(0.1), [Window(4), Uniform()]).to_config()
    asked, quiet = O.NativeOptimizer(config, begin), O.NativeOptimizer(config, begin)
    for rows, gradient in row_gradients(12):
        for native in (asked, quiet):
            native.update_rows(rows, gradient)
        asked.average(1)
        asked.view()
    same_bits(asked.parameter(), quiet.parameter())
    same_bits(asked.average(0), quiet.average(0))


def test_skipped_updates_enter_no_average():
    config = O.ParameterAverage(O.SGD(0.1), Uniform(), non_finite="skip").to_config()
    native, clean = O.NativeOptimizer(config, values()), O.NativeOptimizer(config, values())
    for number, gradient in enumerate(gradients(8)):
        if number % 3 == 1:
            native.update(np.where(gradient > 0, np.nan, gradient).astype("float32"))
            continue
        native.update(gradient)
        clean.update(gradient)
    assert (native.updates, native.skipped) == (5, 3)
    same_bits(native.average(), clean.average())


def test_delta_is_averaged_too():
    native = O.NativeOptimizer(O.ParameterAverage(O.SGD(0.1), Uniform()).to_config(), np.zeros(3))
    for scale in (1.0, 2.0):
        native.apply_delta(np.ones(3), scale)
    assert native.parameter().tolist() == [3, 3, 3] and native.average().tolist() == [2, 2, 2]


def slow_path(steps, size=16):
    """Parameters that rise by a unit in the last place every second step, and some that drift by 1 % and shake."""
    random = np.random.RandomState(4)
    begin, at = random.uniform(1, 2, size).astype("float32"), np.arange(steps + 1)[:, None]
    rising = (begin.view("int32") + at // 2).astype("int32").view("float32")
    return np.hstack([rising, (begin * (1 + 0.01 * at / steps + 1e-3 * random.randn(steps + 1, size))).astype("float32")])


def test_averages_of_rows_are_exact():
    """Row r of a table is named in every (r + 1)-th of 12,000 steps, and rises by half a unit in the last place per step."""
    path, rows = slow_path(12_000, 4).reshape(-1, 4, 2), np.arange(4)
    schemes = [Uniform(), Window(3000), Polynomial(), Exponential(0.99), Exponential(1 - 1e-6)]
    native = O.NativeOptimizer(O.ParameterAverage(O.SGD(1.0), schemes).to_config(), path[0])
    now, history = path[0].copy(), []
    for step in range(1, 12_001):
        named = rows[step % (rows + 1) == 0]
        native.update_rows(named, now[named] - path[step, named])
        now[named] = path[step, named]
        history.append(now.copy())
    for which, scheme in enumerate(schemes):
        assert digits_off(native.average(which), expected(scheme, history)).max() <= 2, scheme


@pytest.mark.parametrize("scheme", MESSAGE.enum_types_by_name["Scheme"].values_by_name)
def test_every_scheme_of_the_message_is_one_of_the_operator(scheme):
    fields = {"scheme": scheme, "decay": 0.75, "exponent": 2.0, "window_min": 9, "window_max": 9}
    native, weights, average = library("SGD", np.zeros(1), averaging=[fields]), Weights(fields, LearningRate=np.full(1, 0.1)), 0.0
    for gradient in gradients(5, "float64", (1,)):
        native.update(gradient)
        average += weights.step()[0] * (native.view()[0] - average)
    np.testing.assert_allclose(native.average(), [average], rtol=1e-12)
