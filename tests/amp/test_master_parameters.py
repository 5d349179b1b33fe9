"""Steps of optimizers on float32 masters of 16-bit parameters: the step is that of float32, and the parameter is the master,
rounded."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from harness import Rows, array, run_op

SHAPE = (40, 3)
RATE = np.float32([0.1])
POWERS = {"Beta1Pow": np.float32([0.9]), "Beta2Pow": np.float32([0.999])}
MOMENTS = {"Moment1": array(*SHAPE, seed=3), "Moment2": array(*SHAPE, low=0.1, seed=4), **POWERS}
# The state of each optimizer, and its attributes.
STATE = {
    "sgd": ({}, {}),
    "momentum": ({"Velocity": array(*SHAPE, seed=3)}, {"mu": 0.9}),
    "adam": (MOMENTS, {}),
    "adamw": (MOMENTS, {"coeff": 0.1}),
    "lamb": (MOMENTS, {"weight_decay": 0.01}),
    "adagrad": ({"Moment": array(*SHAPE, low=0.1, seed=3)}, {}),
    "adamax": ({"Moment": array(*SHAPE, seed=3), "InfNorm": array(*SHAPE, low=0.1, seed=4), "Beta1Pow": POWERS["Beta1Pow"]}, {}),
    "adadelta": ({"AvgSquaredGrad": array(*SHAPE, low=0.1, seed=3), "AvgSquaredUpdate": array(*SHAPE, low=0.1, seed=4)}, {}),
    "rmsprop": ({"MeanSquare": array(*SHAPE, low=0.1, seed=3), "Moment": array(*SHAPE, seed=4)}, {}),
}
MASTER, GRAD = array(*SHAPE).astype("float32"), bits_of(array(*SHAPE, seed=1))


def float32(values):
    return {port: np.asarray(value, "float32") for port, value in values.items()}


def narrowed(values, dtype):
    return bits_of(values) if dtype == "bfloat16" else np.asarray(values, dtype)


def step(op, grad, dtype="bfloat16", **changed):
    """The step with a master, and its outputs by port."""
    state, attrs = STATE[op]
    inputs = {"Param": narrowed(MASTER, dtype), "MasterParam": MASTER, "Grad": grad, "LearningRate": RATE, **float32(state)}
    outputs = ["ParamOut", "MasterParamOut", *(f"{port}Out" for port in state if f"{port}Out" in outputs_of(op))]
    return run_op(op, inputs | changed, {**attrs, "multi_precision": True}, outputs)


def outputs_of(op):
    return {port["name"] for port in pm.schemas.op_schema(op)["outputs"]}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("op", STATE)
def test_a_step_is_that_of_float32(op, dtype):
    state, attrs = STATE[op]
    narrow = narrowed(numbers_of(GRAD), dtype)
    grad = numbers_of(narrow) if dtype == "bfloat16" else narrow.astype("float32")
    wide = run_op(op, {"Param": MASTER, "Grad": grad, "LearningRate": RATE, **float32(state)}, attrs)
    found = step(op, narrow, dtype)
    np.testing.assert_array_equal(found.pop("MasterParamOut"), wide["ParamOut"])
    np.testing.assert_array_equal(found.pop("ParamOut"), narrowed(wide["ParamOut"], dtype))
    for port in found:
        assert found[port].dtype == np.float32
        np.testing.assert_array_equal(found[port], wide[port])


@pytest.mark.parametrize("op", ["lars_momentum", "merged_momentum", "merged_adam"])
def test_a_step_of_several_parameters(op):
    count, (state, attrs) = 2, STATE["adam" if op == "merged_adam" else "momentum"]
    masters, grads = [MASTER, MASTER[:7] * 2], [GRAD, GRAD[:7]]
    parts = [float32(state), {port: value[:7] for port, value in float32(state).items()}]
    inputs = {"LearningRate": [RATE], **{port: [part[port] for part in parts] for port in state}}
    wide = run_op(op, {"Param": masters, "Grad": [numbers_of(grad) for grad in grads], **inputs}, attrs, several(op, count))
    inputs |= {"Param": [bits_of(master) for master in masters], "MasterParam": masters, "Grad": grads}
    found = run_op(op, inputs, {**attrs, "multi_precision": True}, {**several(op, count), "MasterParamOut": count})
    for port in wide:
        for one, wanted in zip(found["MasterParamOut" if port == "ParamOut" else port], wide[port], strict=True):
            np.testing.assert_array_equal(one, wanted)
    for one, wanted in zip(found["ParamOut"], wide["ParamOut"], strict=True):
        np.testing.assert_array_equal(one, bits_of(wanted))
    with pytest.raises(pm.ProgramError, match="MasterParam has 1 variables, Param has 2"):
        run_op(op, inputs | {"MasterParam": masters[:1]}, attrs, {**several(op, count), "MasterParamOut": 1})


def several(op, count):
    """The outputs of a step without masters, and how many variables each has."""
    return {port: count for port in sorted(outputs_of(op)) if port != "MasterParamOut"}


def test_a_gradient_of_float32():
    np.testing.assert_array_equal(step("sgd", numbers_of(GRAD))["MasterParamOut"], step("sgd", GRAD)["MasterParamOut"])


@pytest.mark.parametrize("op", ["sgd", "adam", "adagrad", "momentum"])
def test_a_sparse_gradient_of_float32(op):
    state, attrs = STATE[op]
    grad = Rows([3, 0, 3], array(3, 3, seed=1).astype("float32"), 40)
    wide = run_op(op, {"Param": MASTER, "Grad": grad, "LearningRate": RATE, **float32(state)}, attrs)
    found = step(op, grad)
    np.testing.assert_array_equal(found["MasterParamOut"], wide["ParamOut"])
    np.testing.assert_array_equal(found["ParamOut"], bits_of(wide["ParamOut"]))


def test_steps_too_small_for_16_bits_add_up():
    """1,000 steps of 2^-12 from 1: bfloat16 alone would stay at 1."""
    program, scope, exe = pm.Program(), pm.Scope(), pm.Executor()
    block = program.global_block()
    values = {"w": bits_of([1.0]), "master": np.float32([1.0]), "rate": np.float32([2.0**-12])}
    for name, value in values.items():
        block.create_var(name, dtype="bfloat16" if name == "w" else "float32", shape=[1], persistable=True)
        scope.set(name, value)
    block.create_var("g", dtype="bfloat16", shape=[1])
    block.append_op(
        "sgd",
        {"Param": "w", "MasterParam": "master", "Grad": "g", "LearningRate": "rate"},
        {"ParamOut": "w", "MasterParamOut": "master"},
        {"multi_precision": True},
    )
    for _ in range(1000):
        exe.run(program, {"g": bits_of([-1.0])}, scope=scope)
    assert scope.get("master") == np.float32(1 + 1000 / 4096)
    assert numbers_of(scope.get("w")) == numbers_of(bits_of(1 + 1000 / 4096))


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"MasterParam": MASTER.astype("float64")}, "MasterParam is float64, it must be float32"),
        ({"MasterParam": MASTER[:-1]}, "Param has shape"),
        ({"Param": MASTER}, "Param is float32; beside MasterParam it must be float16 or bfloat16"),
        ({"LearningRate": bits_of(RATE)}, "Param is float32, LearningRate is bfloat16"),
        ({"Grad": numbers_of(GRAD).astype("float64")}, "Param is float32, Grad is float64"),
    ],
)
def test_refusals(changed, message):
    with pytest.raises(pm.ShapeError, match=message):
        step("sgd", GRAD, **changed)


def test_scaled_gradients_of_16_bits_beside_a_scale_of_float32():
    found = run_op("check_finite_and_unscale", {"X": [GRAD], "Scale": np.float32([4.0])}, {}, {"Out": 1, "FoundInfinite": 1})
    np.testing.assert_array_equal(found["Out"][0], bits_of(numbers_of(GRAD) / 4))
    assert not found["FoundInfinite"]
    infinite = GRAD.copy()
    infinite[1, 2] = bits_of(np.float32(2.0**127)) + 0x80  # infinity
    assert run_op("check_finite_and_unscale", {"X": [infinite], "Scale": np.float32([4.0])}, {}, {"Out": 1, "FoundInfinite": 1})[
        "FoundInfinite"
    ]


def test_cast_parameters():
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    for name, dtype in [("narrow", "bfloat16"), ("half", "float16"), ("wide", "float32")]:
        block.create_parameter(name, [3], dtype)
        scope.set(name, np.float32([1, 1 + 2**-9, 3]))
    assert pm.amp.cast_parameters(program, scope) == ["half", "narrow"]
    np.testing.assert_array_equal(numbers_of(scope.get("narrow")), np.float32([1, 1, 3]))
    np.testing.assert_array_equal(scope.get("half"), np.float16([1, 1 + 2**-9, 3]))
    assert scope.get("wide").dtype == np.float32
    assert pm.amp.cast_parameters(program, scope) == []
