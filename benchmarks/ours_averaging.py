# Averaging in paddle_mini, as a runtime of benchmarks/run.py: averages alone and around optimizers.
import os
from functools import partial

import paddle_mini as pm
import workloads
from ours import OPTIMIZERS, Built, optimizer_step, wide_deep
from paddle_mini.averaging import Exponential, Uniform, Window
from worker import serve


class Unchanging:
    """An optimizer without operators, so that its averages run alone."""

    def __init__(self, rate):
        pass

    def backward(self, *_):
        return []

    def apply_gradients(self, pairs):
        return []


EXPONENTIAL = Exponential(workloads.DECAY)
SCHEMES = {
    "exponential": EXPONENTIAL,
    "window": Window(workloads.WINDOW),
    "compensated": Exponential(workloads.DECAY, compensated=True),
    "two": [EXPONENTIAL, Uniform()],
    "three": [EXPONENTIAL, Uniform(), Exponential(0.99)],
    "four": [EXPONENTIAL, Uniform(), Exponential(0.99), Exponential(0.9)],
}


def averaged(optimizer, scheme, tensors, separate=False):
    """separate: two passes over the parameters, the optimizer's and the average's."""
    os.environ["PM_FUSE"] = "0" if separate else "1"
    return optimizer_step(lambda rate: pm.optimizer.ParameterAverage(optimizer(rate), SCHEMES[scheme]), tensors)


def averaged_halves(tensors, dtype):
    """Averages alone, of 16-bit parameters."""
    os.environ["PM_FUSE"] = "0"
    built = Built()
    size = workloads.OPTIMIZER_ELEMENTS // tensors
    with built.guard():
        one = pm.layers.create_parameter([size], name="one", default_initializer=pm.initializer.Constant(1.0))
        startup, halves = built.startup.global_block(), []
        for i in range(tensors):
            halves.append(built.main.global_block().create_parameter(f"parameter_{i}", [size], dtype))
            startup.create_var(f"parameter_{i}", shape=[size], dtype=dtype, persistable=True)
            startup.append_op(
                "cast",
                {"X": one.name},
                {"Out": f"parameter_{i}"},
                {"in_dtype": pm.dtypes.NUMBERS["float32"], "out_dtype": pm.dtypes.NUMBERS[dtype]},
            )
        pm.optimizer.ParameterAverage(Unchanging(0), EXPONENTIAL).apply_gradients([(half, half) for half in halves])
    return built.updates()


def steps_with_averages():
    found = {}
    for tensors in workloads.OPTIMIZER_TENSORS:
        for scheme in SCHEMES:
            found[f"alone_{tensors}_{scheme}"] = partial(averaged, Unchanging, scheme, tensors, separate=True)
            for name, optimizer in OPTIMIZERS.items():
                both = partial(averaged, optimizer, scheme, tensors)
                found[f"{name}_{tensors}_{scheme}"] = both
                found[f"{name}_{tensors}_{scheme}_separate"] = partial(both, separate=True)
        for name, optimizer in OPTIMIZERS.items():
            found[f"{name}_{tensors}"] = partial(optimizer_step, optimizer, tensors)
        for dtype in ("bfloat16", "float16"):
            found[f"alone_{tensors}_{dtype}"] = partial(averaged_halves, tensors, dtype)
    return found


def averaged_wide_deep(scheme):
    return wide_deep(lambda optimizer: pm.optimizer.ParameterAverage(optimizer, scheme))


if __name__ == "__main__":
    serve(
        {
            **steps_with_averages(),
            "wide_deep": wide_deep,
            "wide_deep_exponential": partial(averaged_wide_deep, EXPONENTIAL),
            "wide_deep_uniform": partial(averaged_wide_deep, Uniform()),
        }
    )
