# PyTorch on a GPU: what the memory and the multipliers can do, and its fused optimizers with an exponential average.
import torch

import workloads
from worker import serve

DEVICE = "cuda"
MAKERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, fused=True),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, fused=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-3, fused=True),
}


def copy():
    """Copies within the device's memory."""
    source = torch.randn(workloads.GPU_ELEMENTS, device=DEVICE)
    target = torch.empty_like(source)

    def run(steps):
        for _ in range(steps):
            target.copy_(source)
        return target[-1].item() - source[-1].item()

    return run


def product(dtype, tf32):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    size = workloads.GPU_PRODUCT
    a, b = (torch.randn(size, size, device=DEVICE, dtype=dtype) for _ in range(2))

    def run(steps):
        for _ in range(steps):
            c = a @ b
        return c[-1, -1].item()

    return run


def update(name, tensors):
    averaged = name.endswith("_averaged")
    size = workloads.GPU_ELEMENTS // tensors
    parameters = [torch.nn.Parameter(torch.ones(size, device=DEVICE)) for _ in range(tensors)]
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 1e-3)
    optimizer = MAKERS[name.removesuffix("_averaged")](parameters)
    averages = [parameter.detach().clone() for parameter in parameters] if averaged else []
    values = [parameter.detach() for parameter in parameters]

    def run(steps):
        for _ in range(steps):
            optimizer.step()
            if averaged:
                torch._foreach_lerp_(averages, values, 1 - workloads.DECAY)
        return values[-1][-1].item()

    return run


serve(
    {
        "copy": copy,
        "float32": lambda: product(torch.float32, False),
        "tf32": lambda: product(torch.float32, True),
        "bf16": lambda: product(torch.bfloat16, False),
        **{
            f"{name}:{tensors}": lambda facts=(name, tensors): update(*facts)
            for name in (*MAKERS, "adam_averaged")
            for tensors in (8, 1000)
        },
    }
)
