# ONNX Runtime: a session of a saved model.
import sys

import numpy as np
import onnxruntime

from worker import THREADS, serve, sum_of_sample


def session(prefix):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    model = onnxruntime.InferenceSession(f"{prefix}.onnx", options, providers=["CPUExecutionProvider"])
    feed = {model.get_inputs()[0].name: np.load(f"{prefix}.npy")}

    def run(steps):
        for _ in range(steps):
            (value,) = model.run(None, feed)
        return sum_of_sample(value)

    return run


serve({"model": lambda: session(sys.argv[1])})
