"""select_output: Out[Mask] = X, the gradient of select_input."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import run
from paddle_mini.layers.emit import emit

L = pm.layers


def split(x, mask, part):
    outs = [L.fill_constant([2], "float32", -1.0) for _ in range(2)]
    emit("select_output", {"X": x, "Mask": mask}, outputs={"Out": outs})
    return outs[part]


@pytest.mark.parametrize("mask", [0, 1])
@pytest.mark.parametrize("part", [0, 1])
def test_one_is_written_and_the_other_stays(mask, part):
    value = run(lambda x, mask: split(x, mask, part), x=np.ones(2, "float32"), mask=np.array([mask], "int32"))
    np.testing.assert_array_equal(value, np.full(2, 1.0 if mask == part else -1.0))


def test_a_mask_that_names_none_is_refused():
    with pytest.raises(pm.OpError, match="Out has 2 variables"):
        run(lambda x, mask: split(x, mask, 0), x=np.ones(2, "float32"), mask=np.array([2], "int32"))
