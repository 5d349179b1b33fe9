"""pool3d: the largest, or the mean, of every window of a volume."""

import paddle_mini as pm
from families.windows import first_of_equal_elements_tests, nan_is_largest_tests, pool, pooling_tests
from harness import array

GEOMETRIES = {
    "two by two by two": dict(ksize=[2, 2, 2], strides=[2, 2, 2]),
    "overlapping": dict(ksize=[2, 3, 1]),
    "paddings": dict(ksize=[3, 2, 3], strides=[2, 2, 1], paddings=[1, 1, 1]),
    "six paddings": dict(ksize=[3, 2, 3], strides=[2, 1, 2], paddings=[1, 0, 1, 0, 2, 1]),
    "ceil": dict(ksize=[3, 2, 2], strides=[2, 2, 2], paddings=[1, 0, 1], ceil_mode=True),
    "same": dict(ksize=[3, 2, 2], strides=[2, 1, 2], padding_algorithm="SAME"),
    "valid": dict(ksize=[3, 2, 2], paddings=[1, 1, 1], padding_algorithm="VALID"),
    "global": dict(ksize=[2, 2, 2], paddings=[1, 1, 1], global_pooling=True),
    "adaptive": dict(ksize=[2, 3, 4], adaptive=True),
    "channels last": dict(ksize=[2, 2, 3], strides=[1, 2, 1], data_format="NDHWC"),
}
X = {"X": array(2, 3, 4, 5, 6)}

test_pool3d = pooling_tests(
    "pool3d",
    X,
    GEOMETRIES,
    cases={},
    refusals={
        "window too large": (X, pool("max", 5, 2, 2), pm.ShapeError, "spans 5 fit into 4"),
        "two sizes": (X, pool("max", 2, 2), pm.ProgramError, "ksize 2 numbers"),
        "no rows": ({"X": array(2, 3, 2, 0, 4)}, pool("max", 1, 1, 1), pm.ShapeError, "X [2, 3, 2, 0, 4] no elements"),
        "four axes": ({"X": array(3, 4, 4, 4)}, pool("max", 2, 2, 2), pm.ShapeError, "X 5 dimensions"),
        "other format": (X, pool("max", 2, 2, 2, data_format="NHWC"), pm.ProgramError, "NHWC NCDHW"),
    },
)
test_the_first_of_equal_elements_gets_the_gradient = first_of_equal_elements_tests("pool3d", 3)
test_nan_is_the_largest = nan_is_largest_tests("pool3d", 3)
