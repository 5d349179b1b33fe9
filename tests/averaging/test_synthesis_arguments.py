"""synthesize, Checkpoint and LearningRateDecay: invalid arguments are rejected by name."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.averaging import Checkpoint, LearningRateDecay, Tail, Uniform, synthesize

VALUES = {"w": np.ones((2, 3), "float32")}
ONE = [Checkpoint(5, VALUES)]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: synthesize([], Uniform()), "a list of Checkpoint"),
        (lambda: synthesize("run.pdparams", Uniform()), "a list of Checkpoint"),
        (lambda: synthesize(["run.pdparams"], Uniform()), "checkpoint 0 is str"),
        (lambda: synthesize(ONE, "ema"), "the target is 'ema'"),
        (lambda: synthesize(ONE, Uniform), "the target is <class"),
        (lambda: synthesize(ONE, None), "the target is None"),
        (lambda: synthesize(ONE, Uniform(), step=6), "after step 6, the newest checkpoint is of step 5"),
        (lambda: synthesize(ONE, Uniform(), step=4), "no checkpoint is of step 4 or before"),
        (lambda: synthesize(ONE, Uniform(), step=0), "step is 0"),
        (lambda: synthesize(ONE, Uniform(), step=2.5), "step is 2.5"),
        (lambda: synthesize(ONE, Tail(5)), "begins at step 5"),
        (lambda: synthesize(ONE, LearningRateDecay(9)), "begins at step 9"),
        (lambda: synthesize(ONE, Uniform(), dtype="int8"), "dtype is 'int8'"),
        (lambda: synthesize(ONE, Uniform(), dtype=["float32"]), "is not an element type"),
        (lambda: synthesize(ONE, Uniform(), tolerance=-1), "tolerance is -1"),
        (lambda: synthesize(ONE, Uniform(), tolerance=None), "tolerance is None"),
        (lambda: synthesize(ONE, Uniform(), tolerance=float("nan")), "tolerance is nan"),
        (lambda: synthesize(ONE, Uniform(), max_error="x"), "max_error is 'x'"),
        (lambda: synthesize(ONE, Uniform(), max_error=0.5), "predicted error is 1, above 0.5"),
        (lambda: synthesize(ONE, LearningRateDecay(2, lambda x: x)), "falls within 0..1"),
        (lambda: synthesize(ONE, LearningRateDecay(2, lambda x: 2 - x)), "falls within 0..1"),
        (lambda: synthesize(ONE, LearningRateDecay(2, lambda x: 0.5)), "falls within 0..1"),
        (lambda: synthesize(ONE, Uniform()).state("w"), "names is a list"),
        (lambda: LearningRateDecay(-1), "the start is a step"),
        (lambda: LearningRateDecay(1.5), "the start is a step"),
        (lambda: LearningRateDecay(1, "exponential"), "the shape is 'exponential'"),
        (lambda: Checkpoint(0, VALUES), "step is 0"),
        (lambda: Checkpoint(True, VALUES), "step is True"),
        (lambda: Checkpoint(1, VALUES, Uniform(), every=0), "every is 0"),
        (lambda: Checkpoint(1, VALUES, Uniform(), start_step=-1), "start_step is -1"),
        (lambda: Checkpoint(1, 3), "the source is a path or a dict of arrays, not int"),
        (lambda: Checkpoint(1, VALUES, "ema"), "average is 'ema'"),
        (lambda: Checkpoint(1, VALUES, program="x"), "program is str"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(pm.ProgramError, match=message):
        call()
