"""nearest_interp_v2: resized images, each pixel the nearest one to its position in X."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def places(attrs, size, scale, wanted):
    out = int(np.float32(size) * np.float32(scale)) if scale else wanted
    if attrs["align_corners"]:
        ratio = np.float32(size - 1) / np.float32(max(out - 1, 1))
    else:
        ratio = np.float32(1) / np.float32(scale) if scale else np.float32(size) / np.float32(out)
    ratio = ratio if out > 1 else np.float32(0)
    at = (ratio * np.arange(out).astype("float32")).astype("float64") + (0.5 if attrs["align_corners"] else 0)
    return np.minimum(at.astype("int64"), size - 1)


def reference(inputs, attrs):
    x, at = inputs["X"], 1 if attrs["data_layout"].endswith("C") else 2
    sizes = [attrs["out_d"], attrs["out_h"], attrs["out_w"]][5 - x.ndim :]
    scale = list(attrs["scale"]) or [0] * len(sizes)
    along = [places(attrs, x.shape[at + i], scale[i], sizes[i]) for i in range(len(sizes))]
    if tuple(map(len, along)) != x.shape[at : at + len(sizes)]:
        for i, one in enumerate(along):
            x = x.take(one, axis=at + i)
    return {"Out": x}


X, VOLUMES = {"X": array(2, 3, 5, 4)}, {"X": array(2, 3, 2, 4, 3)}

test_nearest_interp_v2 = op_tests(
    "nearest_interp_v2",
    reference,
    cases={
        "corners": (X, {"out_h": 8, "out_w": 9}),
        "no corners": (X, {"out_h": 8, "out_w": 9, "align_corners": False, "interp_method": "nearest"}),
        "smaller": (X, {"out_h": 2, "out_w": 3, "align_corners": False}),
        "scale": (X, {"scale": [2.0, 1.5], "align_corners": False}),
        "one pixel": (X, {"out_h": 1, "out_w": 1}),
        "same size": (X, {"scale": [1.1, 1.1], "align_corners": False}),
        "channels last": (X, {"out_h": 7, "out_w": 3, "data_layout": "NHWC"}),
        **{
            f"volumes, {layout}, {corners}": (
                VOLUMES,
                {"out_d": 3, "out_h": 5, "out_w": 2, "data_layout": layout, "align_corners": corners},
            )
            for layout in ("NCHW", "NCDHW", "NHWC", "NDHWC")
            for corners in (True, False)
        },
        "volumes, scale": (VOLUMES, {"scale": [2.0, 1.5, 0.5], "align_corners": False}),
        "one element": ({"X": array(1, 1, 1, 1)}, {"out_h": 2, "out_w": 3}),
        "no images": ({"X": array(0, 3, 5, 4)}, {"out_h": 8, "out_w": 9}),
    },
    gradients=["X"],
    refusals={
        "three dimensions": ({"X": array(3, 5, 4)}, {"out_h": 8, "out_w": 9}, pm.ShapeError, "X 3 4"),
        "two factors of three": (VOLUMES, {"scale": [2.0, 2.0]}, pm.ProgramError, "scale 3 depth"),
        "no depth": (VOLUMES, {"out_h": 2, "out_w": 2}, pm.ProgramError, "out_d 0"),
        "no size": (X, {}, pm.ProgramError, "out_h 0"),
        "no pixels": ({"X": array(1, 1, 0, 4)}, {"out_h": 8, "out_w": 9}, pm.ShapeError, "0 8"),
        "huge scale": (X, {"scale": [1e30, 1.0]}, pm.ShapeError, "scale"),
    },
)

test_integers = op_tests(
    "nearest_interp_v2",
    reference,
    {
        "int64": ({"X": ints(1, 2, 3, 4)}, {"out_h": 5, "out_w": 6}),
        "int32": ({"X": ints(1, 2, 3, 4, dtype="int32")}, {"out_h": 5, "out_w": 6}),
    },
)
