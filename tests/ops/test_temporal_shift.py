"""temporal_shift: some channels of every frame come from the frame before it, some from the one after it."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    last = attrs["data_format"] == "NHWC"
    x = np.moveaxis(inputs["X"], -1, 1) if last else inputs["X"]
    frames, channels = x.shape[:2]
    videos = x.reshape(frames // attrs["seg_num"], attrs["seg_num"], *x.shape[1:])
    out = videos.copy()
    back, ahead = int(channels * np.float32(attrs["shift_ratio"])), int(channels * 2 * np.float32(attrs["shift_ratio"]))
    out[:, 1:, :back], out[:, :1, :back] = videos[:, :-1, :back], 0
    out[:, :-1, back:ahead], out[:, -1:, back:ahead] = videos[:, 1:, back:ahead], 0
    out = out.reshape(x.shape)
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


X = {"X": array(6, 5, 2, 3)}

test_temporal_shift = op_tests(
    "temporal_shift",
    reference,
    cases={
        "plain": (X, {"seg_num": 3}),
        "one frame": (X, {"seg_num": 1}),
        "a third": (X, {"seg_num": 2, "shift_ratio": 1 / 3}),
        "nothing moves": (X, {"seg_num": 2, "shift_ratio": 0.0}),
        "everything moves": ({"X": array(4, 4, 1, 2)}, {"seg_num": 4, "shift_ratio": 0.5}),
        "channels last": ({"X": array(6, 2, 3, 4)}, {"seg_num": 3, "data_format": "NHWC"}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"seg_num": 1}),
        "no frames": ({"X": array(0, 4, 2, 2)}, {"seg_num": 3}),
        "no pixels": ({"X": array(2, 4, 0, 2)}, {"seg_num": 2}),
    },
    gradients=["X"],
    refusals={
        "part of a video": (X, {"seg_num": 4}, pm.ShapeError, "X 6 frames 4"),
        "no frames in a video": (X, {"seg_num": 0}, pm.ProgramError, "seg_num 0"),
        "no seg_num": (X, {}, pm.ProgramError, "seg_num missing"),
        "more than all": (X, {"seg_num": 3, "shift_ratio": 0.6}, pm.ProgramError, "shift_ratio 0.6"),
        "not a number": (X, {"seg_num": 3, "shift_ratio": float("nan")}, pm.ProgramError, "shift_ratio nan"),
        "three axes": ({"X": array(4, 4, 4)}, {"seg_num": 2}, pm.ShapeError, "X 4 dimensions"),
        "other format": (X, {"seg_num": 3, "data_format": "NCDHW"}, pm.ProgramError, "NCDHW NHWC"),
    },
)
