"""Builds and runs the programs of the census in PaddlePaddle, for its worker."""

import contextlib
import functools
import importlib
import json
from unittest import mock

import numpy as np

import paddle

F = paddle.nn.functional
LARGE = 1_000_000  # elements of gradients that are not compared: those of the widest layers
DEEP = ("inferred(", "trained(")  # begin calls that are compared in float64: float32 gradients of many layers are mostly rounding


class Inputs:
    """The functions of the tables in census/: variables that are fed with random numbers."""

    def __init__(self, dtype="float32"):
        self.random, self.feeds, self.dtype = np.random.RandomState(7), {}, dtype

    def data(self, array, differentiable=False, lod=None):
        """A fed variable; lod: the lengths of its sequences."""
        name = f"in{len(self.feeds)}"
        var = paddle.static.data(name, list(array.shape), str(array.dtype), lod_level=1 if lod else 0)
        var.stop_gradient = not differentiable
        self.feeds[name] = (array, lod)
        return var

    def x(self, *shape):
        """Numbers between -1 and 1."""
        return self.data(self.random.uniform(-1, 1, shape).astype(self.dtype), True)

    def p(self, *shape):
        """Numbers between 0.1 and 0.9."""
        return self.data(self.random.uniform(0.1, 0.9, shape).astype("float32"), True)

    def n(self, high, *shape, dtype="int64"):
        """Integers from 0 to high - 1."""
        return self.data(self.random.randint(0, high, shape).astype(dtype))

    def b(self, *shape):
        return self.data(self.random.rand(*shape) > 0.4)

    def v(self, values, dtype="float32"):
        """The values."""
        return self.data(np.array(values, dtype))

    def z(self, *shape):
        return paddle.complex(self.x(*shape), self.x(*shape))

    def spd(self, size, count=0):
        """Symmetric positive definite matrices."""
        shape = (count, size, size) if count else (size, size)
        root = self.random.uniform(-1, 1, shape)
        return self.data((root @ np.swapaxes(root, -1, -2) + size * np.eye(size)).astype("float32"), True)

    def boxes(self, count, lod=None):
        corner = self.random.uniform(0, 0.6, (count, 2))
        return self.data(
            np.concatenate([corner, corner + self.random.uniform(0.1, 0.4, (count, 2))], 1).astype("float32"), lod=lod
        )

    def anchors(self, height, width, count):
        corner = self.random.uniform(0, 16, (height, width, count, 2))
        return self.data(np.concatenate([corner, corner + self.random.uniform(4, 16, corner.shape)], -1).astype("float32"))

    def seq(self, lengths, width):
        """Sequences of rows."""
        return self.data(self.random.uniform(-1, 1, (sum(lengths), width)).astype("float32"), True, lengths)

    def idseq(self, lengths, high):
        return self.data(self.random.randint(0, high, (sum(lengths), 1)), False, lengths)

    def c(self, var):
        """The variable as a constant, without a gradient."""
        var.stop_gradient = True
        return var

    def train(self, optimizer, then=lambda: None):
        """A network that the optimizer trains."""
        hidden = paddle.static.nn.fc(self.x(8, 5), 6, activation="tanh")
        loss = paddle.mean(paddle.nn.functional.square_error_cost(paddle.static.nn.fc(hidden, 2), self.x(8, 2)))
        optimizer.minimize(loss)
        then()
        return loss

    def classify(self, optimizer):
        """A network of images with normalizations, a softmax and a table, which the optimizer trains."""
        layers = paddle.static.nn
        hidden = layers.batch_norm(layers.conv2d(self.x(8, 3, 8, 8), 4, 3), act="relu")
        hidden = layers.fc(F.max_pool2d(hidden, 2), 16, activation="gelu") + layers.embedding(self.n(5, 8), [5, 16])
        logits = layers.fc(layers.layer_norm(hidden), 4)
        loss = paddle.mean(F.softmax_with_cross_entropy(logits, self.n(4, 8, 1)))
        optimizer.minimize(loss)
        return loss

    def inferred(self, model, image):
        model.eval()
        return model(image)

    def trained(self, model, image):
        """A network of images, which SGD trains. Its dropout keeps all elements."""
        for layer in model.sublayers():
            if isinstance(layer, paddle.nn.Dropout):
                layer.p = 0.0
        loss = functools.reduce(paddle.add, [paddle.mean(var * var) for var in flattened(model(image))])
        paddle.optimizer.SGD(0.01).minimize(loss)
        return loss

    def guarded(self, guard):
        with guard:
            return paddle.tanh(self.x(3, 4))

    def made(self, initializer, shape):
        return paddle.create_parameter(shape, "float32", attr=paddle.ParamAttr(initializer=initializer)) * 1.0

    def beams(self, cell, table, output, decoder):
        decoder = decoder(cell, start_token=0, end_token=1, beam_size=3, embedding_fn=table, output_fn=output)
        return paddle.nn.dynamic_decode(decoder, inits=cell.get_initial_states(self.x(2, 4)), max_step_num=4)


def flattened(found):
    """The variables of a result."""
    if isinstance(found, paddle.static.Variable):
        return [found]
    if isinstance(found, dict):
        found = found.values()
    return [var for part in found for var in flattened(part)] if isinstance(found, (list, tuple)) else []


def names(module):
    module = importlib.import_module(module)
    listed = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return sorted(set(listed))


@contextlib.contextmanager
def default_dtype(dtype):
    paddle.set_default_dtype(dtype)
    try:
        yield
    finally:
        paddle.set_default_dtype("float32")  # for the next jobs of the worker


def build(module, expression):
    """The programs of a call: startup, forward, and with gradients (None if it has none), the feeds, and what is fetched."""
    dtype = "float64" if expression.startswith(DEEP) else "float32"
    main, startup, inputs = paddle.static.Program(), paddle.static.Program(), Inputs(dtype)
    helpers = {name: getattr(inputs, name) for name in dir(inputs) if not name.startswith("_")}
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard(), default_dtype(dtype):
        scope = {**vars(importlib.import_module(module)), **helpers, "paddle": paddle, "F": F, "np": np}
        results = [var for var in flattened(eval(expression, scope)) if var.block.program is main]
        forward = main.clone()
        gradients, why = [], None
        trained = any(op.attr("op_role") & 2 for op in main.global_block().ops if op.has_attr("op_role"))
        floats = [var for var in results if var.dtype in (paddle.float32, paddle.float64) and not var.stop_gradient]
        leaves = [var for var in main.list_vars() if not var.stop_gradient and (var.is_data or var.is_parameter)]
        if floats and leaves and not trained:
            try:
                # Cubes: the sum of the squares of a normalized tensor does not change.
                loss = functools.reduce(paddle.add, [paddle.sum(var * var * var) for var in floats])
                gradients = [var for var in paddle.static.gradients([loss], leaves) if var is not None]
            except Exception as error:
                why = str(error)[-300:]
            gradients = [var for var in gradients if np.prod(var.shape) < LARGE]
    return startup, forward, main if gradients else None, inputs.feeds, results, gradients, trained, why


def write_mixed(folder, expression):
    """Writes the startup and the main program of a call of paddle.static.amp, as it makes them where there is a GPU, and the name
    of the loss: on a CPU it finds no operators of 16 bits."""
    lists = importlib.import_module("paddle.static.amp.fp16_lists")
    asked = lists._get_sys_unsupported_list
    with mock.patch.object(lists, "_get_sys_unsupported_list", lambda dtype: ("GPU", set(), asked(dtype)[2])):
        startup, forward, _, _, (loss,), *_ = build("paddle.static.amp", expression)
    (folder / "loss").write_text(loss.name)
    for name, program in {"startup": startup, "forward": forward}.items():
        (folder / f"{name}.pb").write_bytes(program.desc.serialize_to_string())


def array(tensor):
    return np.array(tensor), [list(map(int, level)) for level in tensor.lod()]


class Results(dict):
    """Values by key; their sequences are further arrays."""

    def add(self, key, value, lod):
        self[key] = value
        self.update({f"{key}@LOD{level}": np.array(offsets) for level, offsets in enumerate(lod or [])})


def run(folder, module, expression):
    """Writes the programs, initial values, feeds and results of a call: two runs of forward, which differ in what is random,
    one of the gradients; for a program that trains, three steps."""
    exe = paddle.static.Executor(paddle.CPUPlace())
    startup, forward, main, feeds, fetches, gradients, trained, why = build(module, expression)
    state, results, fed = {}, Results(), Results()
    for name, (value, lod) in feeds.items():
        fed.add(name, value, lod and [np.cumsum([0, *lod])])
    paddle.seed(5)
    exe.run(startup)
    scope = paddle.static.global_scope()
    kept = [var.name for var in forward.list_vars() if var.persistable and var.name not in ("feed", "fetch")]
    for name in kept:
        if scope.find_var(name) is not None and scope.find_var(name).get_tensor()._is_initialized():
            state[name] = array(scope.find_var(name).get_tensor())[0]

    def steps(program, names, seed, count=1):
        for name, value in state.items():
            scope.find_var(name).get_tensor().set(value, paddle.CPUPlace())
        paddle.seed(seed)
        for step in range(count):
            given = {name: tensor_of(value, lod) for name, (value, lod) in feeds.items()}
            for name, tensor in zip(names, exe.run(program, feed=given, fetch_list=names, return_numpy=False)):
                results.add(f"{seed + step}/{name}", *array(tensor))

    dense = paddle.base.core.VarDesc.VarType.LOD_TENSOR
    fetched = [name for name in dict.fromkeys(var.name for var in fetches if var.type == dense)]
    asked = [name for name in dict.fromkeys(var.name for var in gradients if var.type == dense)]
    if trained:
        steps(forward, fetched, 1, 3)
        for name in state:
            results.add(f"end/{name}", *array(scope.find_var(name).get_tensor()))
    else:
        steps(forward, fetched, 1)
        steps(forward, fetched, 2)
        if asked:
            try:
                steps(main, asked, 3)
            except Exception as error:
                why, asked = str(error)[-300:], []
    programs = {"startup": startup, "forward": forward, **({"gradients": main} if asked else {})}
    for name, program in programs.items():
        (folder / f"{name}.pb").write_bytes(program.desc.serialize_to_string())
    np.savez(folder / "init.npz", **state)
    np.savez(folder / "feeds.npz", **fed)
    np.savez(folder / "results.npz", **results)
    facts = {"fetched": fetched, "gradients": asked, "trained": trained, "without gradients": why}
    (folder / "facts.json").write_text(json.dumps(facts))


def tensor_of(value, lod):
    if not lod:
        return value
    tensor = paddle.base.core.LoDTensor()
    tensor.set(value, paddle.CPUPlace())
    tensor.set_recursive_sequence_lengths([lod])
    return tensor


def write_names(folder, modules):
    (folder / "names.json").write_text(json.dumps({module: names(module) for module in modules}))
