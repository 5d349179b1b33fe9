"""Failures that only a real driver shows: memory that is exhausted, and a kernel that faults."""

import os
import shutil

import numpy as np
import pytest

import paddle_mini as pm
from own_operators.children import printed

FAULT = """// fault: writes to an address that is not allocated
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Wild {
  template <class V>
  PM_HD V operator()(V x) const {
#ifdef __CUDA_ARCH__
    *reinterpret_cast<volatile int*>(16) = 1;
#endif
    return x;
  }
  template <class V>
  PM_HD V operator()(V, V gradient) const {
    return gradient;
  }
};

}  // namespace

void define_fault(OpTable& ops) {
  add_unary<Wild, Saved::X>(ops, unary("fault").doc("Out = X."), "X@GRAD = Out@GRAD.");
}

}  // namespace paddle_mini
"""
RUN = """
place, feed = pm.CUDAPlace(0), {'x': np.array([[2, -3]], 'float32')}
def doubled(place):
    program = pm.Program()
    with pm.program_guard(program):
        y = pm.layers.scale(pm.layers.data('x', [-1, 2]), scale=2.0)
    return pm.Executor(place).run(program, feed=feed, fetch_list=[y])[0].tolist()
print(doubled(place))
fault = pm.load_op('fault.cc')
y = fault(pm.layers.data('x', [-1, 2]))
for run in (lambda: pm.Executor(place).run(feed=feed, fetch_list=[y]), lambda: doubled(place)):
    try:
        print(run())
    except pm.DeviceError as error:
        print(str(error).splitlines()[0])
print(doubled(pm.CPUPlace()))
"""


@pytest.fixture(autouse=True)
def real_gpu(place):
    if "on_host" in os.environ.get("PM_CUDA_LIBRARY", ""):
        pytest.skip("an emulated GPU has no driver")
    return place


def test_memory_runs_out(real_gpu):
    """The error names the operator; a smaller program runs next."""
    gib = pm.devices.memory_use(real_gpu).total >> 30
    main, exe, scope = pm.Program(), pm.Executor(real_gpu), pm.Scope()
    with pm.program_guard(main):
        large = [pm.layers.fill_constant([gib, 1 << 27], "float32", 1.0) for _ in range(3)]
        total = pm.layers.mean(pm.layers.concat(large))
    with pytest.raises(pm.DeviceError, match="out of memory on gpu:0") as caught:
        exe.run(main, fetch_list=[total], scope=scope)
    assert len(str(caught.value).splitlines()) <= 12
    small = pm.Program()
    with pm.program_guard(small):
        ones = pm.layers.fill_constant([4], "float32", 1.0)
    np.testing.assert_array_equal(exe.run(small, fetch_list=[ones], scope=scope)[0], np.ones(4, "float32"))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="compiles an operator for the GPU")
def test_a_kernel_faults(tmp_path):
    """The process loses its GPU: each run there says so, programs on the CPU still run, and the process ends normally."""
    (tmp_path / "fault.cc").write_text(FAULT)
    before, fault, after, on_cpu = printed(RUN, tmp_path)
    assert before == on_cpu == "[[4.0, -6.0]]"
    for message in (fault, after):
        assert "illegal memory access" in message and "this process can't use it any more" in message
    assert printed("print(pm.devices.gpu_count())", tmp_path) == [str(pm.devices.gpu_count())]
