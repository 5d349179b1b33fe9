"""Writes models of PyTorch with random weights, their inputs and outputs: MODEL.onnx and MODEL.npz in a folder, with both of
torch.onnx's exporters."""

import pathlib
import sys

import numpy as np
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, stride, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        same = inputs == channels and stride == 1
        self.short = (
            nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))
        )

    def forward(self, x):
        h = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(h)) + self.short(x))


class ResNet18(nn.Module):
    """He et al. 2016, with a quarter of the channels."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        sizes = [width, width, 2 * width, 4 * width, 8 * width]
        self.blocks = nn.Sequential(
            *(
                Residual(sizes[i] if not j else sizes[i + 1], sizes[i + 1], 2 if i and not j else 1)
                for i in range(4)
                for j in (0, 1)
            )
        )
        self.last = nn.Linear(8 * width, classes)

    def forward(self, x):
        h = self.blocks(self.first(x))
        return self.last(torch.flatten(nn.functional.adaptive_avg_pool2d(h, 1), 1))


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.qkv, self.out, self.heads, self.causal = nn.Linear(width, 3 * width), nn.Linear(width, width), heads, causal

    def forward(self, x, mask=None):
        rows, length, width = x.shape
        q, k, v = self.qkv(x).view(rows, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        if self.causal:
            allowed = torch.tril(torch.ones(length, length, dtype=torch.bool, device=x.device))
            scores = scores.masked_fill(~allowed, float("-inf"))
        if mask is not None:
            scores = scores + (1.0 - mask[:, None, None, :]) * -1e4
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, width))


class Layer(nn.Module):
    """first: whether the norm is before the part, as in GPT-2, or after it, as in BERT."""

    def __init__(self, width, heads, causal, first, approximate):
        super().__init__()
        self.attention = Attention(width, heads, causal)
        self.norm1, self.norm2, self.first = nn.LayerNorm(width), nn.LayerNorm(width), first
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate=approximate), nn.Linear(4 * width, width))

    def forward(self, x, mask=None):
        if self.first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.mlp(x))


class BERT(nn.Module):
    def __init__(self, words=100, width=32, layers=2, longest=16):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(words, width), nn.Embedding(longest, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, 4, False, False, "none") for _ in range(layers))
        self.pool, self.classes = nn.Linear(width, width), nn.Linear(width, 3)

    def forward(self, ids, kinds, mask):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)) + self.kinds(kinds))
        for layer in self.layers:
            x = layer(x, mask)
        return self.classes(torch.tanh(self.pool(x[:, 0])))


class GPT(nn.Module):
    def __init__(self, words=100, width=32, layers=2, longest=16):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(longest, width)
        self.layers = nn.ModuleList(Layer(width, 4, True, True, "tanh") for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class LSTM(nn.Module):
    def __init__(self, words=100, width=24):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, bidirectional=True, batch_first=True)
        self.classes = nn.Linear(2 * width, 3)

    def forward(self, ids):
        return self.classes(self.lstm(self.words(ids))[0][:, -1])


class Detector(nn.Module):
    """A pyramid of images: each is enlarged to the next, and the scores of all places are one sequence."""

    def __init__(self, width=8):
        super().__init__()
        self.steps = nn.ModuleList(nn.Conv2d(size, width, 3, 2, 1) for size in (3, width, width))
        self.scores = nn.Conv2d(width, 4, 1)

    def forward(self, image):
        levels = []
        for step in self.steps:
            image = torch.relu(step(image))
            levels.append(image)
        small = nn.functional.max_pool2d(levels[2], 3, 2, ceil_mode=True)
        middle = levels[1] + nn.functional.interpolate(levels[2], size=levels[1].shape[2:], mode="nearest")
        large = levels[0] + nn.functional.interpolate(middle, scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.cat([self.scores(x).flatten(2) for x in (small, middle, large)], 2).transpose(1, 2)


class Encoder(nn.Module):
    """PyTorch's own layer, with a mask of the padding."""

    def __init__(self, words=100, width=16):
        super().__init__()
        self.words, self.classes = nn.Embedding(words, width), nn.Linear(width, 3)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, batch_first=True)

    def forward(self, ids, padding):
        return self.classes(self.layer(self.words(ids), src_key_padding_mask=padding))


def models():
    random = np.random.default_rng(0)
    ids = torch.from_numpy(random.integers(0, 100, (2, 7)))
    image = torch.from_numpy(random.normal(size=(2, 3, 64, 64)).astype("float32"))
    mask = torch.ones(2, 7)
    mask[1, 5:] = 0
    yield "resnet18", ResNet18(), {"image": image}
    yield "bert", BERT(), {"ids": ids, "kinds": ids % 2, "mask": mask}
    yield "gpt", GPT(), {"ids": ids}
    yield "lstm", LSTM(), {"ids": ids}
    yield "detector", Detector(), {"image": image}
    yield "encoder", Encoder(), {"ids": ids, "padding": mask == 0}


def write(folder, name, model, inputs, dynamo):
    axes = {"dynamic_shapes": [{0: torch.export.Dim("rows")} for _ in inputs]} if dynamo else {}
    if not dynamo:
        axes = {"dynamic_axes": {given: {0: "rows"} for given in inputs}}
    path = folder / f"{name}_{'dynamo' if dynamo else 'torchscript'}"
    arguments = tuple(inputs.values())
    torch.onnx.export(
        model, arguments, f"{path}.onnx", input_names=list(inputs), output_names=["y"], dynamo=dynamo, opset_version=18, **axes
    )
    with torch.no_grad():
        np.savez(f"{path}.npz", y=model(*arguments).numpy(), **{given: value.numpy() for given, value in inputs.items()})


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for name, model, inputs in models():
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):  # statistics other than the initial ones
                nn.init.normal_(module.running_mean, 0, 0.1)
                nn.init.uniform_(module.running_var, 0.5, 1.5)
        for dynamo in (False, True):
            write(folder, name, model.eval(), inputs, dynamo)


if __name__ == "__main__":
    main()
