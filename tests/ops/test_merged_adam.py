"""merged_adam: adam's step for several parameters at once."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests, run_op


def reference(inputs, attrs):
    beta1, beta2, epsilon = (np.float64(np.float32(attrs[name])) for name in ("beta1", "beta2", "epsilon"))
    rates = inputs["LearningRate"] * (len(inputs["Param"]) if len(inputs["LearningRate"]) == 1 else 1)
    ports = ("Param", "Grad", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")
    still = attrs["use_global_beta_pow"]
    out = {f"{port}Out": [] for port in ports if port != "Grad"}
    for p, g, m, v, b1, b2, rate in zip(*(inputs[port] for port in ports), rates):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        one, two = 1 - b1.reshape(()), 1 - b2.reshape(())
        p = p - rate.reshape(()) * (m / one) / (np.sqrt(v / two) + epsilon)
        new = (p, m, v, b1 if still else b1 * beta1, b2 if still else b2 * beta2)
        for values, value in zip(out.values(), new):
            values.append(value)
    return out


def step(*shapes, rates=1, **more):
    arrays = lambda **how: [array(*shape, **how) for shape in shapes]
    return {
        "Param": arrays(),
        "Grad": arrays(seed=1),
        "Moment1": arrays(seed=2),
        "Moment2": arrays(low=0, seed=3),
        "LearningRate": [np.full(1, 0.25 / (i + 1)) for i in range(rates)],
        "Beta1Pow": [np.full(1, 0.9 ** (i + 1)) for i in range(len(shapes))],
        "Beta2Pow": [np.full(1, 0.5 ** (i + 1)) for i in range(len(shapes))],
        **more,
    }


SEVERAL = [(5, 7), (40,), ()]

test_merged_adam = op_tests(
    "merged_adam",
    reference,
    cases={
        "one parameter": (step((5, 7)), {}),
        "several": (step(*SEVERAL), {"epsilon": 0.5, "beta1": 0.75, "beta2": 0.5}),
        "several rates": (step(*SEVERAL, rates=3), {}),
        "powers advanced elsewhere": (step(*SEVERAL), {"use_global_beta_pow": True}),
        "one element": (step(()), {}),
        "no rows": (step((0, 4), (3,)), {}),
    },
    refusals={
        "other shape": (step((3,), Grad=[array(4)]), {}, pm.ShapeError, "Param [3] Grad [4]"),
        "fewer powers": (step((3,), (3,), Beta1Pow=[np.ones(1)]), {}, pm.ProgramError, "Beta1Pow 1 Param 2"),
        "two rates": (step(*SEVERAL, rates=2), {}, pm.ProgramError, "LearningRate 2 Param 3"),
        "selected rows": (step((6, 3), Grad=[Rows([2], array(1, 3), 6)]), {}, pm.ShapeError, "Grad selected rows"),
        "beta over 1": (step((3,)), {"beta1": 1.5}, pm.ProgramError, "beta1 1.5"),
    },
)


def test_it_is_adam_to_the_bit():
    inputs = step(*SEVERAL)
    merged = run_op("merged_adam", inputs, outputs={port: 3 for port in reference(inputs, _ATTRS)})
    for i in range(3):
        alone = run_op("adam", {port: values[i if len(values) == 3 else 0] for port, values in inputs.items()})
        for port in alone:
            np.testing.assert_array_equal(merged[port][i], alone[port], port)


_ATTRS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "use_global_beta_pow": False}


def test_a_result_over_another_input_is_refused():
    program = pm.Program()
    block = program.global_block()
    inputs = step((3,), (3,))
    names = {port: [f"{port}{i}" for i in range(len(values))] for port, values in inputs.items()}
    for port, values in inputs.items():
        for name, value in zip(names[port], values):
            block.create_var(name, dtype=value.dtype, shape=value.shape, persistable=True)
    outs = {f"{port}Out": names[port] for port in names if port not in ("Grad", "LearningRate")}
    try:
        block.append_op("merged_adam", names, outs | {"ParamOut": names["Param"][::-1]})
    except pm.ProgramError as error:
        assert "another Param" in str(error)
    else:
        raise AssertionError("not refused")
