"""Sequences of calls of the C interface, with valid, wrong and released handles, arrays whose fields disagree, and files that
are damaged. A call that fails makes no handle and gives a message; values that a scope gives can be read."""

import ctypes

import mutations
import numpy as np
from properties import check_message, require

import paddle_mini as pm
from c_calls import ARGUMENT, OK, PROTOTYPES, C, Level, Tensor, integers, names, options
from small_model import SmallModel, batch

KINDS = ("program", "scope", "executor", "signature", "predictor", "values")
CALLS = 25  # a mutant
MOST_BYTES = 1 << 16  # an array has


def loop():
    with pm.program_guard(pm.Program(), pm.Program()):
        limit = pm.layers.data("limit", [1])
        (end,) = pm.layers.while_loop(lambda i: i < limit, lambda i: [i + 1.0], [pm.layers.fill_constant([1], "float32", 0.0)])
        return pm.default_main_program(), ["limit"], [end.name]


def sequences():
    with pm.program_guard(pm.Program(), pm.Program()):
        sums = pm.layers.sequence_pool(pm.layers.data("x", [-1, 2], lod_level=1), "sum")
        return pm.default_main_program(), ["x"], [sums.name]


class Mutants:
    def __init__(self, folder):
        self.folder = folder / "calls"
        self.folder.mkdir(exist_ok=True)
        model = SmallModel(pm.optimizer.SGD(0.1).minimize)
        pm.io.save_inference_model(self.folder / "m", [model.x], [model.logits], scope=model.scope)
        pm.io.save_program(self.folder / "train", model.main, model.scope)
        pm.io.save(model.main, self.folder / "state", model.scope)
        self.files = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.programs = [
            (self.files["m.pdmodel"], ["x"], [model.logits.name]),
            (model.main.to_bytes(), ["x", "label"], [model.loss.name]),
            *((one.to_bytes(), feeds, fetches) for one, feeds, fetches in (loop(), sequences())),
        ]
        self.arrays = [*batch(0).values(), np.arange(10, dtype="float32").reshape(5, 2), np.array([3], "float32")]
        self.names = ["x", "label", "limit", "fc_0.w_0", model.loss.name, model.logits.name, *mutations.TEXTS]
        self.names = [name for name in self.names if "\0" not in name]
        self.memory = np.zeros(MOST_BYTES, "uint8")

    def run(self, rng):
        self.rng, self.kept, self.passed, self.data = rng, [], 0, b""
        self.handles = {kind: [] for kind in KINDS}
        self.released, succeeded = [1, 2**63, 2**64 - 1], 0
        self.begin()
        try:
            for _ in range(CALLS):
                name, parameters = rng.choice(PROTOTYPES)
                if name != "pm_load_operators":  # its code runs
                    succeeded += self.call(name, parameters)
        finally:
            for handle in sum(self.handles.values(), []):
                require(C.pm_release(handle) == OK, "a handle is lost")
        return 3 * succeeded > CALLS

    def begin(self):
        """Some objects that fit each other."""
        data, feeds, fetches = self.rng.choice(self.programs)
        self.feeds = feeds
        self.made("program", C.pm_program_load, data, len(data))
        program = self.handles["program"][0]
        self.made("signature", C.pm_signature_create, program, names(*feeds), len(feeds), names(*fetches), len(fetches))
        self.made("scope", C.pm_scope_create)
        path = str(self.folder / "train.pdiparams").encode()
        C.pm_scope_load(self.handles["scope"][0], program, path, 1)
        self.made("executor", C.pm_executor_create, ctypes.byref(options(max_loop_steps=50)))
        self.made("values", C.pm_values_create)

    def made(self, kind, function, *arguments):
        handle = ctypes.c_uint64()
        require(function(*arguments, ctypes.byref(handle)) == OK, C.pm_last_error().decode())
        self.handles[kind].append(handle.value)

    def call(self, name, parameters):
        """Whether the call succeeds."""
        if name in ("pm_last_error", "pm_version"):
            return True
        arguments, outputs = [], []
        for parameter in parameters.split(","):
            words = parameter.replace("*", "* ").split()
            arguments.append(self.argument(name, "".join(words[:-1]), words[-1], outputs))
        status = getattr(C, name)(*arguments)
        message = C.pm_last_error().decode()
        require(-7 <= status <= 0, f"{name}: status {status}")
        if status != OK:
            check_message(message)
        for kind, handle in outputs:
            require((handle.value == 0) == (status != OK), f"{name}: status {status} and the handle {handle.value}")
            if status == OK:
                self.handles[kind].append(handle.value)
        if arguments and arguments[0] in self.released:
            require(status == ARGUMENT, f"{name} takes a released handle: status {status}")
        if name == "pm_release" and status == OK and arguments[0]:
            kind = next(kind for kind, all in self.handles.items() if arguments[0] in all)
            self.handles[kind].remove(arguments[0])
            self.released.append(arguments[0])
        if name == "pm_values_get" and status == OK:
            self.read(arguments[-1])
        return status == OK

    def read(self, address):
        """Every byte that the tensor refers to."""
        found = Tensor.from_address(address)
        require(not found.data or len(ctypes.string_at(found.data, found.bytes)) == found.bytes, "not all bytes")
        for level in found.lod[: found.lod_levels] if found.lod_levels else []:
            require(level.offsets[: level.count][0] == 0, "offsets that do not begin with 0")

    def argument(self, name, kind, parameter, outputs):
        rng = self.rng
        if kind.endswith("*") and not kind.startswith("const") and kind[3:-1] in KINDS:  # where a new handle is written
            outputs.append((kind[3:-1], ctypes.c_uint64()))
            return ctypes.addressof(outputs[-1][1])
        if kind == "uint64_t" or (kind.startswith("pm_") and kind[3:] in KINDS):
            return self.handle(kind[3:])
        if "*" not in kind:
            return self.number(parameter)
        return (
            {
                "constchar*": self.text,
                "constchar*const*": self.list_of_names,
                "constpm_tensor*": lambda _: self.tensors(),
                "constpm_options*": lambda _: self.options(),
                "constvoid*": lambda _: self.bytes(),
            }.get(kind, lambda _: self.room())(parameter)
            if rng.random() > 0.02
            else None
        )

    def handle(self, kind):
        """Most often one of the right kind."""
        rng = self.rng
        known = self.handles.get(kind) or sum(self.handles.values(), [])
        if known and rng.random() < 0.9:
            return rng.choice(known)
        return rng.choice([0, *self.released, *sum(self.handles.values(), [])])

    def number(self, parameter):
        """Sizes are those of the memory that is passed."""
        rng = self.rng
        if parameter == "size":
            return len(self.data)
        if parameter in ("count", "feed_count", "fetch_count"):
            return self.passed
        if parameter == "calls":
            return rng.choice((0, 1, 2, 3))
        return rng.choice((0, 0, 0, 1, 1, 2, 3, *(value for value in mutations.NUMBERS if -(2**31) <= value < 2**31)))

    def text(self, parameter):
        rng = self.rng
        if parameter in ("path", "prefix"):
            name = rng.choice((*self.files, "missing", ""))
            data = self.files.get(name, b"")
            if data and rng.random() < 0.3:
                data = mutations.damaged(rng, data)
            if data:
                (self.folder / name).unlink(missing_ok=True)
                (self.folder / name).write_bytes(data)
            return str(self.folder / (name.split(".")[0] if parameter == "prefix" else name)).encode()
        if parameter == "stage":
            return rng.choice((b"plan", b"infer", b"fuse", b"nothing", b""))
        if parameter == "text":
            return rng.choice(("", "1", "-1 2", "9" * 5000, "x")).encode()
        return rng.choice(self.names).encode()

    def list_of_names(self, _):
        chosen = [self.rng.choice(self.names) for _ in range(self.rng.choice((0, 1, 1, 2, 3)))]
        self.passed = len(chosen)
        return names(*chosen)

    def options(self):
        rng = self.rng
        if rng.random() < 0.3:
            return None
        fields = {"max_loop_steps": rng.choice((1, 50, 50, -1)), "threads": rng.choice((0, 1, 2, -1, 2**31 - 1))}
        fields["place"] = rng.choice((None, None, b"cpu", b"emulated:0", b"gpu:0", b"moon", b""))
        fields |= {name: rng.choice((0, 0, 1, 2)) for name in ("has_seed", "cpu_fallback")}
        made = options(**fields)
        if rng.random() < 0.05:
            made.size = rng.choice(mutations.NUMBERS) % 2**64
        self.kept.append(made)
        return ctypes.addressof(made)

    def bytes(self):
        data = self.rng.choice((*self.files.values(), *(one for one, _, _ in self.programs)))
        self.data = mutations.damaged(self.rng, data) if self.rng.random() < 0.5 else data
        return self.data

    def room(self):
        """Memory for an output that is not a handle."""
        self.kept.append(ctypes.create_string_buffer(ctypes.sizeof(Tensor) + 64))
        return ctypes.addressof(self.kept[-1])

    def tensors(self):
        """As many as the signature has feeds, most often."""
        self.passed = len(self.feeds) if self.rng.random() < 0.8 else self.rng.randrange(4)
        made = (Tensor * max(self.passed, 1))(*(self.tensor(i) for i in range(max(self.passed, 1))))
        self.kept.append(made)
        return ctypes.addressof(made)

    def tensor(self, index):
        """Fields may be anything; the memory that they refer to is there."""
        rng = self.rng
        array = self.arrays[index] if rng.random() < 0.6 else rng.choice(self.arrays)
        self.memory[: array.nbytes] = np.frombuffer(array.tobytes(), "uint8")
        kept = np.frombuffer(self.memory.tobytes(), "uint8")
        number = {"float32": 5, "int64": 3}[array.dtype.name]
        made = Tensor(kept.ctypes.data, array.nbytes, number, array.ndim)
        made.shape[: array.ndim] = array.shape
        self.kept.append((made, kept))
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.change(made)
        if made.bytes > MOST_BYTES or made.data != kept.ctypes.data:
            made.bytes = made.bytes if made.data is None else MOST_BYTES
        return made

    def change(self, made):
        rng, change = self.rng, self.rng.randrange(8)
        if change == 0:
            made.dtype = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 24, 99, -1))
        elif change == 1:
            made.rank = rng.choice((-1, 0, 1, 2, 3, 9, 10, 2**31 - 1))
        elif change == 2:
            made.shape[rng.randrange(3)] = rng.choice((-1, 0, 1, 2, 7, 2**31, 2**62, 2**63 - 1))
        elif change == 3:
            made.bytes = rng.choice((0, 1, 4, 24, 48, 96, MOST_BYTES))
        elif change == 4:
            made.strides = integers([rng.choice((0, 1, 2, 6, 100, -1, 2**62)) for _ in range(9)])
        elif change == 5:
            levels = [
                [rng.choice((0, 0, 1, 2, 5, 8, -1)) for _ in range(rng.randrange(4))] for _ in range(rng.choice((1, 1, 2, 9)))
            ]
            levels = rng.choice(([[0, 2, 5]], [[0, 3, 8]], levels))
            made.lod = (Level * len(levels))(*(Level(integers(level), len(level)) for level in levels))
            made.lod_levels = len(levels)
        elif change == 6:
            count = rng.choice((0, 1, made.shape[0] if 0 <= made.shape[0] < 100 else 3))
            made.rows, made.row_count = integers([rng.choice((0, 1, 3, 5, -1, 2**62)) for _ in range(count)] or [0]), count
            made.height = rng.choice((0, 1, 6, 8, 2**40, -1, 2**63 - 1))
        else:
            made.data = None
