"""pm.onnx.load: operators of models in use whose converters do more than rename."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import paddle_mini as pm
from onnx_graphs import info, node, ours, results, saved


def test_boxes_of_each_class_without_those_that_overlap(tmp_path):
    """Corners in any order, boxes without area, and at most so many of a class."""
    rng = np.random.default_rng(4)
    boxes = rng.uniform(0, 10, (2, 40, 4)).astype("float32")
    boxes[0, :6, 2:] = boxes[0, :6, :2]
    scores = rng.uniform(0, 1, (2, 3, 40)).astype("float32")
    weights = {"most": np.array([4]), "overlap": np.array([0.3], "float32"), "least": np.array([0.2], "float32")}
    nodes = [node("NonMaxSuppression", ["boxes", "scores", *weights], ["y"])]
    path = saved(
        tmp_path,
        nodes,
        [info("boxes", "N", "B", 4), info("scores", "N", 3, "B")],
        [info("y", "K", 3, dtype=TensorProto.INT64)],
        weights,
    )
    (found,) = ours(path, {"boxes": boxes, "scores": scores})
    must = [[i, c, box] for i in range(2) for c in range(3) for box in kept(boxes[i], scores[i, c], 4, 0.3, 0.2)]
    assert found.tolist() == must and len(must) == 24


def kept(boxes, scores, most, overlap, least):
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area, chosen = (high - low).prod(1), []
    for i in np.argsort(-scores):
        both = [np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0).prod() for j in chosen]
        apart = all(part <= overlap * (area[i] + area[j] - part) for part, j in zip(both, chosen))
        if scores[i] > least and apart and len(chosen) < most:
            chosen.append(int(i))
    return chosen


def test_nodes_in_any_order(tmp_path):
    """As tools leave them that append casts to a graph; also in an inner graph."""
    inner = helper.make_graph([node("Neg", ["a"], ["b"]), node("Relu", ["x"], ["a"])], "then", [], [info("b", 3)])
    other = helper.make_graph([node("Identity", ["late"], ["c"])], "else", [], [info("c", 3)])
    nodes = [node("If", ["on"], ["y"], then_branch=inner, else_branch=other), node("Abs", ["x"], ["late"])]
    path = saved(tmp_path, nodes, [info("x", 3), info("on", dtype=TensorProto.BOOL)], [info("y", 3)], {})
    x = np.array([-1, 2, 3], "float32")
    for on, must in ((True, [0, -2, -3]), (False, [1, 2, 3])):
        assert ours(path, {"x": x, "on": np.array(on)})[0].tolist() == must


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("known", ["pads", "dimensions", "neither"])
def test_pads_and_dimensions_that_a_run_gives(tmp_path, mode, known):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 5, 6)).astype("float32")
    pads = np.array([0, 1, 3, 0, 2, -1 if mode == "constant" else 0])
    inputs = [info("x", *(x.shape if known == "dimensions" else "ABC"))]
    inputs += [] if known == "pads" else [info("pads", 6, dtype=TensorProto.INT64)]
    weights = {"pads": pads} if known == "pads" else {}
    path = saved(tmp_path, [node("Pad", ["x", "pads"], ["y"], mode=mode)], inputs, [info("y", "D", "E", "F")], weights)
    (found,) = ours(path, {"x": x, "pads": pads})
    must = np.pad(x[..., :5] if mode == "constant" else x, ((0, 0), (1, 2), (3, 0)), mode=mode)
    assert (found == must).all()


# Where cubic kernels reach over a border, ONNX's reference clips positions first; PyTorch and ONNX Runtime clip each element's.
@pytest.mark.parametrize(
    ("mode", "padding"),
    [("nearest", "zeros"), ("nearest", "border"), ("nearest", "reflection"), ("cubic", "zeros"), ("cubic", "reflection")],
)
@pytest.mark.parametrize("corners", [0, 1])
def test_samples_of_images_of_any_size(tmp_path, mode, padding, corners):
    rng = np.random.default_rng(6)
    x, grid = rng.normal(size=(2, 3, 4, 5)).astype("float32"), rng.uniform(-2, 2, (2, 6, 7, 2)).astype("float32")
    sample = node("GridSample", ["x", "grid"], ["y"], mode=mode, padding_mode=padding, align_corners=corners)
    inputs = [info("x", "N", 3, "H", "W"), info("grid", "N", "A", "B", 2)]
    path = saved(tmp_path, [sample], inputs, [info("y", "N", 3, "A", "B")], {})
    (found,), (must,) = results(path, {"x": x, "grid": grid})
    np.testing.assert_allclose(found, must, rtol=0, atol=1e-5)


def test_sequences_whose_tensors_are_known(tmp_path):
    """As exporters write splits and lists of tensors."""
    nodes = [
        node("SplitToSequence", ["x", "sizes"], ["parts"], axis=1),
        node("SequenceAt", ["parts", "last"], ["b"]),
        node("SequenceEmpty", [], ["none"]),
        node("SequenceInsert", ["none", "b"], ["one"]),
        node("Neg", ["b"], ["c"]),
        node("SequenceInsert", ["one", "c", "zero"], ["two"]),
        node("ConcatFromSequence", ["two"], ["y"], axis=1, new_axis=1),
        node("SequenceErase", ["parts", "last"], ["rest"]),
        node("SequenceConstruct", ["x", "x"], ["same"]),
        node("ConcatFromSequence", ["rest"], ["z"], axis=-1),
        node("SequenceLength", ["same"], ["count"]),
    ]
    weights = {"sizes": np.array([2, 1, 3]), "last": np.array(-1), "zero": np.array(0)}
    outputs = [info("y", "N", 2, 3), info("z", "N", 3), info("count", dtype=TensorProto.INT64)]
    x = np.arange(12, dtype="float32").reshape(2, 6)
    y, z, count = ours(saved(tmp_path, nodes, [info("x", "N", 6)], outputs, weights), {"x": x})
    assert (y == np.stack([-x[:, 3:], x[:, 3:]], 1)).all() and (z == x[:, :3]).all() and count == 2


def test_a_graph_for_each_tensor_of_a_sequence(tmp_path):
    """As PyTorch exports hstack: the graph asks for the number of axes of each tensor."""
    same = helper.make_graph([node("Identity", ["t"], ["u"])], "then", [], [info("u", "A", "B")])
    flat = helper.make_graph([node("Reshape", ["t", "minus"], ["v"])], "else", [], [info("v", "A")])
    nodes = [
        node("Shape", ["t"], ["shape"]),
        node("Size", ["shape"], ["rank"]),
        node("Equal", ["rank", "two"], ["is_matrix"]),
        node("If", ["is_matrix"], ["w"], then_branch=same, else_branch=flat),
        node("Add", ["w", "scale"], ["z"]),
    ]
    body = helper.make_graph(nodes, "body", [info("t"), info("scale")], [info("z")])
    outer = [
        node("SequenceConstruct", ["x", "y"], ["both"]),
        node("SequenceMap", ["both", "s"], ["mapped"], body=body),
        node("ConcatFromSequence", ["mapped"], ["joined"], axis=1),
    ]
    weights = {"minus": np.array([-1]), "two": np.array(2), "s": np.float32(0.5)}
    path = saved(tmp_path, outer, [info("x", "N", 2), info("y", "N", 3)], [info("joined", "N", 5)], weights)
    x, y = np.ones((2, 2), "float32"), np.zeros((2, 3), "float32")
    assert (ours(path, {"x": x, "y": y})[0] == np.hstack([x, y]) + 0.5).all()


def test_a_small_file_does_not_make_a_large_program(tmp_path):
    nodes = [node("SplitToSequence", ["x"], ["parts"], axis=0), node("SequenceLength", ["parts"], ["y"])]
    path = saved(tmp_path, nodes, [info("x", 2**40)], [info("y", dtype=TensorProto.INT64)], {})
    with pytest.raises(pm.ProgramError, match="more than 4096 parts"):
        pm.onnx.load(path)


def test_a_sequence_is_no_result(tmp_path):
    nodes = [node("SequenceConstruct", ["x", "x"], ["y"])]
    outputs = [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, [2])]
    with pytest.raises(pm.ProgramError, match="'y': 'y' is a sequence"):
        pm.onnx.load(saved(tmp_path, nodes, [info("x", 2)], outputs, {}))


def test_regions_in_any_order_of_their_images(tmp_path):
    rng = np.random.default_rng(7)
    x, rois = rng.normal(size=(3, 2, 8, 9)).astype("float32"), rng.uniform(0, 8, (5, 4)).astype("float32")
    rois[:, 2:] += 1
    align = node("RoiAlign", ["x", "rois", "of"], ["y"], output_height=2, output_width=3, sampling_ratio=2)
    inputs = [info("x", "N", 2, "H", "W"), info("rois", "K", 4), info("of", "K", dtype=TensorProto.INT64)]
    path = saved(tmp_path, [align], inputs, [info("y", "K", 2, 2, 3)], {})
    (found,), (must,) = results(path, {"x": x, "rois": rois, "of": np.array([2, 0, 2, 1, 0])})
    np.testing.assert_allclose(found, must, rtol=0, atol=1e-5)


def test_deconvolution_of_volumes(tmp_path):
    rng = np.random.default_rng(8)
    x, w = rng.normal(size=(2, 4, 3, 4, 5)).astype("float32"), rng.normal(size=(4, 3, 2, 3, 3)).astype("float32")
    attrs = {"strides": [1, 2, 2], "pads": [0, 1, 1, 1, 1, 0], "output_padding": [0, 1, 0], "dilations": [1, 1, 2]}
    path = saved(
        tmp_path,
        [node("ConvTranspose", ["x", "w"], ["y"], **attrs)],
        [info("x", "N", 4, "D", "H", "W")],
        [info("y", "N", 3, "E", "I", "J")],
        {"w": w},
    )
    (found,), (must,) = results(path, {"x": x})
    np.testing.assert_allclose(found, must, rtol=0, atol=1e-4)


def test_spectra_of_signals_of_any_length(tmp_path):
    nodes = [node("STFT", ["x", "step", "window"], ["s"]), node("DFT", ["s", "", "axis"], ["y"], inverse=1)]
    weights = {"step": np.array(4), "window": np.hanning(9)[:8].astype("float32"), "axis": np.array(-2)}
    path = saved(tmp_path, nodes, [info("x", "N", "T", 1)], [info("y", "N", "F", 5, 2)], weights)
    x = np.random.default_rng(9).normal(size=(2, 30, 1)).astype("float32")
    (found,), (must,) = results(path, {"x": x})
    np.testing.assert_allclose(found, must, rtol=0, atol=1e-5)


def test_random_numbers_of_the_shape_of_an_input(tmp_path):
    nodes = [
        node("RandomNormalLike", ["x"], ["y"], mean=3.0, scale=0.5),
        node("RandomUniform", [], ["z"], shape=[1000], low=2.0, high=4.0),
    ]
    path = saved(tmp_path, nodes, [info("x", "N", 50)], [info("y", "N", 50), info("z", 1000)], {})
    pm.seed(1)
    y, z = ours(path, {"x": np.zeros((40, 50), "float32")})
    assert y.shape == (40, 50) and abs(y.mean() - 3) < 0.05 and abs(y.std() - 0.5) < 0.05
    assert 2 <= z.min() < 2.1 and 3.9 < z.max() < 4 and abs(z.mean() - 3) < 0.1
