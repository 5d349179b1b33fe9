# ONNX Runtime: a session of a saved model.
import sys

import numpy as np
import onnxruntime

from worker import THREADS, serve


def session(prefix):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    model = onnxruntime.InferenceSession(f"{prefix}.onnx", options, providers=["CPUExecutionProvider"])
    feed = {model.get_inputs()[0].name: np.load(f"{prefix}.npy")}

    def run(steps):
        for _ in range(steps):
            (value,) = model.run(None, feed)
        return float(np.abs(value).sum(dtype="float64"))

    return run


serve({"model": lambda: session(sys.argv[1])})
