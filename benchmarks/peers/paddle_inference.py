# PaddlePaddle: its predictor, with oneDNN, on the programs that save_inference_model wrote.
import numpy as np

from paddle import inference
from worker import THREADS, serve


class Models:
    """Makes the run of any prefix of a model."""

    def __getitem__(self, prefix):
        return lambda: run_of(prefix)


def run_of(prefix):
    config = inference.Config(prefix + ".pdmodel", prefix + ".pdiparams")
    config.disable_gpu()
    config.enable_mkldnn()
    config.set_cpu_math_library_num_threads(THREADS)
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(np.load(prefix + ".npy"))
    output = predictor.get_output_handle(predictor.get_output_names()[0])

    def run(steps):
        for _ in range(steps):
            predictor.run()
        return float(output.copy_to_cpu().sum())

    return run


serve(Models())
