# paddle_mini's Predictor of a saved model, as a runtime of benchmarks/inference.py.
import sys

import numpy as np

import paddle_mini as pm
from worker import serve, sum_of_sample


def predictor(prefix):
    model = pm.Predictor(prefix)
    x = np.load(f"{prefix}.npy")

    def run(steps):
        for _ in range(steps):
            (value,) = model(x)
        return sum_of_sample(value)

    return run


serve({"model": lambda: predictor(sys.argv[1])})
