"""ONNX models. A rejected model changes no scope; an accepted one runs, or its run raises an error."""

import mutations
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from properties import accepted, require

import paddle_mini as pm

INPUT = {"x": np.linspace(-1, 1, 2 * 3 * 6 * 6, dtype="float32").reshape(2, 3, 6, 6)}


def original():
    """A small network with convolution, pooling, computed shapes, a product of matrices, a sequence and quantized numbers."""
    rng = np.random.default_rng(0)
    weights = {
        "filter": rng.normal(size=(4, 3, 3, 3)).astype("float32"),
        "matrix": rng.normal(size=(36, 5)).astype("float32"),
        "zero": np.array([0]),
        "rest": np.array([-1]),
        "sizes": np.array([2, 3]),
        "scales": np.full(5, 0.01, "float32"),
        "points": np.zeros(5, "uint8"),
        "scale": np.float32(0.02),
        "point": np.uint8(3),
        "pads": np.zeros(4, "int64"),
    }
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "filter"], ["c"], pads=[1, 1, 1, 1], strides=[1, 1]),
        node("Relu", ["c"], ["r"]),
        node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Shape", ["p"], ["s"]),
        node("Gather", ["s", "zero"], ["n"], axis=0),
        node("Concat", ["n", "rest"], ["wanted"], axis=0),
        node("Reshape", ["p", "wanted"], ["f"]),
        node("Gemm", ["f", "matrix"], ["g"], alpha=0.5),
        node("Softmax", ["g"], ["h"], axis=-1),
        node("SplitToSequence", ["h", "sizes"], ["parts"], axis=1, keepdims=1),
        node("ConcatFromSequence", ["parts"], ["j"], axis=1, new_axis=0),
        node("QuantizeLinear", ["j", "scales", "points"], ["q"], axis=1),
        node("QLinearSigmoid", ["q", "scale", "point", "scale", "point"], ["z"], domain="com.microsoft"),
        node("DequantizeLinear", ["z", "scales", "points"], ["d"], axis=1),
        node("Pad", ["d", "pads"], ["y"], mode="reflect"),
    ]
    facts = [helper.make_tensor_value_info("x", 1, ["N", 3, 6, 6]), helper.make_tensor_value_info("y", 1, ["N", 5])]
    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "graph", facts[:1], facts[1:], tensors)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8
    )


class Mutants:
    def __init__(self, folder):
        self.path = folder / "model.onnx"
        self.original = original()

    def mutant(self, rng):
        model = type(self.original)()
        model.CopyFrom(self.original)
        if rng.random() < 0.3:
            return mutations.damaged(rng, model.SerializeToString())
        for _ in range(rng.choice([1, 1, 2])):
            rng.choice([self.other_attribute, self.other_name, self.other_tensor, self.other_operator, self.other_input])(
                rng, model
            )
        return model.SerializeToString()

    def other_attribute(self, rng, model):
        attribute = rng.choice([attribute for node in model.graph.node for attribute in node.attribute])
        numbers = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 7, 2**31, 2**63 - 1]
        if attribute.ints:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(numbers)
        else:
            attribute.i = rng.choice(numbers)

    def other_name(self, rng, model):
        node = rng.choice(model.graph.node)
        names = rng.choice([node.input, node.output])
        names[rng.randrange(len(names))] = rng.choice(["x", "y", "f", "filter", "rest", "", "\x1b[31m"])

    def other_tensor(self, rng, model):
        tensor = rng.choice(model.graph.initializer)
        what = rng.choice(["dims", "type", "values"])
        if what == "dims":
            tensor.dims[:] = tensor.dims or [1]
            tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice([-1, 0, 1, 2, 2**40, 2**62])
        elif what == "type":
            tensor.data_type = rng.choice([0, 1, 2, 3, 4, 7, 8, 9, 10, 12, 16, 21, 22, 99])
        elif tensor.data_type == TensorProto.INT64:
            tensor.raw_data = np.array([rng.choice([-(2**63), -5, -2, 1, 3, 2**40])]).tobytes()

    def other_operator(self, rng, model):
        rng.choice(model.graph.node).op_type = rng.choice(
            """Relu Add Slice Tile Expand LSTM Resize Det NonMaxSuppression RoiAlign GridSample DFT STFT SequenceAt SequenceInsert
            SequenceErase QLinearConv QLinearAdd QGemm ConvInteger Col2Im DeformConv MaxUnpool ReverseSequence RandomUniformLike
            \x1b""".split()
        )

    def other_input(self, rng, model):
        shape = model.graph.input[0].type.tensor_type.shape
        rng.choice(shape.dim).dim_value = rng.choice([-1, 0, 1, 3, 6, 7, 2**40])

    def run(self, rng):
        self.path.write_bytes(self.mutant(rng))
        scope = pm.Scope()
        fine, found = accepted(lambda: pm.onnx.load(self.path, scope))
        if not fine:
            require(not scope.names(), f"a refused model changed the scope: {found}")
            return False
        program, feeds, fetches = found
        require(set(feeds) <= {"x"}, f"the model has other feeds: {feeds}")
        accepted(lambda: pm.Executor().run(program, {name: INPUT["x"] for name in feeds}, fetches, scope=scope))
        return True
