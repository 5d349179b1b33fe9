"""nearest_interp, nearest_interp_v2: resized images, each pixel the nearest one to its position in X."""

import numpy as np

import paddle_mini as pm
from families.interpolation import CASES, REFUSALS, REFUSALS_OF_FIRST, X, factors, of_first, steps
from harness import array, ints, op_tests


def places(attrs, size, scale, wanted):
    out, ratio = steps(attrs, size, scale, wanted)
    at = (ratio * np.arange(out).astype("float32")).astype("float64") + (0.5 if attrs["align_corners"] else 0)
    return np.minimum(at.astype("int64"), size - 1)


def reference(inputs, attrs):
    x, at = inputs["X"], 1 if attrs["data_layout"].endswith("C") else 2
    sizes = [attrs["out_d"], attrs["out_h"], attrs["out_w"]][5 - x.ndim :]
    scale = factors(attrs, len(sizes))
    along = [places(attrs, x.shape[at + i], scale[i], sizes[i]) for i in range(len(sizes))]
    if tuple(map(len, along)) != x.shape[at : at + len(sizes)]:
        for i, one in enumerate(along):
            x = x.take(one, axis=at + i)
    return {"Out": x}


IMAGES = {
    **CASES,
    "no corners": (X, {"out_h": 8, "out_w": 9, "align_corners": False, "interp_method": "nearest"}),
    "smaller": (X, {"out_h": 2, "out_w": 3, "align_corners": False}),
}
INTEGERS = {
    "int64": ({"X": ints(1, 2, 3, 4)}, {"out_h": 5, "out_w": 6}),
    "int32": ({"X": ints(1, 2, 3, 4, dtype="int32")}, {"out_h": 5, "out_w": 6}),
}
VOLUMES = {"X": array(2, 3, 2, 4, 3)}

test_nearest_interp_v2 = op_tests(
    "nearest_interp_v2",
    reference,
    cases={
        **IMAGES,
        **{
            f"volumes, {layout}, {corners}": (
                VOLUMES,
                {"out_d": 3, "out_h": 5, "out_w": 2, "data_layout": layout, "align_corners": corners},
            )
            for layout in ("NCHW", "NCDHW", "NHWC", "NDHWC")
            for corners in (True, False)
        },
        "volumes, scale": (VOLUMES, {"scale": [2.0, 1.5, 0.5], "align_corners": False}),
    },
    gradients=["X"],
    values_only=INTEGERS,
    refusals={
        **REFUSALS,
        "two factors of three": (VOLUMES, {"scale": [2.0, 2.0]}, pm.ProgramError, "scale 3 depth"),
        "no depth": (VOLUMES, {"out_h": 2, "out_w": 2}, pm.ProgramError, "out_d 0"),
    },
)

test_nearest_interp = op_tests(
    "nearest_interp",
    reference,
    cases=of_first("nearest", IMAGES),
    gradients=["X"],
    values_only=of_first("nearest", INTEGERS),
    refusals={**REFUSALS_OF_FIRST, "volumes": (VOLUMES, {"out_d": 3, "out_h": 5, "out_w": 2}, pm.ShapeError, "X 5 4")},
)
