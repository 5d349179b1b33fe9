# PyTorch, eagerly: a Module, an Optimizer, backward().
import torch
from torch.nn.functional import cross_entropy

import workloads
from worker import serve

torch.set_num_threads(1)


def dense(weight, bias):
    layer = torch.nn.Linear(*weight.shape)
    layer.weight = torch.nn.Parameter(torch.from_numpy(weight.T.copy()))
    layer.bias = torch.nn.Parameter(torch.from_numpy(bias))
    return layer


def convolution(weight, bias):
    layer = torch.nn.Conv2d(weight.shape[1], weight.shape[0], weight.shape[2])
    layer.weight = torch.nn.Parameter(torch.from_numpy(weight))
    layer.bias = torch.nn.Parameter(torch.from_numpy(bias))
    return layer


def training(work, modules, make_optimizer):
    x, label = torch.from_numpy(work.x), torch.from_numpy(work.label)
    model = torch.nn.Sequential(*modules)
    optimizer = make_optimizer(model.parameters(), lr=work.rate)

    def run(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = cross_entropy(model(x), label)
            loss.backward()
            optimizer.step()
        return loss.item()

    return run


def perceptron(work, make_optimizer):
    modules = []
    for layer in work.layers:
        modules += [dense(*layer), torch.nn.ReLU()]
    return training(work, modules[:-1], make_optimizer)


def tiny_mlp():
    return perceptron(workloads.tiny_mlp(), torch.optim.SGD)


def mlp():
    betas = workloads.ADAM["beta1"], workloads.ADAM["beta2"]
    return perceptron(workloads.mlp(), lambda parameters, lr: torch.optim.Adam(parameters, lr, betas))


def lenet():
    work = workloads.lenet()
    first, second, third, fourth = work.layers
    modules = [convolution(*first), torch.nn.MaxPool2d(2), convolution(*second), torch.nn.MaxPool2d(2),
               torch.nn.Flatten(), dense(*third), torch.nn.ReLU(), dense(*fourth)]
    return training(work, modules,
                    lambda parameters, lr: torch.optim.SGD(parameters, lr, momentum=workloads.MOMENTUM))


def chain():
    work = workloads.chain()
    start, factor, addend = map(torch.from_numpy, work[:3])

    @torch.inference_mode()
    def run(steps):
        for _ in range(steps):
            x = start
            for _ in range(work.length // 2):
                x = x * factor
                x = x + addend
        return x.sum().item()

    return run


serve({"tiny_mlp": tiny_mlp, "mlp": mlp, "lenet": lenet, "chain": chain})
