"""select_input: Out = X[Mask]."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import run
from paddle_mini.layers.emit import emit

L = pm.layers


def chosen(a, b, mask):
    return emit("select_input", {"X": [a, b], "Mask": mask}, outputs={"Out": L.zeros([2], "float32")})


@pytest.mark.parametrize("mask", [0, 1])
def test_one_is_chosen(mask):
    feeds = {"a": np.zeros(2, "float32"), "b": np.ones(2, "float32")}
    np.testing.assert_array_equal(run(chosen, **feeds, mask=np.array([mask], "int32")), [mask, mask])


@pytest.mark.parametrize("mask", [-1, 2])
def test_a_mask_that_names_none_is_refused(mask):
    feeds = {"a": np.zeros(2, "float32"), "b": np.ones(2, "float32")}
    with pytest.raises(pm.OpError, match="X has 2 variables"):
        run(chosen, **feeds, mask=np.array([mask], "int32"))
