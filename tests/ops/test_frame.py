"""frame: overlapping windows of a signal; overlap_add: a signal as the sum of its windows."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests
from sequence_cases import dropped, lod_tensor


def frame(inputs, attrs):
    x, window, hop = inputs["X"], attrs["frame_length"], attrs["hop_length"]
    axis = attrs["axis"]
    windows = np.lib.stride_tricks.sliding_window_view(x, window, axis)
    if axis == 0:  # [starts, ..., window]
        return {"Out": np.moveaxis(windows[::hop], -1, 1).copy()}
    return {"Out": np.moveaxis(windows[..., ::hop, :], -1, -2).copy()}


def overlap_add(inputs, attrs):
    x, hop = inputs["X"], attrs["hop_length"]
    frames = x if attrs["axis"] == 0 else np.moveaxis(x, (-1, -2), (0, 1))  # [frames, window, ...]
    count, window = frames.shape[:2]
    out = np.zeros(((count - 1) * hop + window, *frames.shape[2:]), x.dtype)
    for i in range(count):
        out[i * hop : i * hop + window] += frames[i]
    return {"Out": out if attrs["axis"] == 0 else np.moveaxis(out, 0, -1)}


test_frame = op_tests(
    "frame",
    dropped(frame),
    cases={
        "vector": ({"X": array(9)}, {"frame_length": 3, "hop_length": 2}),
        "vector, first axis": ({"X": array(9)}, {"frame_length": 3, "hop_length": 2, "axis": 0}),
        "last axis": ({"X": array(2, 3, 8)}, {"frame_length": 4, "hop_length": 1}),
        "first axis": ({"X": array(8, 2, 3)}, {"frame_length": 4, "hop_length": 3, "axis": 0}),
        "gaps": ({"X": array(2, 10)}, {"frame_length": 2, "hop_length": 4}),
        "one window": ({"X": array(2, 5)}, {"frame_length": 5, "hop_length": 7}),
        "one element": ({"X": array(1)}, {"frame_length": 1, "hop_length": 1}),
        "no signals": ({"X": array(0, 5)}, {"frame_length": 2, "hop_length": 1}),
    },
    gradients=["X"],
    values_only={
        "integers": ({"X": ints(3, 7)}, {"frame_length": 3, "hop_length": 2}),
        "sequences": ({"X": lod_tensor(array(3), [1, 2])}, {"frame_length": 1, "hop_length": 1, "axis": 0}),
    },
    refusals={
        "window too long": ({"X": array(2, 5)}, {"frame_length": 6, "hop_length": 1}, pm.ShapeError, "'frame_length' 6 5"),
        "no window": ({"X": array(5)}, {"frame_length": 0, "hop_length": 1}, pm.ProgramError, "'frame_length' 0"),
        "no hop": ({"X": array(5)}, {"frame_length": 2, "hop_length": 0}, pm.ProgramError, "'hop_length' 0"),
        "middle axis": ({"X": array(2, 5, 2)}, {"frame_length": 2, "hop_length": 1, "axis": 1}, pm.ProgramError, "'axis' 1"),
        "a number": ({"X": array()}, {"frame_length": 1, "hop_length": 1}, pm.ShapeError, "X 0 dimensions"),
    },
)

test_overlap_add = op_tests(
    "overlap_add",
    dropped(overlap_add),
    cases={
        "matrix": ({"X": array(3, 4)}, {"hop_length": 2}),
        "matrix, first axis": ({"X": array(4, 3)}, {"hop_length": 2, "axis": 0}),
        "last axis": ({"X": array(2, 3, 4)}, {"hop_length": 1}),
        "first axis": ({"X": array(4, 3, 2)}, {"hop_length": 1, "axis": 0}),
        "gaps": ({"X": array(2, 3)}, {"hop_length": 4}),
        "one element": ({"X": array(1, 1)}, {"hop_length": 3}),
        "no signals": ({"X": array(0, 3, 4)}, {"hop_length": 2}),
    },
    gradients=["X"],
    values_only={
        "integers": ({"X": ints(3, 4)}, {"hop_length": 2}),
        "sequences": ({"X": lod_tensor(array(3, 1), [1, 2])}, {"hop_length": 1, "axis": 0}),
    },
    refusals={
        "a vector": ({"X": array(5)}, {"hop_length": 1}, pm.ShapeError, "X [5] 2 dimensions"),
        "no hop": ({"X": array(2, 5)}, {"hop_length": 0}, pm.ProgramError, "'hop_length' 0"),
        "no frames": ({"X": array(2, 0)}, {"hop_length": 1}, pm.ShapeError, "X [2, 0] at least one frame"),
        "middle axis": ({"X": array(2, 5, 2)}, {"hop_length": 1, "axis": 1}, pm.ProgramError, "'axis' 1"),
    },
)
