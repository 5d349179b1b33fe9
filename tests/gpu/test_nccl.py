"""Sums over GPUs by NCCL: the calls that a stand-in for it checks, and failing calls."""

import numpy as np
import pytest

import paddle_mini as pm
from replicas import Replicated

TRAIN = """
from replicas import Replicated
places = [pm.CUDAPlace(2), pm.CUDAPlace(0)]
around = lambda optimizer, wrap: pm.optimizer.ParameterAverage(wrap(optimizer), pm.averaging.Window(3))
model = Replicated(2, around, places=places)
"""


def test_replicas_train_and_fail_as_on_other_devices(stand_in, tests_in_child):
    calls = tests_in_child(["test_parallel.py", "test_parallel_failures.py"], PM_NCCL=stand_in("nccl"))
    assert calls.count("ncclAllReduce") > 1000 and calls.count("ncclCommAbort") > 2


def test_a_step_launches_one_group_for_each_gradient(stand_in, in_child):
    out, calls = in_child(
        TRAIN
        + """
model.train(6)
print(len(model.main.all_parameters()))
""",
        PM_NCCL=stand_in("nccl"),
    )
    sums = 6 * int(out)
    assert calls.count("ncclCommInitAll") == 1
    assert calls.count("ncclAllReduce") == 2 * sums
    assert calls.count("ncclGroupEnd") - sums in (0, 1)  # the process may end before the clique does


@pytest.mark.parametrize("function", ["ncclCommInitAll", "ncclAllReduce", "ncclGroupEnd"])
def test_a_call_that_fails(stand_in, in_child, function):
    call = 1 if function == "ncclCommInitAll" else 2
    out, calls = in_child(
        TRAIN
        + """
from small_model import assert_same_bits
other = Replicated(2, around, places=[pm.CPUPlace(), pm.EmulatedPlace(1)])
before = model.everything()
try:
    model.step(0)
except pm.DeviceError as error:
    print(error)
assert_same_bits(model.everything(), before)
np.testing.assert_allclose(model.train(6), other.train(6), 1e-6)
""",
        PM_NCCL=stand_in("nccl"),
        STAND_IN_FAILS=f"{function} {call} 3",
    )
    doing = "connecting GPUs" if function == "ncclCommInitAll" else "adding up"
    assert f"c_allreduce_sum: NCCL failed ({doing}): an internal error" in out
    assert out.startswith("replica ")
    assert calls.count("ncclCommInitAll") == 2


def test_gpus_beside_other_devices_add_up_by_way_of_the_host(three_gpus):
    for places in ([pm.CUDAPlace(0), pm.EmulatedPlace(0)], [pm.CPUPlace(), pm.CUDAPlace(1), pm.CUDAPlace(0)]):
        mixed, same = Replicated(len(places), places=places), Replicated(len(places))
        np.testing.assert_allclose(mixed.train(), same.train(), 1e-12)
