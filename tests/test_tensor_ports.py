"""Numbers given as tensors do what the same numbers do as attributes."""
import numpy as np
import pytest
from harness import array, ints
from tensor_attrs import check_tensors

i32 = lambda *v: np.array(v, "int32")  # noqa: E731
i64 = lambda *v: np.array(v, "int64")  # noqa: E731
some = lambda *v: [np.array([n], "int32") for n in v]  # noqa: E731
X = {"X": array(4, 6)}
V = {"X": array(1, 2, 3, 4, 5)}
I = {"X": array(1, 2, 4, 5)}
near = dict(interp_method="nearest", align_corners=False)
S = dict(axes=[0, 1])
CASES = {
    "slice": ("slice", {"Input": array(4, 6)}, {**S, "starts": [1, -3], "ends": [9, -1]},
              {"StartsTensor": i64(1, -3), "EndsTensor": i64(2**40, -1)}, S, ["Input"]),
    "slice list": ("slice", {"Input": array(4, 6)}, {**S, "starts": [1, 2], "ends": [2, 5], "decrease_axis": [0]},
                   {"StartsTensorList": some(1, 2), "EndsTensorList": some(2, 5)},
                   {**S, "starts": [-1, 2], "ends": [-1, 5], "decrease_axis": [0]}, ["Input"]),
    "slice last": ("slice", {"Input": array(4)}, {"axes": [0], "starts": [-1], "ends": [9], "decrease_axis": [0]},
                   {"StartsTensorList": some(-1), "EndsTensorList": some(0)},
                   {"axes": [0], "infer_flags": [-1], "decrease_axis": [0]}, ["Input"]),
    "slice no rows": ("slice", {"Input": array(0, 6)}, {"axes": [0], "starts": [0], "ends": [3]},
                      {"StartsTensor": i32(0)}, {"axes": [0], "ends": [3]}, ["Input"]),
    "strided": ("strided_slice", {"Input": array(4, 6)}, {**S, "starts": [3, 0], "ends": [0, 6], "strides": [-2, 2]},
                {"StartsTensor": i32(3, 0), "EndsTensorList": some(0, 6), "StridesTensor": i64(-2, 2)}, S, ["Input"]),
    "reshape2": ("reshape2", X, {"shape": [0, 2, -1]}, {"Shape": i32(0, 2, -1)}, {}, []),
    "reshape2 list": ("reshape2", X, {"shape": [8, -1]}, {"ShapeTensor": some(8, -1)}, {"shape": [8, -1]}, []),
    "reshape": ("reshape", X, {"shape": [8, -1]}, {"ShapeTensor": some(8, -1)}, {"shape": [-1, -1]}, ["X"]),
    "fill": ("fill_constant", {}, {"shape": [2, 3], "value": 2.5},
             {"ShapeTensor": i64(2, 3), "ValueTensor": np.array([2.5], "float32")}, {}, []),
    "fill list": ("fill_constant", {}, {"shape": [0, 3]}, {"ShapeTensorList": some(0, 3)}, {"shape": [-1, 3]}, []),
    "uniform": ("uniform_random", {}, {"shape": [2, 3], "seed": 3}, {"ShapeTensor": i64(2, 3)}, {"seed": 3}, []),
    "gauss": ("gaussian_random", {}, {"shape": [2], "seed": 3}, {"ShapeTensorList": some(2)}, {"seed": 3}, []),
    "expand_v2": ("expand_v2", X, {"shape": [2, -1, 6]}, {"Shape": i32(2, -1, 6)}, {}, ["X"]),
    "expand_v2 list": ("expand_v2", X, {"shape": [2, 4, 6]}, {"expand_shapes_tensor": some(2, 4, 6)},
                       {"shape": [-2, 4, 6]}, ["X"]),
    "expand": ("expand", X, {"expand_times": [2, 1]}, {"ExpandTimes": i32(2, 1)}, {}, ["X"]),
    "tile": ("tile", X, {"repeat_times": [2, 1, 3]}, {"repeat_times_tensor": some(2, 1, 3)}, {}, ["X"]),
    "top_k": ("top_k", X, {"k": 3}, {"K": i32(3)}, {}, []),
    "top_k_v2": ("top_k_v2", X, {"k": 3, "axis": 0}, {"K": i64(3)}, {"axis": 0}, ["X"]),
    "one_hot": ("one_hot_v2", {"X": ints(3, high=4)}, {"depth": 4}, {"depth_tensor": i32(4)}, {}, []),
    "concat": ("concat", {"X": [array(2, 3), array(2, 2)]}, {"axis": -1}, {"AxisTensor": i32(-1)}, {}, ["X"]),
    "pad3d": ("pad3d", V, {"paddings": [1, 0, 2, 1, 0, 1]}, {"Paddings": i32(1, 0, 2, 1, 0, 1)}, {"paddings": []},
              ["X"]),
    "unsqueeze2": ("unsqueeze2", X, {"axes": [0, -1]}, {"AxesTensorList": some(0, -1)}, {}, []),
    "unsqueeze2 one": ("unsqueeze2", X, {"axes": [1]}, {"AxesTensor": i32(1)}, {}, []),
    "gather": ("gather", {"X": array(4, 6), "Index": i64(5, 1)}, {"axis": 1}, {"Axis": i64(1)}, {}, ["X"]),
    "crop": ("crop_tensor", X, {"shape": [2, -1], "offsets": [1, 3]},
             {"Shape": i32(2, -1), "OffsetsTensor": some(1, 3)}, {}, ["X"]),
    "nearest": ("nearest_interp_v2", I, {**near, "out_h": 3, "out_w": 7}, {"SizeTensor": some(3, 7)}, near, ["X"]),
    "bilinear": ("bilinear_interp_v2", I, {"out_h": 3, "out_w": 7}, {"OutSize": i32(3, 7)}, {}, ["X"]),
    "bilinear scale": ("bilinear_interp_v2", I, {"scale": [1.5, 1.5]}, {"Scale": np.array([1.5], "float32")}, {},
                       ["X"]),
    "dropout": ("dropout", X, {"seed": 7, "fix_seed": True}, {"Seed": i32(7)}, {}, []),
    "set_value": ("set_value", {"Input": array(5, 4), "ValueTensor": array(2, 4)},
                  {"axes": [0], "starts": [4], "ends": [0], "steps": [-2]},
                  {"StartsTensorList": some(4), "EndsTensorList": some(0), "StepsTensorList": some(-2)}, {"axes": [0]},
                  []),
}


@pytest.mark.parametrize("case", CASES)
def test_tensors_instead_of_attributes(case):
    op_type, inputs, attrs, tensors, left, gradients = CASES[case]
    check_tensors(op_type, inputs, attrs, tensors, left, None, gradients)
