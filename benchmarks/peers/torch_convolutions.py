# One convolution of PyTorch by oneDNN, for benchmarks/convolutions.py; the argument says how images and filters lie in memory:
# contiguous, channels_last, or packed (channels last, filters in oneDNN's order once, as torch.compile's freezing does). It
# computes the gradients that further arguments name (`image`, `filter`), if there are any.
from __future__ import annotations

import sys

import torch

from convolution_shapes import parsed
from worker import THREADS, serve

torch.set_num_threads(THREADS)
LAYOUT = sys.argv[1]
GRADIENTS = sys.argv[2:]
WANTED = ["image" in GRADIENTS, "filter" in GRADIENTS, False]


def convolution(workload):
    images, shape = parsed(workload)
    torch.manual_seed(0)
    x = torch.randn(images, shape.channels, shape.size, shape.size)
    filters = torch.randn(shape.filters, shape.channels // shape.groups, shape.window, shape.window)
    step, around, apart = [shape.stride] * 2, [shape.window // 2] * 2, [1, 1]
    if LAYOUT != "contiguous":
        x, filters = (tensor.to(memory_format=torch.channels_last) for tensor in (x, filters))
    if GRADIENTS:
        of_out = torch.empty_like(torch.conv2d(x, filters, None, step, around, apart, shape.groups)).normal_()
    elif LAYOUT == "packed":
        filters = torch._C._nn.mkldnn_reorder_conv2d_weight(filters.to_mkldnn(), around, step, apart, shape.groups, list(x.shape))

    def run(steps):
        with torch.inference_mode():
            for _ in range(steps):
                if GRADIENTS:
                    arguments = (step, around, apart, False, [0, 0], shape.groups, WANTED)
                    found = torch.ops.aten.convolution_backward(of_out, x, filters, None, *arguments)
                    out = next(gradient for gradient in found if gradient is not None)
                elif LAYOUT == "packed":
                    arguments = (around, step, apart, shape.groups, "none", [], "")
                    out = torch.ops.mkldnn._convolution_pointwise(x, filters, None, *arguments)
                else:
                    out = torch.conv2d(x, filters, None, step, around, apart, shape.groups)
        return out.flatten()[0].item()

    return run


class Convolutions(dict):
    def __missing__(self, workload):
        return lambda: convolution(workload)


if __name__ == "__main__":
    serve(Convolutions())
