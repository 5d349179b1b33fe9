"""bicubic_interp, bicubic_interp_v2: resized images, each pixel a mixture of sixteen."""

import numpy as np

from families.interpolation import CASES, REFUSALS, REFUSALS_OF_FIRST, X, by, factors, of_first, steps
from harness import op_tests


def cubic(distance):
    """Keys' convolution with A = -3/4."""
    distance, a = abs(distance), -0.75
    if distance <= 1:
        return (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    return a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a if distance < 2 else 0


def matrix(attrs, size, scale, wanted):
    out, ratio = steps(attrs, size, scale, wanted)
    weights = np.zeros((out, size))
    for i in range(out):
        at = np.float64(ratio * np.float32(i)) if attrs["align_corners"] else np.float64(ratio) * (i + 0.5) - 0.5
        first = int(np.floor(at)) - 1
        for pixel in range(first, first + 4):
            weights[i, min(max(pixel, 0), size - 1)] += cubic(at - pixel)
    return weights


def reference(inputs, attrs):
    x, last = inputs["X"], attrs["data_layout"] == "NHWC"
    image = np.moveaxis(x, -1, 1) if last else x
    scale = factors(attrs, 2)
    rows, columns = (matrix(attrs, image.shape[2 + i], scale[i], attrs[("out_h", "out_w")[i]]) for i in range(2))
    if rows.shape[0] == rows.shape[1] and columns.shape[0] == columns.shape[1]:
        return {"Out": x}
    out = np.einsum("ab,ncbd,ed->ncae", rows, image, columns)
    return {"Out": np.moveaxis(out, 1, -1) if last else out}


ALL = {
    **CASES,
    "centers": (X, {"out_h": 8, "out_w": 9, "align_corners": False}),
    "smaller": (X, {"out_h": 2, "out_w": 3, "align_corners": False}),
    "scale, corners": (X, {"scale": [2.0, 0.5]}),
}

test_bicubic_interp_v2 = op_tests(
    "bicubic_interp_v2",
    reference,
    cases=by("bicubic", ALL),
    gradients=["X"],
    refusals=REFUSALS,
    tolerance={"float32": 1e-5},  # positions are float32
)

test_bicubic_interp = op_tests(
    "bicubic_interp",
    reference,
    cases=of_first("bicubic", ALL),
    gradients=["X"],
    refusals=REFUSALS_OF_FIRST,
    tolerance={"float32": 1e-5},
)
