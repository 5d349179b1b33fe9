"""Programs: fields and bytes of a ProgramDesc. An accepted one keeps its meaning when written again, and runs or is
rejected."""

import contextlib
import signal
from pathlib import Path

import mutations
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from properties import accepted, check_message, require

import paddle_mini as pm
from paddle_mini import _core

ROOT = Path(__file__).resolve().parents[2]
L = pm.layers
FEEDABLE = {"float32", "float64", "int64", "int32", "bool", "uint8", "int8", "int16", "float16"}
MOST_ELEMENTS = 10_000
RUN_SECONDS = 0.05


class TooLong(Exception):
    """A run took longer than its limit here: a loop can be endless."""


def too_long(*_):
    raise TooLong


def program_desc():
    """The class of ProgramDesc, from protobuf itself."""
    files = descriptor_pb2.FileDescriptorSet.FromString((ROOT / "proto/framework.desc").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("paddle.framework.proto.ProgramDesc"))


# ---- Inputs of mutation: small programs, each with another part of the format ----


def trained():
    x = L.data("x", [-1, 4])
    loss = L.mean(L.fc(x, 1, bias_attr=False))
    pm.optimizer.Momentum(0.1, 0.9).minimize(loss)


def averaged():
    p = L.create_parameter([3], attr=pm.ParamAttr("p", pm.initializer.Constant(1.0)))
    pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), window_size=10).minimize(L.mean(p))


def gradients_of_a_loop():
    x, i = L.data("x", [2]), L.fill_constant([1], "int64", 0)
    x.stop_gradient = False
    y = L.while_loop(
        lambda i, y: L.less_than(i, L.fill_constant([1], "int64", 2)),
        lambda i, y: [L.increment(i), L.scale(y, scale=2.0)],
        [i, x],
    )[1]
    pm.append_backward(L.mean(y))


def inference():
    x = L.data("x", [-1, 4])
    out = L.softmax(L.fc(x, 3, act="relu"))
    block = pm.default_main_program().global_block()
    block.create_var("feed", kind=9, persistable=True)
    block.create_var("fetch", kind=10, persistable=True)
    block.prepend_op("feed", {"X": "feed"}, {"Out": "x"}, {"col": 0})
    block.append_op("fetch", {"X": out}, {"Out": "fetch"}, {"col": 0})


def looping():
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    x = L.data("x", [-1, 4])
    going_on = L.less_than(i, n)
    loop = L.While(going_on)
    with loop.block():
        L.assign(L.scale(x, scale=2.0), output=x)
        L.increment(i, value=1)
        L.assign(L.less_than(i, n), output=going_on)


def branching():
    x = L.data("x", [2, 4])
    L.cond(L.less_than(L.reduce_sum(x), L.fill_constant([1], "float32", 0.0)), lambda: L.relu(x), lambda: L.scale(x, scale=3.0))


def recurring():
    x = L.data("x", [3, 2, 4])
    rnn = L.StaticRNN()
    with rnn.step():
        before = rnn.memory(shape=[-1, 4], batch_ref=rnn.step_input(x))
        rnn.update_memory(before, L.tanh(before))
        rnn.step_output(before)
    rnn()


def images():
    x = L.data("x", [-1, 1, 6, 6])
    y = L.pool2d(L.conv2d(x, 2, 3), pool_size=2)
    L.reshape(L.transpose(y, [0, 2, 3, 1]), [0, -1])


def sequences():
    ids = L.data("x", [-1, 1], dtype="int64", lod_level=1)
    L.sequence_pool(L.embedding(ids, [20, 4]), "sum")


BUILDERS = [trained, averaged, inference, gradients_of_a_loop, looping, branching, recurring, images, sequences]


def originals():
    for build in BUILDERS:
        main, startup = pm.Program(), pm.Program()
        try:
            with pm.program_guard(main, startup), pm.unique_name.guard():
                build()
        except pm.Error as error:
            raise RuntimeError(f"{build.__name__}: {error}") from None
        yield main.to_bytes()
    yield startup.to_bytes()
    for path in sorted((ROOT / "tests/golden/cases").glob("*/main.pb")):
        if path.stat().st_size < 12_000 and not path.parent.name.startswith("bad"):
            yield path.read_bytes()


def shorten(op, keep):
    """Call stacks are most of a program's bytes, and attributes without effect most of the rest."""
    kept = [
        attr
        for attr in op.attrs
        if attr.name not in ("op_callstack", "op_namescope", "op_device", "with_quant_attr", "use_mkldnn")
    ]
    attrs = [attr.SerializeToString() for attr in kept]
    del op.attrs[:]
    for attr in attrs:
        op.attrs.add().MergeFromString(attr)
    if keep:
        op.attrs.add(name="op_callstack", type=5, strings=['  File "a.py", line 1, in f', "    f(x)"])


class Mutants:
    def __init__(self, folder):
        self.folder, self.desc = folder, program_desc()
        self.originals, texts = [], set()
        for data in originals():
            message = self.desc.FromString(data)
            for block in message.blocks:
                texts.update(var.name for var in block.vars)
                for op in block.ops:
                    texts.update((op.type, *(slot.parameter for slot in (*op.inputs, *op.outputs))))
                    shorten(op, keep=op is block.ops[0])
            self.originals.append(message)
        self.small = [message for message in self.originals if message.ByteSize() < 1500]
        self.change = mutations.Messages(sorted(texts) + _core.op_types()[::9])
        self.executor = _core.Executor("cpu", 0, max_loop_steps=20)
        signal.signal(signal.SIGALRM, too_long)

    def mutant(self, rng):
        message = self.desc()
        message.CopyFrom(rng.choice(self.small if rng.random() < 0.95 else self.originals))
        if rng.random() < 0.9:
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                self.change.change(rng, message)
            return message.SerializePartialToString()
        return mutations.damaged(rng, message.SerializeToString())

    def run(self, rng):
        data = self.mutant(rng)
        fine, program = accepted(lambda: pm.Program.from_bytes(data), pm.ProgramError)
        if not fine:
            return False
        again = program.to_bytes()
        require(self.same(data, again), "written again it means something else")
        self.look(rng, program, data)
        fine, _ = accepted(program.handle, pm.ProgramError)
        if fine and rng.random() < 0.5:
            with contextlib.suppress(TooLong):  # also if the alarm comes late
                self.execute(rng, program)
        return True

    def same(self, data, again):
        """Whether protobuf reads the same; an attribute that occurs twice with one value is kept once."""
        if data == again:
            return True
        messages = self.desc.FromString(data), self.desc.FromString(again)
        return messages[0] == messages[1] or self.plain(messages[0]) == self.plain(messages[1])

    @staticmethod
    def plain(message):
        message.ClearField("checksums")  # the size in bytes, not the content
        for block in message.blocks:
            for op in block.ops:
                attrs = {attr.name: attr.SerializeToString(deterministic=True) for attr in op.attrs}
                op.ClearField("attrs")
                for attr in attrs.values():
                    op.attrs.add().MergeFromString(attr)
        return message.SerializeToString(deterministic=True)

    def look(self, rng, program, data):
        which = rng.randrange(12)
        if which == 0:
            text = str(program)
            require(text.replace("\n", "").isprintable(), "its text can't be shown")
        elif which == 1:
            accepted(lambda: program.clone(for_test=True).to_bytes())
        elif which == 2:
            names = list(program.global_block().vars)
            if names:
                accepted(lambda: program.prune(names[:1], names[-1:]).to_bytes())
        elif which == 3:
            (self.folder / "m.pdmodel").write_bytes(data)
            accepted(lambda: pm.io.load_inference_model(self.folder / "m", scope=pm.Scope()))
        elif which == 4:
            accepted(lambda: program.provenance)
            repr(program)
            for block in program.blocks:
                for name in list(block.vars)[:3]:
                    block.find_var(name + "x")

    def execute(self, rng, program):
        scope, feeds = _core.Scope(), {}
        for var in program.global_block().vars.values():
            value = self.value_of(rng, var)
            if value is not None and var.persistable:
                scope.set(var.name, value)
            elif value is not None and var.need_check_feed:
                feeds[var.name] = (value, [[0, len(value)]]) if var.lod_level == 1 and value.ndim else value
        before = {name: scope.get(name).tobytes() for name in scope.names()}
        written = [name for op in program.global_block().ops for name in op.output_names if name in program.global_block().vars]
        fetches = tuple(written[-1:]) if rng.random() < 0.7 else ()
        try:
            signal.setitimer(signal.ITIMER_REAL, RUN_SECONDS)
            self.executor.run(_core.Signature(program.handle(), tuple(feeds), fetches), scope, tuple(feeds.values()))
        except (TooLong, MemoryError):
            pass
        except pm.Error as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            check_message(str(error))
            require(
                {name: scope.get(name).tobytes() for name in scope.names()} == before, f"a refused run changed the scope: {error}"
            )
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    @staticmethod
    def value_of(rng, var):
        shape = [3 if dim < 0 else dim for dim in var.shape]
        if (
            var.dtype not in FEEDABLE
            or var.kind != 7
            or len(shape) > 9
            or np.prod([max(dim, 1) for dim in shape], dtype=float) > MOST_ELEMENTS
        ):
            return None
        return np.full(shape, rng.choice((0, 1, 1, 2))).astype(var.dtype)
