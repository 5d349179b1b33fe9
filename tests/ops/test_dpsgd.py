"""dpsgd: gradient descent with a gradient that is clipped by its norm and has added noise."""

import numpy as np

import paddle_mini as pm
from families.updates import dense_only, steps
from harness import op_tests

NORMAL_OF_SEED_7 = -0.74822366  # PaddlePaddle's


def reference(inputs, attrs):
    g = inputs["Grad"]
    divisor = max(np.sqrt(np.sum(g * g)) / attrs["clip"], 1) if attrs["clip"] else np.inf
    noise = NORMAL_OF_SEED_7 * attrs["sigma"] / attrs["batch_size"]
    return {"ParamOut": inputs["Param"] - inputs["LearningRate"].reshape(()) * (g / divisor + noise)}


step = steps(0.25)

test_dpsgd = op_tests(
    "dpsgd",
    reference,
    cases={
        "not clipped": (step(5, 7), {"seed": 7}),
        "clipped": (step(40), {"seed": 7, "clip": 0.5}),
        "clip 0": (step(9), {"seed": 7, "clip": 0.0}),
        "numbers": (step(40), {"seed": 7, "batch_size": 4.0, "sigma": 2.0}),
        "no noise": (step(9), {"sigma": 0.0}),
        "one element": (step(), {"seed": 7}),
        "no rows": (step(0, 4), {"seed": 7}),
    },
    refusals={**dense_only(step), "no batch": (step(3), {"batch_size": 0.0}, pm.ProgramError, "batch_size at least 1")},
    # The anchor is known to float32.
    tolerance={"float64": 1e-8},
)


def test_seed_zero_goes_on_with_the_run_and_the_noise_is_one_number():
    inputs = {"Param": np.zeros(1000), "Grad": np.zeros(1000), "LearningRate": np.ones(1)}
    program, scope, executor = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    block = program.global_block()
    for name, value in inputs.items():
        block.create_var(name, dtype=value.dtype, shape=value.shape, persistable=True)
        scope.set(name, value)
    block.append_op("dpsgd", {name: [name] for name in inputs}, {"ParamOut": ["out"]}, {"batch_size": 1.0})
    runs = [executor.run(program, fetch_list=["out"], scope=scope)[0] for _ in range(200)]
    assert all((run == run[0]).all() for run in runs)
    draws = np.array([run[0] for run in runs])
    assert len(set(draws)) > 190 and abs(draws.mean()) < 0.3 and 0.75 < draws.std() < 1.25
