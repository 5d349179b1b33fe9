# PyTorch: a Module, an Optimizer, backward(); --compile: forward and backward by torch.compile; --channels-last: images and
# filters; --gpu: everything on a GPU, in full float32 precision; with PM_BENCH_FED each step brings its batch there and fetches
# its loss.
import os
import sys

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, scaled_dot_product_attention

import workloads
from worker import THREADS, serve

torch.set_num_threads(THREADS)
COMPILE = torch.compile if "--compile" in sys.argv else lambda module: module
DEVICE = "cuda" if "--gpu" in sys.argv else "cpu"
FED = "PM_BENCH_FED" in os.environ
LAYOUT = torch.channels_last if "--channels-last" in sys.argv else torch.contiguous_format
torch.backends.cudnn.allow_tf32 = False
BETAS = workloads.ADAM["beta1"], workloads.ADAM["beta2"]


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


def in_layout(tensor):
    return tensor.to(memory_format=LAYOUT) if tensor.ndim == 4 else tensor


def training(work, modules, make_optimizer):
    x, label = (in_layout(torch.from_numpy(array).to("cpu" if FED else DEVICE)) for array in (work.x, work.label))
    model = COMPILE(torch.nn.Sequential(*modules).to(DEVICE, memory_format=LAYOUT))
    optimizer = make_optimizer(model.parameters(), lr=work.rate)

    def run(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = cross_entropy(model(x.to(DEVICE)), label.to(DEVICE))
            loss.backward()
            optimizer.step()
            if FED:
                loss.item()
        return loss.item()

    return run


class Named:
    """Makes modules whose initial values are the named parameters of a workloads.Model."""

    def __init__(self, params):
        self.params = params

    def linear(self, name):
        return dense(self.params[f"{name}.w"], self.params[f"{name}.b"])

    def embedding(self, name, sparse=False):
        return torch.nn.Embedding.from_pretrained(torch.from_numpy(self.params[name]), freeze=False, sparse=sparse)

    def layer_norm(self, name):
        return torch.nn.LayerNorm(len(self.params[f"{name}.w"]))  # ones and zeros, as in the workload

    def convolution(self, name, stride=1):
        weight = self.params[f"{name}.w"]
        filters, inputs, size, _ = weight.shape
        layer = torch.nn.Conv2d(inputs, filters, size, stride, size // 2, bias=False)
        layer.weight = torch.nn.Parameter(torch.from_numpy(weight))
        return torch.nn.Sequential(layer, torch.nn.BatchNorm2d(filters))


def model(work, module, optimizer, loss_of=lambda out, label: cross_entropy(out, label.flatten()), after_step=lambda: None):
    feeds = {name: in_layout(torch.from_numpy(array).to(DEVICE)) for name, array in work.feeds.items()}
    label = feeds.pop("label")
    module = COMPILE(module.to(DEVICE, memory_format=LAYOUT))

    def run(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = loss_of(module(**feeds), label)
            loss.backward()
            optimizer.step()
            after_step()
        return loss.item()

    return run


class Residual(torch.nn.Module):
    def __init__(self, named, name, stride):
        super().__init__()
        self.first, self.second = named.convolution(f"{name}.first", stride), named.convolution(f"{name}.second")
        self.shortcut = torch.nn.Identity() if stride == 1 else named.convolution(f"{name}.shortcut", stride)

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x))) + self.shortcut(x))


class ResNet(torch.nn.Module):
    def __init__(self, named):
        super().__init__()
        blocks = [Residual(named, f"block{i}", stride) for i, (_, stride) in enumerate(workloads.RESNET)]
        self.layers = torch.nn.Sequential(
            named.convolution("stem"),
            torch.nn.ReLU(),
            *blocks,
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
            named.linear("fc"),
        )

    def forward(self, x):
        return self.layers(x)


def resnet():
    work = workloads.resnet()
    module = ResNet(Named(work.params))
    return model(work, module, torch.optim.SGD(module.parameters(), work.rate, momentum=workloads.MOMENTUM))


class Recurrent(torch.nn.Module):
    def __init__(self, params):
        super().__init__()
        named = Named(params)
        self.embedding, self.fc = named.embedding("embedding"), named.linear("fc")
        self.lstm = torch.nn.LSTM(self.embedding.embedding_dim, workloads.LSTM_HIDDEN, workloads.LSTM_LAYERS)
        with torch.no_grad():
            for layer in range(workloads.LSTM_LAYERS):
                for ours, theirs in {"wi": "weight_ih", "wh": "weight_hh", "bi": "bias_ih", "bh": "bias_hh"}.items():
                    getattr(self.lstm, f"{theirs}_l{layer}").copy_(torch.from_numpy(params[f"{layer}.{ours}"]))

    def forward(self, ids):
        return self.fc(self.lstm(self.embedding(ids))[0][-1])


def lstm():
    work = workloads.lstm()
    module = Recurrent(work.params)
    return model(work, module, torch.optim.Adam(module.parameters(), work.rate, BETAS))


class Block(torch.nn.Module):
    def __init__(self, named, name):
        super().__init__()
        self.norm1, self.norm2 = named.layer_norm(f"{name}.norm1"), named.layer_norm(f"{name}.norm2")
        self.qkv, self.out = named.linear(f"{name}.qkv"), named.linear(f"{name}.out")
        self.mlp = torch.nn.Sequential(named.linear(f"{name}.up"), torch.nn.GELU(), named.linear(f"{name}.down"))

    def forward(self, x):
        parts = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (workloads.GPT_HEADS, -1)).transpose(1, 2) for part in parts)
        mixed = scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Gpt(torch.nn.Module):
    def __init__(self, params):
        super().__init__()
        named = Named(params)
        self.words, self.positions = named.embedding("words"), torch.nn.Parameter(torch.from_numpy(params["positions"]))
        self.blocks = torch.nn.Sequential(*(Block(named, f"block{i}") for i in range(workloads.GPT_BLOCKS)))
        self.norm, self.head = named.layer_norm("norm"), named.linear("head")

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.words(ids) + self.positions))).flatten(0, 1)


def gpt():
    work = workloads.gpt()
    module = Gpt(work.params)
    return model(work, module, torch.optim.AdamW(module.parameters(), work.rate, BETAS, weight_decay=workloads.GPT_DECAY))


class WideDeep(torch.nn.Module):
    def __init__(self, params):
        super().__init__()
        named = Named(params)
        self.wide_table, self.deep_table = (named.embedding(name, sparse=True) for name in ("wide_table", "deep_table"))
        self.wide = named.linear("wide")
        hidden = [layer for i in range(3) for layer in (named.linear(f"deep{i}"), torch.nn.ReLU())]
        self.deep = torch.nn.Sequential(*hidden, named.linear("deep3"))

    def forward(self, ids, dense):
        deep = self.deep(torch.cat([self.deep_table(ids).flatten(1), dense], dim=1))
        return deep + self.wide_table(ids).sum(dim=1) + self.wide(dense)


def wide_deep(average=None):
    """average(module) returns the function to call after each step."""
    work = workloads.wide_deep()
    module = WideDeep(work.params)
    after = {} if average is None else {"after_step": average(module)}
    optimizer = torch.optim.SGD(module.parameters(), work.rate)
    return model(work, module, optimizer, binary_cross_entropy_with_logits, **after)


def perceptron(work, make_optimizer):
    modules = []
    for layer in work.layers:
        modules += [dense(*layer), torch.nn.ReLU()]
    return training(work, modules[:-1], make_optimizer)


def tiny_mlp():
    return perceptron(workloads.tiny_mlp(), torch.optim.SGD)


def mlp():
    return perceptron(workloads.mlp(), lambda parameters, lr: torch.optim.Adam(parameters, lr, BETAS))


def lenet():
    work = workloads.lenet()
    first, second, third, fourth = work.layers
    modules = [
        convolution(*first),
        torch.nn.MaxPool2d(2),
        convolution(*second),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        dense(*third),
        torch.nn.ReLU(),
        dense(*fourth),
    ]
    return training(work, modules, lambda parameters, lr: torch.optim.SGD(parameters, lr, momentum=workloads.MOMENTUM))


def chain():
    work = workloads.chain()
    start, factor, addend = (torch.from_numpy(array).to(DEVICE) for array in work[:3])

    @torch.inference_mode()
    def run(steps):
        for _ in range(steps):
            x = start
            for _ in range(work.length // 2):
                x = x * factor
                x = x + addend
        return x.sum().item()

    return run


if __name__ == "__main__":
    serve(
        {
            "tiny_mlp": tiny_mlp,
            "mlp": mlp,
            "lenet": lenet,
            "chain": chain,
            "resnet": resnet,
            "lstm": lstm,
            "gpt": gpt,
            "wide_deep": wide_deep,
        }
    )
