"""spp: maxima or means of parts of images, which are cut into 1, 2 by 2, 4 by 4 and more parts."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def parts(size, count):
    window = -(-size // count)
    padding = (window * count - size + 1) // 2
    return [slice(max(i * window - padding, 0), min((i + 1) * window - padding, size)) for i in range(count)]


def reference(inputs, attrs):
    x = inputs["X"]
    pool = np.max if attrs["pooling_type"] == "max" else np.mean
    out = [np.zeros((len(x), 0))]
    for level in range(attrs["pyramid_height"]):
        rows, columns = (parts(size, 2**level) for size in x.shape[2:])
        pooled = [[pool(x[:, :, i, j], axis=(2, 3)) for j in columns] for i in rows]
        out.append(np.moveaxis(np.array(pooled), (0, 1), (2, 3)).reshape(len(x), x.shape[1] * 4**level))
    return {"Out": np.concatenate(out, 1)}


X = {"X": array(2, 3, 7, 6)}
MAX = {"pooling_type": "max", "pyramid_height": 3}

test_spp = op_tests(
    "spp",
    reference,
    cases={
        "maxima": (X, MAX),
        "means": (X, {**MAX, "pooling_type": "avg"}),
        "one level": (X, {**MAX, "pyramid_height": 1}),
        "even parts": ({"X": array(1, 2, 8, 4)}, MAX),
        "one element": ({"X": array(1, 1, 1, 1)}, {**MAX, "pyramid_height": 1}),
        "no images": ({"X": array(0, 3, 7, 6)}, MAX),
    },
    gradients=["X"],
    values_only={"equal maxima": ({"X": np.ones((1, 2, 5, 5))}, {**MAX, "pyramid_height": 2})},
    refusals={
        "an empty part": ({"X": array(1, 2, 5, 5)}, MAX, pm.ShapeError, "X [1, 2, 5, 5] 5 pixels 4 parts"),
        "fewer pixels than parts": ({"X": array(1, 2, 8, 3)}, MAX, pm.ShapeError, "3 pixels 4 parts"),
        "no pixels": ({"X": array(1, 2, 0, 4)}, MAX, pm.ShapeError, "0 pixels 1 parts"),
        "no level": (X, {**MAX, "pyramid_height": 0}, pm.ProgramError, "pyramid_height 0"),
        "no such pooling": (X, {**MAX, "pooling_type": "sum"}, pm.ProgramError, "pooling_type 'sum'"),
        "not images": ({"X": array(3, 4)}, MAX, pm.ShapeError, "X 2 4"),
    },
)


def test_the_first_of_equal_maxima_gets_the_gradient():
    x = np.ones((1, 1, 2, 2))
    inputs = {"X": x, "Out": np.ones((1, 1)), "Out@GRAD": np.full((1, 1), 3.0)}
    result = run_op("spp_grad", inputs, {**MAX, "pyramid_height": 1}, outputs={"X@GRAD": 1})
    assert result["X@GRAD"].tolist() == [[[[3, 0], [0, 0]]]]
