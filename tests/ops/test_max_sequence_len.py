"""max_sequence_len: the length of the longest sequence."""

import numpy as np
import pytest

import paddle_mini as pm
from rank_programs import RankProgram


@pytest.mark.parametrize("lod, longest", [([0, 2, 5, 6], 3), ([0, 1], 1), ([0, 0], 0), ([0], 0)])
def test_max_sequence_len(lod, longest):
    program = RankProgram(pm.LoDTensor(np.zeros((lod[-1], 1), "float32"), [lod]))
    program.op("max_sequence_len", {"RankTable": "table"}, "longest", dtype="int64", rank=1)
    (found,) = program.run("longest")
    assert found.dtype == np.int64 and found.tolist() == [longest]


def test_what_is_no_table_is_refused():
    program = RankProgram(pm.LoDTensor(np.zeros((2, 1), "float32"), [[0, 2]]))
    program.op("max_sequence_len", {"RankTable": "x"}, "longest", dtype="int64", rank=1)
    with pytest.raises(pm.Error, match="it must be a rank table"):
        program.run("longest")
