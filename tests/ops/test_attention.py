"""attention: softmax(scale Q K' + masks) V."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    if heads := attrs.get("heads"):
        firsts = {"Q": "first_query", "K": "first_key", "V": "first_value"}
        parts = {port: inputs[port][:, :, (begin := attrs.get(name, 0)) : begin + heads] for port, name in firsts.items()}
        swapped = {port: np.swapaxes(part, 1, 2) for port, part in parts.items()}
        return {"Out": np.swapaxes(reference({**inputs, **swapped}, {**attrs, "heads": 0})["Out"], 1, 2)}
    keys = inputs["K"] if attrs.get("keys_by_column") else np.swapaxes(inputs["K"], -1, -2)
    scores = float(np.float32(attrs.get("scale", 1))) * (inputs["Q"] @ keys)
    for mask in inputs.get("Mask", []):
        scores = scores + mask
    if scores.shape[-1]:
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores = scores / scores.sum(-1, keepdims=True)
    return {"Out": float(np.float32(attrs.get("weight_factor", 1))) * (scores @ inputs["V"])}


def qkv(batch, queries, keys, width, values):
    parts = {"Q": (queries, width), "K": (keys, width), "V": (keys, values)}
    return {port: array(*batch, *shape, seed=i) for i, (port, shape) in enumerate(parts.items())}


SMALL = qkv((2, 3), 5, 7, 4, 6)
MATRIX = qkv((), 3, 4, 2, 5)
CAUSAL = np.triu(np.full((70, 70), -1e9), 1)

test_attention = op_tests(
    "attention",
    reference,
    cases={
        "batch": (SMALL, {"scale": 0.5}),
        "one matrix": (MATRIX, {"weight_factor": 0.75}),
        "keys by column": ({**SMALL, "K": array(2, 3, 4, 7, seed=1)}, {"keys_by_column": True, "scale": 2.0}),
        "mask of keys": ({**SMALL, "Mask": [array(2, 1, 1, 7, seed=4)]}, {}),
        "mask of queries": ({**SMALL, "Mask": [array(5, 1, seed=4)]}, {}),
        "one number": ({**SMALL, "Mask": [array(1, seed=4)]}, {}),
        "two masks": ({**SMALL, "Mask": [array(5, 7, seed=4), array(2, 3, 5, 7, seed=5)]}, {"scale": 0.25}),
        "several blocks": ({**qkv((2,), 70, 70, 40, 33), "Mask": [CAUSAL]}, {"scale": 0.2}),
        "sums in segments": (qkv((1,), 9, 1100, 3, 2), {}),
        "heads between others": (
            {"Q": array(2, 5, 9, 4), "K": array(2, 7, 8, 4, seed=1), "V": array(2, 7, 3, 6, seed=2)},
            {"heads": 3, "first_query": 4, "first_key": 5, "scale": 0.5},
        ),
        "all heads": (
            {"Q": array(2, 70, 2, 33), "K": array(2, 70, 2, 33, seed=1), "V": array(2, 70, 2, 40, seed=2), "Mask": [CAUSAL]},
            {"heads": 2},
        ),
        "heads without keys": ({"Q": array(2, 5, 2, 4), "K": array(2, 0, 2, 4), "V": array(2, 0, 2, 6)}, {"heads": 2}),
        "no keys": (qkv((2,), 3, 0, 4, 5), {}),
        "no queries": (qkv((2,), 0, 3, 4, 5), {}),
        "no width": (qkv((2,), 3, 3, 0, 5), {}),
        "no matrices": (qkv((0,), 3, 3, 2, 5), {}),
        "one element": (qkv((1,), 1, 1, 1, 1), {}),
    },
    refusals={
        "another width": ({**MATRIX, "K": array(4, 3)}, {}, pm.ShapeError, "Q [3, 2], K [4, 3]"),
        "keys without values": ({**MATRIX, "V": array(3, 5)}, {}, pm.ShapeError, "V [3, 5]"),
        "keys by row": (MATRIX, {"keys_by_column": True}, pm.ShapeError, "[batch..., width, keys]"),
        "another batch": ({**SMALL, "K": array(2, 1, 7, 4)}, {}, pm.ShapeError, "K [2, 1, 7, 4]"),
        "too few heads": (
            {"Q": array(2, 5, 3, 4), "K": array(2, 7, 3, 4), "V": array(2, 7, 3, 6)},
            {"heads": 2, "first_value": 2},
            pm.ShapeError,
            "V [2, 7, 3, 6] 2 heads first_value",
        ),
        "a first head that wraps around": (
            {"Q": array(2, 5, 3, 4), "K": array(2, 7, 3, 4), "V": array(2, 7, 3, 6)},
            {"heads": 2, "first_query": 2**31 - 1},
            pm.ShapeError,
            "Q [2, 5, 3, 4] 2 heads first_query",
        ),
        "heads of matrices": (MATRIX, {"heads": 1}, pm.ShapeError, "Q [3, 2] [batch, queries, any, width]"),
        "heads by column": (SMALL, {"heads": 1, "keys_by_column": True}, pm.ProgramError, "heads keys_by_column"),
        "a vector": ({**MATRIX, "Q": array(2)}, {}, pm.ShapeError, "Q [2] at least 2"),
        "too large a mask": ({**MATRIX, "Mask": [array(2, 3, 4)]}, {}, pm.ShapeError, "Mask [2, 3, 4] [3, 4]"),
        "a mask of other keys": ({**MATRIX, "Mask": [array(3)]}, {}, pm.ShapeError, "Mask [3] [3, 4]"),
    },
)
