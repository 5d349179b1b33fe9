# PyTorch's optimizers alone, fused, on one parameter: OPTIMIZER:ELEMENTS.
import torch

from worker import THREADS, serve

torch.set_num_threads(THREADS)
MAKERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, fused=True),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, fused=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-3, fused=True),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01, fused=True),
    "adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=1e-3, eps=1e-10, fused=True),
}


class Workloads(dict):
    def __missing__(self, words):
        name, elements = words.split(":")
        parameter = torch.nn.Parameter(torch.ones(int(elements)))
        parameter.grad = torch.full_like(parameter, 0.01)
        optimizer = MAKERS[name]([parameter])

        def run(steps):
            for _ in range(steps):
                optimizer.step()
            return parameter[0].item()

        return lambda: run


serve(Workloads())
