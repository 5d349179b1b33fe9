"""States in pickles and safetensors files, changed by their operations and entries: the readers of Python and of C agree."""

import io
import itertools
import json
import pickle
import pickletools

import ml_dtypes
import mutations
import numpy as np
import safetensors.numpy
from mutated_files import VALUES, program
from properties import accepted, check_message, require

import c_calls
import paddle_mini as pm

W, B, I = VALUES.values()
TABLE, SLICES = "StructuredToParameterName@@", "UnpackBigParamInfor@@"


def originals():
    """Dicts as PaddlePaddle and NumPy write them."""
    facts = {"w": {"OriginShape": (3, 4), "slices": ["w@@0", "w@@1"]}}
    return [
        VALUES,
        {**VALUES, "schedule": {"last_epoch": 1, "last_lr": 0.1, "list": [1, (2, "a"), None, True]}},
        {"0.w": W, "0.b": B, "i": I, TABLE: {"0.w": "w", "0.b": "b"}},
        {"w@@0": W.ravel()[:5], "w@@1": W.ravel()[5:], "b": B, "i": I, SLICES: facts},
        {"w": np.asfortranarray(W.astype(">f4")), "b": B.astype(">f8"), "i": I, "again": B},
        {"w": W, "b": B, "i": I, "scalar": np.float32(2), "half": np.ones(2, "float16"), "ключ": np.zeros((0, 2**40), "int8")},
    ]


class Operations:
    """Mutations of a pickle by its operations, each of which stays whole."""

    def __init__(self, pickles):
        self.pickles = [self.split(data) for data in pickles]

    @staticmethod
    def split(data):
        places = [place for _, _, place in pickletools.genops(data)] + [len(data)]
        return [data[begin:end] for begin, end in itertools.pairwise(places)]

    def changed(self, rng):
        parts = list(rng.choice(self.pickles))
        for _ in range(rng.choice((1, 1, 2, 4))):
            place, change = rng.randrange(len(parts)), rng.randrange(8)
            other = rng.choice(self.pickles)
            if change == 0:
                del parts[place : place + rng.choice((1, 1, 3))]
            elif change == 1:
                parts[place:place] = parts[place : place + rng.choice((1, 2, 5))] * rng.choice((1, 2, 50))
            elif change == 2:
                parts[place] = rng.choice(other)
            elif change == 3:
                begin = rng.randrange(len(other))
                parts[place:place] = other[begin : begin + rng.choice((1, 2, 8))]
            elif change == 4:
                at = rng.randrange(len(parts))
                parts[place], parts[at] = parts[at], parts[place]
            elif change == 5:
                parts[place] = self.other_argument(rng, parts[place])
            elif change == 6:
                parts[place:place] = [self.operation(rng)] * rng.choice((1, 1, 3, 200))
            else:
                parts[place:place] = [rng.choice((b"h", b"q")) + bytes([rng.randrange(40)])]
            parts = parts or [b"."]
        return b"".join(parts)

    @staticmethod
    def other_argument(rng, part):
        """The same operation with another number: of bytes that follow, of a place in the memo, or a value."""
        size = rng.choice((1, 4, 8))
        return part[:1] + (rng.choice(mutations.NUMBERS) % 2 ** (8 * size)).to_bytes(size, "little") + part[1 + size :]

    @staticmethod
    def operation(rng):
        text = rng.choice(("w", "f4", "latin1", "numpy", "\u202e", "x" * 300)).encode()
        return rng.choice(
            [
                *(bytes([code]) for code in b"N(.]})tuesabRl\x85\x86\x87\x88\x89\x93\x94"),
                b"X" + len(text).to_bytes(4, "little") + text,
                b"B" + len(text).to_bytes(4, "little") + text,
                b"cnumpy\ndtype\n",
                b"cnumpy\nndarray\n",
                b"cnumpy.core.multiarray\n_reconstruct\n",
                b"c_codecs\nencode\n",
                b"cposix\nsystem\n",
                b"\x8a\x08" + rng.randbytes(8),
                b"K" + rng.randbytes(1),
            ]
        )


def protocol_2(state):
    """As PaddlePaddle writes it: with the modules of NumPy 1."""
    file = io.BytesIO()
    pickle.Pickler(file, 2).dump(state)
    return file.getvalue().replace(b"cnumpy._core.", b"cnumpy.core.")


class Headers:
    """Mutations of the header of a safetensors file."""

    def __init__(self):
        half = {"half": np.ones(2, ml_dtypes.bfloat16), "truth": np.array([True]), "none": np.zeros((0, 3), "int16")}
        metadata = {"format": "np", "text": "ключ \n"}
        self.files = [safetensors.numpy.save(VALUES), safetensors.numpy.save({**VALUES, **half}, metadata)]

    def changed(self, rng):
        data = rng.choice(self.files)
        size = int.from_bytes(data[:8], "little")
        text, rest = data[8 : 8 + size], data[8 + size :]
        change = rng.randrange(4)
        if change == 0:
            text = mutations.damaged(rng, text)
        elif change == 1:
            words = [b'"', b"\\u", b"\\ud800", b"\\ud83d\\ude00", b"{", b"[", b",", b":", b"1e9", b"-1", b"\0", b"\xff", b"  "]
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice(words) * rng.choice((1, 1, 2, 5000)) + text[place:]
        else:
            header = json.loads(text)
            entry = rng.choice([one for one in header.values() if "shape" in one])
            if change == 2:
                entry["shape"] = rng.choice(([], [12], [2, 6], [1] * 9 + [12], [1] * 40, [0, 2**62, 2**62], [2**62, 16], [2**63]))
            else:
                entry["data_offsets"] = [rng.choice(mutations.NUMBERS), rng.choice(mutations.NUMBERS)]
            text = json.dumps(header).encode()
        size = len(text) if rng.random() < 0.9 else rng.choice(mutations.NUMBERS) % 2**64
        return size.to_bytes(8, "little") + text + rest


class Mutants:
    def __init__(self, folder):
        self.folder, self.program = folder / "states", program()
        self.folder.mkdir(exist_ok=True)
        self.bytes = self.program.to_bytes()
        pickles = [pickle.dumps(state, protocol) for state in originals() for protocol in (3, 4, 5)]
        self.operations = Operations(pickles + [protocol_2(state) for state in originals()])
        self.headers = Headers()

    def run(self, rng):
        name, data = ("state.pdparams", self.operations.changed(rng))
        if rng.random() < 0.3:
            name, data = "state.safetensors", self.headers.changed(rng)
        path = self.folder / name
        path.write_bytes(data)
        by_python, state = accepted(lambda: pm.io.load_state(str(path), variable_names=True))
        by_c, values = accepted(lambda: self.read_by_c(data))
        if by_c:
            require(by_python, f"only C accepts it: {state}")
            scope = pm.Scope()
            pm.io.set_state(self.program, {name: state[name] for name in VALUES}, scope)
            for one, value in values.items():
                found = scope.get(one)
                require(found.dtype == value.dtype and found.tobytes() == value.tobytes(), f"'{one}' differs")
        if by_python:
            require(all(isinstance(key, str) for key in state), "a name that is not text")
        return by_c

    def read_by_c(self, data):
        """The values of the program's variables."""
        with c_calls.Handles() as handles:
            program, scope = handles.program_load(self.bytes, len(self.bytes)), handles.scope_create()
            values = handles.values_create()
            status = c_calls.C.pm_scope_load_bytes(scope, program, data, len(data), 1)
            if status != c_calls.OK:
                message = c_calls.C.pm_last_error().decode()
                check_message(message)
                require(status in (c_calls.PROGRAM, c_calls.SHAPE, c_calls.RESOURCE), f"status {status}: {message}")
                c_calls.done(c_calls.C.pm_scope_names(scope, values))
                require(c_calls.texts_of(values) == [], "a refused state changed the scope")
                raise MemoryError(message) if status == c_calls.RESOURCE else pm.ProgramError(message)
            c_calls.done(c_calls.C.pm_scope_get(scope, c_calls.names(*VALUES), len(VALUES), values))
            return dict(zip(VALUES, c_calls.arrays_of(values)))
