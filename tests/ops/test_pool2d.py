"""pool2d: the largest, or the mean, of every window of an image."""

import paddle_mini as pm
from families.windows import first_of_equal_elements_tests, nan_is_largest_tests, pool, pooling_tests
from harness import array

GEOMETRIES = {
    "two by two": dict(ksize=[2, 2], strides=[2, 2]),
    "overlapping": dict(ksize=[3, 2]),
    "gaps": dict(ksize=[1, 2], strides=[3, 3]),
    "paddings": dict(ksize=[3, 3], strides=[2, 2], paddings=[1, 1]),
    "four paddings": dict(ksize=[3, 3], strides=[2, 1], paddings=[1, 0, 2, 1]),
    "more padding behind": dict(ksize=[3, 3], strides=[2, 2], paddings=[0, 2, 1, 2]),
    "ceil": dict(ksize=[2, 3], strides=[2, 2], ceil_mode=True),
    "ceil with paddings": dict(ksize=[3, 3], strides=[2, 2], paddings=[1, 1], ceil_mode=True),
    "same": dict(ksize=[3, 2], strides=[2, 2], padding_algorithm="SAME"),
    "valid": dict(ksize=[3, 2], strides=[2, 2], paddings=[1, 1], padding_algorithm="VALID"),
    "global": dict(ksize=[2, 2], strides=[2, 2], paddings=[1, 1], global_pooling=True),
    "adaptive": dict(ksize=[3, 4], adaptive=True),
}
X = {"X": array(2, 3, 7, 6)}

test_pool2d = pooling_tests(
    "pool2d",
    X,
    GEOMETRIES,
    cases={
        "few wide windows": ({"X": array(2, 2, 5, 41)}, pool("avg", 3, 20, strides=[2, 20])),
        "wide": ({"X": array(1, 2, 6, 50)}, pool("max", 2, 2, strides=[2, 2])),
        "wide means": ({"X": array(1, 2, 6, 50)}, pool("avg", 2, 2, strides=[2, 2])),
        "small squares": ({"X": array(3, 7, 8, 8)}, pool("max", 2, 2, strides=[2, 2])),
        "squares and a column": ({"X": array(1, 3, 8, 41)}, pool("max", 2, 2, strides=[2, 2])),
    },
    refusals={
        "window too large": (X, pool("max", 8, 2), pm.ShapeError, "spans 8 fit into 7"),
        "three sizes": (X, pool("max", 2, 2, 2), pm.ProgramError, "ksize 3 numbers"),
        "no rows": ({"X": array(2, 3, 0, 4)}, pool("max", 1, 1), pm.ShapeError, "X [2, 3, 0, 4] no elements"),
        "three axes": ({"X": array(3, 4, 4)}, pool("max", 2, 2), pm.ShapeError, "X 3 dimensions"),
        "a layout that is none": (X, pool("max", 2, 2, data_format="CHWN"), pm.ProgramError, "CHWN NCHW"),
    },
)
test_the_first_of_equal_elements_gets_the_gradient = first_of_equal_elements_tests("pool2d", 2)
test_nan_is_the_largest = nan_is_largest_tests("pool2d", 2)
