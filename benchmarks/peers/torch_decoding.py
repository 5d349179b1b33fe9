# PyTorch: the words of a text, one in each run, with keys and values kept in place.
import numpy as np
import torch
import torch.nn.functional as F

import workloads
from worker import THREADS, serve

torch.set_num_threads(THREADS)


class Writer:
    def __init__(self, params):
        size, self.at = workloads.WRITER, workloads.WRITER_BEGIN
        self.params = {name: torch.from_numpy(value) for name, value in params.items()}
        for name, value in self.params.items():
            if value.dim() == 2 and name not in ("words", "positions"):
                self.params[name] = value.t().contiguous()  # [out, in], as F.linear takes it
        shape = (size.blocks, 1, size.heads, workloads.WRITER_LENGTH, size.width // size.heads)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)

    def linear(self, name, x):
        return F.linear(x, self.params[f"{name}.w"], self.params[f"{name}.b"])

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.params[f"{name}.w"], self.params[f"{name}.b"])

    def attention(self, i, x, at):
        query, key, value = self.linear(f"block{i}.qkv", x).view(1, 3, workloads.WRITER.heads, 1, -1).unbind(1)
        self.keys[i][:, :, at : at + 1], self.values[i][:, :, at : at + 1] = key, value
        seen = F.scaled_dot_product_attention(query, self.keys[i][:, :, : at + 1], self.values[i][:, :, : at + 1])
        return self.linear(f"block{i}.out", seen.reshape(1, -1))

    def scores(self, word, at):
        x = (self.params["words"][word] + self.params["positions"][at])[None]
        for i in range(workloads.WRITER.blocks):
            x = x + self.attention(i, self.norm(f"block{i}.norm1", x), at)
            x = x + self.linear(f"block{i}.down", F.gelu(self.linear(f"block{i}.up", self.norm(f"block{i}.norm2", x))))
        return self.linear("head", self.norm("norm", x))


def words():
    params, text = workloads.writer()
    writer = Writer(params)

    def run(steps):
        with torch.inference_mode():
            for _ in range(steps):
                found = writer.scores(int(text[writer.at]), writer.at)
                writer.at = writer.at + 1 if writer.at + 1 < len(text) else workloads.WRITER_BEGIN
        return float(np.abs(found.numpy()).sum(dtype="float64"))

    return run


serve({"words": words})
