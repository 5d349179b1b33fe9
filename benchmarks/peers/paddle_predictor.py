# PaddlePaddle's predictor of a saved model, with its fusions and oneDNN, or without oneDNN.
import sys

import numpy as np

from paddle import inference
from worker import THREADS, serve, sum_of_sample


def predictor(prefix, with_onednn):
    config = inference.Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")
    config.disable_gpu()
    config.set_cpu_math_library_num_threads(THREADS)
    config.switch_ir_optim(True)
    config.enable_memory_optim()
    config.disable_glog_info()
    if with_onednn:
        config.enable_mkldnn()
        config.set_mkldnn_cache_capacity(10)
    made = inference.create_predictor(config)
    feed = made.get_input_handle(made.get_input_names()[0])
    fetch = made.get_output_handle(made.get_output_names()[0])
    x = np.load(f"{prefix}.npy")

    def run(steps):
        for _ in range(steps):
            feed.copy_from_cpu(x)
            made.run()
            value = fetch.copy_to_cpu()
        return sum_of_sample(value)

    return run


serve({"model": lambda: predictor(sys.argv[1], "--onednn" in sys.argv)})
