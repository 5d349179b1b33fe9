# ONNX Runtime: its training API on artifacts generated here, and an inference session for the chain.
import tempfile
from pathlib import Path

import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.training import artifacts, onnxblock
from onnxruntime.training.api import CheckpointState, Module, Optimizer

import workloads
from worker import THREADS, serve


def options():
    chosen = ort.SessionOptions()
    chosen.intra_op_num_threads, chosen.inter_op_num_threads = THREADS, 1
    return chosen


def model(nodes, inputs, outputs, initializers):
    values = [numpy_helper.from_array(array, name) for name, array in initializers.items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, values)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def perceptron(work, optimizer):
    nodes, values, last = [], {}, "x"
    for i, (weight, bias) in enumerate(work.layers):
        values |= {f"w{i}": weight, f"b{i}": bias}
        nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"sum{i}"]))
        last = f"sum{i}"
        if i + 1 < len(work.layers):
            nodes.append(helper.make_node("Relu", [last], [f"hidden{i}"]))
            last = f"hidden{i}"
    forward = model(nodes, [floats("x", work.x.shape)], [floats(last, [len(work.x), 10])], values)
    with tempfile.TemporaryDirectory() as folder:
        artifacts.generate_artifacts(
            forward,
            requires_grad=list(values),
            frozen_params=[],
            loss=artifacts.LossType.CrossEntropyLoss,
            optimizer=optimizer,
            artifact_directory=folder,
        )
        path = Path(folder)
        state = CheckpointState.load_checkpoint(str(path / "checkpoint"))
        module = Module(str(path / "training_model.onnx"), state, session_options=options())
        optimizer = Optimizer(str(path / "optimizer_model.onnx"), module)
    optimizer.set_learning_rate(work.rate)
    module.train()

    def run(steps):
        for _ in range(steps):
            loss = module(work.x, work.label)
            optimizer.step()
            module.lazy_reset_grad()
        return float(loss)

    return run


def tiny_mlp():
    return perceptron(workloads.tiny_mlp(), artifacts.OptimType.SGD)


def mlp():
    beta1, beta2, epsilon = workloads.ADAM.values()
    adam = onnxblock.optim.AdamW(bias_correction=True, betas=(beta1, beta2), eps=epsilon, weight_decay=0.0)
    return perceptron(workloads.mlp(), adam)


def chain():
    work = workloads.chain()
    names = [f"x{i}" for i in range(work.length + 1)]
    nodes = [
        helper.make_node("Add" if i % 2 else "Mul", [names[i], "addend" if i % 2 else "factor"], [names[i + 1]])
        for i in range(work.length)
    ]
    made = model(nodes, [floats("x0", [8])], [floats(names[-1], [8])], {"factor": work.factor, "addend": work.addend})
    chosen = options()
    chosen.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(made.SerializeToString(), chosen, providers=["CPUExecutionProvider"])
    feed = {"x0": work.x}

    def run(steps):
        for _ in range(steps):
            (value,) = session.run(None, feed)
        return float(value.sum())

    return run


serve({"tiny_mlp": tiny_mlp, "mlp": mlp, "chain": chain})
