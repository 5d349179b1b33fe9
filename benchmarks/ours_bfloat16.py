# Products, convolutions and steps of float32 and bfloat16, as a runtime of benchmarks/bfloat16_levels.py.
"""A workload is a word, its kind and arguments with commas; a run's result is the CPU seconds of a step of this process.

product,TYPE,M,N,K  |  convolution,TYPE,forward|image|filters,IMAGES,CHANNELS,FILTERS,WINDOW,STRIDE,SIZE
step,gpt|bert|resnet|lenet,float32|O1|O2
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import half_precision
import inference_models
import ours
import paddle_mini as pm
import workloads
from worker import Run, serve


def bits(values: np.ndarray, dtype: str) -> np.ndarray:
    return values if dtype == "float32" else (values.view("uint32") >> 16).astype("uint16")


def timed(call: Callable[[], Any]) -> Run:
    call()

    def run(steps: int) -> float:
        begin = time.process_time()
        for _ in range(steps):
            call()
        return (time.process_time() - begin) / steps

    return run


def operator(
    op_type: str, dtype: str, inputs: dict[str, tuple[int, ...]], outputs: tuple[str, ...], attrs: dict[str, Any]
) -> Run:
    """One operator over values of the scope; over copies of matrices on the right and filters, which it would keep packed."""
    program, exe, scope = pm.Program(), pm.Executor(), pm.Scope()
    block, draw = program.global_block(), np.random.default_rng(1)
    for name, shape in inputs.items():
        kept = f"{name} kept" if name in ("Y", "Filter") else name
        block.create_var(kept, dtype=dtype, shape=list(shape), persistable=True)
        scope.set(kept, bits(draw.standard_normal(shape).astype("float32"), dtype))
        if kept != name:
            block.create_var(name, dtype=dtype)
            block.append_op("assign", {"X": kept}, {"Out": name})
    for name in outputs:
        block.create_var(name, dtype=dtype, persistable=True)
    block.append_op(op_type, {name: name for name in inputs}, {name: name for name in outputs}, attrs)
    return timed(lambda: exe.run(program, fetch_list=[], scope=scope))


def product(dtype: str, m: str, n: str, k: str) -> Run:
    return operator("matmul_v2", dtype, {"X": (int(m), int(k)), "Y": (int(k), int(n))}, ("Out",), {})


def convolution(dtype: str, direction: str, *sizes: str) -> Run:
    images, channels, filters, window, stride, size = map(int, sizes)
    out = (size + window // 2 * 2 - window) // stride + 1
    inputs = {"Input": (images, channels, size, size), "Filter": (filters, channels, window, window)}
    attrs = {"strides": [stride] * 2, "paddings": [window // 2] * 2}
    if direction == "forward":
        return operator("conv2d", dtype, inputs, ("Output",), attrs)
    inputs["Output@GRAD"] = (images, filters, out, out)
    port = {"image": "Input@GRAD", "filters": "Filter@GRAD"}[direction]
    return operator("conv2d_grad", dtype, inputs, (port,), attrs)


def lenet_loss(feeds: dict[str, Any]) -> Any:
    x = feeds["x"]
    for filters in (20, 50):
        x = pm.layers.pool2d(pm.layers.conv2d(x, filters, 5), 2, pool_stride=2)
    return ours.cross_entropy(pm.layers.fc(pm.layers.fc(x, 500, act="relu"), 10), feeds["label"])


def bert_loss(feeds: dict[str, Any]) -> Any:
    """The base model of Devlin et al. 2019 without its table of words; it learns to give its outputs a mean."""
    return pm.layers.mean(pm.layers.square(inference_models.transformer(feeds["ids"], 768, 12, 12, causal=False)))


def step(network: str, precision: str) -> Run:
    images = workloads.lenet()
    feeds, loss = {
        "gpt": lambda: (workloads.gpt().feeds, ours.gpt_loss),
        "bert": lambda: ({"ids": np.arange(2 * 128).reshape(2, 128)}, bert_loss),
        "resnet": lambda: (workloads.resnet().feeds, ours.resnet_loss),
        "lenet": lambda: ({"x": images.x, "label": images.label.reshape(-1, 1)}, lenet_loss),
    }[network]()
    optimizer: Any = pm.optimizer.Momentum(1e-3, workloads.MOMENTUM)
    if network in ("gpt", "bert"):
        optimizer = pm.optimizer.AdamW(1e-4, weight_decay=workloads.GPT_DECAY, **workloads.ADAM)
    training = half_precision.Training(loss, optimizer, precision, feeds)
    return timed(lambda: training.step(feeds))


class Workloads(dict):
    def __missing__(self, word: str) -> Callable[[], Run]:
        kind, *arguments = word.split(",")
        return lambda: {"product": product, "convolution": convolution, "step": step}[kind](*arguments)


if __name__ == "__main__":
    pm.set_num_threads(1)
    serve(Workloads())
