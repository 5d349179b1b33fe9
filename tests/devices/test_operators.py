"""Every operator gives the same on a device as on the CPU: the facts are those of tests/ops."""

import numpy as np
import pytest

import paddle_mini as pm
from facts import all_facts, cases_of
from paddle_mini.testing.one_op import OneOp, Rows, array_of
from thorough import some

# |value - the CPU's| <= tolerance * (1 + |the CPU's|): an emulated device has the CPU's kernels.
TOLERANCES = {"emulated": {}, "gpu": {"float32": 2e-5, "float64": 1e-11, "float16": 2e-3, "complex64": 2e-5, "complex128": 1e-11}}


def assert_alike(there, here, tolerances, what):
    if isinstance(here, list):
        for one, other in zip(there, here):
            assert_alike(one, other, tolerances, what)
        return
    if isinstance(here, Rows):
        np.testing.assert_array_equal(there.rows, here.rows, what)
    found, expected = array_of(there), array_of(here)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    tolerance = tolerances.get(expected.dtype.name, 0)
    if tolerance and expected.dtype.kind in "fc":
        np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=what)
    else:
        np.testing.assert_array_equal(found, expected, what)


def run_there(one):
    """Skips cases that stay on the CPU: for the reason that the schema states, selected rows, some dtypes."""
    try:
        return one.run()
    except pm.DeviceError as error:
        reasons = [one.schema["cpu_only"] or "there is no reason", "kernels for selected rows", "there are kernels for"]
        if "no kernel" not in str(error) or not any(reason in str(error) for reason in reasons):
            raise
        pytest.skip(str(error).splitlines()[0])


@pytest.mark.parametrize("op_type", some(sorted(all_facts()), 3))
def test_operator(place, op_type):
    kind = place.name.split(":")[0]
    tolerances = TOLERANCES[kind]
    for name, inputs, attrs, counts, checked in cases_of(op_type):
        if kind == "gpu" and op_type == "dropout" and "Seed" in inputs:
            continue  # the seed is in the GPU's memory, whose kernel then draws other numbers (cpp/math/gpu/drop_mask.h)
        pm.seed(5)
        here = OneOp(op_type, inputs, attrs, counts, aliased=False).run()
        for temporaries in (False, True):
            pm.seed(5)
            there = OneOp(op_type, inputs, attrs, counts, aliased=False, temporaries=temporaries, place=place)
            found = run_there(there)
            for port in checked:
                assert_alike(found[port], here[port], tolerances, f"{name}: {port}")
            there.check_inputs_unchanged()
