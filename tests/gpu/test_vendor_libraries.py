"""Libraries of NVIDIA: those named by the environment are used, and errors describe their defects."""

import pytest

PRODUCT = "OneOp('matmul', {'X': np.ones((2, 3)), 'Y': np.ones((3, 2))}, {}, {'Out': 1}, place=place).run()"
CONVOLUTION = """OneOp('conv2d', {'Input': np.ones((1, 1, 3, 3)), 'Filter': np.ones((1, 1, 2, 2))}, {}, {'Output': 1},
          place=place).run()"""
USES = {
    "CUBLAS": ("cuBLAS", "cublasCreate_v2", PRODUCT),
    "CUDNN": ("cuDNN", "cudnnCreate", CONVOLUTION),
    "NCCL": ("NCCL", "ncclCommInitAll", "pm.DataParallel([pm.CUDAPlace(0), pm.CUDAPlace(1)])"),
}
TRY = """
from paddle_mini.testing.one_op import OneOp
place = pm.CUDAPlace(0)
try:
    {use}
except pm.DeviceError as error:
    print(error)
"""


@pytest.mark.parametrize("library", USES)
def test_a_file_that_is_none(stand_in, in_child, library, tmp_path):
    name, function, use = USES[library]
    out, _ = in_child(TRY.format(use=use), **{f"PM_{library}": tmp_path / "none.so"})
    assert f"PM_{library}: can't load {tmp_path / 'none.so'}: " in out
    assert "No such file" in out
    out, _ = in_child(TRY.format(use=use), **{f"PM_{library}": stand_in("")})
    assert f"{name} of {stand_in('')} has no {function}" in out


def test_what_was_found_is_said(stand_in, in_child):
    say = "from paddle_mini import _core; print(_core.gpu_text())"
    assert in_child(say)[0].endswith("no cuBLAS, no cuDNN, no NCCL\n")
    found = {name: stand_in(name.lower()) for name in USES}
    out, calls = in_child(say, **{f"PM_{name}": path for name, path in found.items()})
    assert out.endswith(f"cuBLAS of {found['CUBLAS']}, cuDNN of {found['CUDNN']}, NCCL of {found['NCCL']}\n")
    assert calls == []


OPERATORS = {"cublas": "matmul] or mul] or bmm]", "cudnn": "conv2d] or conv3d] or conv2d_transpose]"}
CALLED = {
    "cublas": ["cublasSgemmStridedBatched"],
    "cudnn": ["cudnnConvolutionForward", "cudnnConvolutionBackwardData"],  # gradients: test_cudnn.py
}


@pytest.mark.parametrize("library", OPERATORS)
def test_operators_give_what_they_give_on_the_processor(stand_in, tests_in_child, library):
    """The stand-in checks its arguments; unsupported calls use our own kernels."""
    calls = tests_in_child(["test_operators.py"], OPERATORS[library], **{f"PM_{library.upper()}": stand_in(library)})
    assert set(CALLED[library]) <= set(calls)
