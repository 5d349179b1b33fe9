"""memcpy_d2h, memcpy_h2d, memcpy: Out = X, for any devices."""

from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"]}


CASES = {
    "matrix": ({"X": array(3, 4)}, {}),
    "one element": ({"X": array()}, {}),
    "no rows": ({"X": array(0, 4)}, {}),
    "pinned": ({"X": array(5)}, {"dst_place_type": 1}),
}

test_memcpy_d2h = op_tests("memcpy_d2h", reference, CASES, gradients=["X"], values_only={"numbers": ({"X": ints(3, 4)}, {})})
test_memcpy_h2d = op_tests("memcpy_h2d", reference, CASES, gradients=["X"])
test_memcpy = op_tests("memcpy", reference, CASES, gradients=["X"])
