# paddle_mini's Predictor of a saved model, as a runtime of benchmarks/inference.py.
import sys

import numpy as np

import paddle_mini as pm
from worker import serve


def predictor(prefix):
    model = pm.Predictor(prefix)
    x = np.load(f"{prefix}.npy")

    def run(steps):
        for _ in range(steps):
            (value,) = model(x)
        return float(np.abs(value).sum(dtype="float64"))

    return run


serve({"model": lambda: predictor(sys.argv[1])})
