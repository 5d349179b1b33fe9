"""fft_c2c, fft_r2c, fft_c2r: Fourier transforms along axes, in both directions."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, complex_array, op_tests, run_op


def attrs_of(axes, forward=True, normalization="backward", **others):
    return {"axes": axes, "forward": forward, "normalization": normalization, **others}


def c2c(inputs, attrs):
    transform = np.fft.fftn if attrs["forward"] else np.fft.ifftn
    return {"Out": transform(inputs["X"], axes=attrs["axes"], norm=attrs["normalization"])}


def r2c(inputs, attrs):
    x, axes = inputs["X"], attrs["axes"]
    out = c2c({"X": x.astype("complex128")}, attrs)["Out"]
    return {"Out": out.take(range(x.shape[axes[-1]] // 2 + 1), axes[-1]) if attrs["onesided"] else out}


def c2r(inputs, attrs):
    """From the first half of elements that are each other's conjugates along the last axis."""
    x, (*others, last) = inputs["X"], attrs["axes"]
    n = attrs["last_dim_size"] or 2 * (x.shape[last] - 1)
    backward = {**attrs, "axes": others}
    out = c2c({"X": x}, backward)["Out"] if others else x
    if attrs["forward"]:  # exp(-...) instead of exp(+...): the conjugates
        inverse = {"backward": "forward", "forward": "backward", "ortho": "ortho"}[attrs["normalization"]]
        return {"Out": np.fft.irfft(out.conj(), n, last, inverse)}
    return {"Out": np.fft.irfft(out, n, last, attrs["normalization"])}


BAD_AXES = {
    "no axes": (attrs_of([]), pm.ProgramError, "'axes' is empty"),
    "an axis twice": (attrs_of([0, -2]), pm.ProgramError, "'axes' names axis 0 twice"),
    "beyond the axes": (attrs_of([2]), pm.ShapeError, "'axes' has 2 2 dimensions"),
    "another normalization": (attrs_of([0], normalization="half"), pm.ProgramError, "normalization half"),
}


def refusals(x, none, **attrs):
    found = {name: ({"X": x}, {**given, **attrs}, error, words) for name, (given, error, words) in BAD_AXES.items()}
    return {**found, "no elements": ({"X": none}, {**attrs_of([1]), **attrs}, pm.ShapeError, "axis 1 at least one element")}


test_fft_c2c = op_tests(
    "fft_c2c",
    c2c,
    {
        **{f"length {n}": ({"X": complex_array(2, n)}, attrs_of([1])) for n in (1, 2, 5, 8, 12, 53, 106)},
        "inverse": ({"X": complex_array(6)}, attrs_of([0], forward=False)),
        "inverse, a large factor": ({"X": complex_array(59)}, attrs_of([-1], forward=False)),
        "divides forwards": ({"X": complex_array(6)}, attrs_of([0], normalization="forward")),
        "inverse, not divided": ({"X": complex_array(6)}, attrs_of([0], forward=False, normalization="forward")),
        "ortho": ({"X": complex_array(2, 6)}, attrs_of([1], normalization="ortho")),
        "first axis": ({"X": complex_array(4, 3, 2)}, attrs_of([0])),
        "two axes": ({"X": complex_array(4, 3, 2)}, attrs_of([0, 2], normalization="ortho")),
        "all axes": ({"X": complex_array(4, 3, 2)}, attrs_of([0, 1, 2], forward=False)),
        "no lines": ({"X": complex_array(0, 4)}, attrs_of([1])),
    },
    ["X"],
    {
        **refusals(complex_array(3, 4), complex_array(3, 0)),
        "real numbers": ({"X": array(3)}, attrs_of([0]), pm.ShapeError, "X is float64 complex"),
    },
)
test_fft_r2c = op_tests(
    "fft_r2c",
    r2c,
    {
        **{f"length {n}": ({"X": array(2, n)}, attrs_of([1], onesided=True)) for n in (1, 2, 5, 8, 59)},
        "both sides": ({"X": array(2, 5)}, attrs_of([1], onesided=False)),
        "inverse": ({"X": array(6)}, attrs_of([0], forward=False, onesided=True)),
        "ortho, two axes": ({"X": array(3, 4, 2)}, attrs_of([0, 1], normalization="ortho", onesided=True)),
        "axes in another order": ({"X": array(3, 4, 2)}, attrs_of([2, 0], onesided=True)),
        "no lines": ({"X": array(0, 4)}, attrs_of([1], onesided=True)),
    },
    ["X"],
    {
        **refusals(array(3, 4), array(3, 0), onesided=True),
        "complex numbers": ({"X": complex_array(3)}, attrs_of([0], onesided=True), pm.ShapeError, "X is complex128 float"),
    },
)
test_fft_c2r = op_tests(
    "fft_c2r",
    c2r,
    {
        "even": ({"X": complex_array(2, 5)}, attrs_of([1], forward=False)),
        "odd": ({"X": complex_array(2, 5)}, attrs_of([1], forward=False, last_dim_size=9)),
        "even, given": ({"X": complex_array(2, 5)}, attrs_of([1], forward=False, last_dim_size=8)),
        "one element": ({"X": complex_array(2, 1)}, attrs_of([1], forward=False, last_dim_size=1)),
        "forward": ({"X": complex_array(5)}, attrs_of([0], last_dim_size=9)),
        "ortho, two axes": ({"X": complex_array(3, 4, 2)}, attrs_of([0, 1], forward=False, normalization="ortho")),
        "no lines": ({"X": complex_array(0, 4)}, attrs_of([1], forward=False)),
    },
    ["X"],
    {
        **refusals(complex_array(3, 4), complex_array(3, 0)),
        "no result": ({"X": complex_array(3, 1)}, attrs_of([1]), pm.ShapeError, "[3, 1] one element along axis 1"),
        "another half": ({"X": complex_array(5)}, attrs_of([0], last_dim_size=6), pm.ShapeError, "5 elements 6 needs 4"),
    },
)


@pytest.mark.parametrize("n", [1000, 1009, 4096, 10007])
def test_long_transforms(n):
    x = complex_array(n)
    found = run_op("fft_c2c", {"X": x}, attrs_of([0]))["Out"]
    np.testing.assert_allclose(found, np.fft.fft(x), rtol=0, atol=1e-11 * np.sqrt(n))
    single = run_op("fft_c2c", {"X": x.astype("complex64")}, attrs_of([0]))["Out"]
    np.testing.assert_allclose(single, np.fft.fft(x), rtol=0, atol=3e-6 * np.sqrt(n))
