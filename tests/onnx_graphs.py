# Small ONNX models: written, and run here and by ONNX's reference.
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import paddle_mini as pm

node = helper.make_node


def info(name, *shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def saved(folder, nodes, inputs, outputs, weights, opset=21, domains=()):
    initializers = [
        value if isinstance(value, TensorProto) else numpy_helper.from_array(value, name) for name, value in weights.items()
    ]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    path = folder / "model.onnx"
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return path


def ours(path, feed):
    scope = pm.Scope()
    program, feeds, fetches = pm.onnx.load(path, scope)
    return pm.Executor().run(program, {name: feed[name] for name in feeds}, fetches, scope=scope)


def results(path, feed):
    """Those of this runtime, and those of ONNX's reference."""
    return ours(path, feed), ReferenceEvaluator(onnx.load(path)).run(None, feed)
