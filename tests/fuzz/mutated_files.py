"""Files of parameters: .pdiparams, one file per variable, pickled states, safetensors. A rejected file changes no scope."""

import json

import mutations
import numpy as np
from properties import accepted, check_message, require

import c_calls
import paddle_mini as pm


def program():
    main = pm.Program()
    block = main.global_block()
    block.create_parameter("w", [3, 4])
    block.create_parameter("b", [5], "float64")
    block.create_var("i", shape=[2], dtype="int64", persistable=True)
    return main


VALUES = {"w": np.arange(12, dtype="float32").reshape(3, 4), "b": np.linspace(0, 1, 5), "i": np.array([7, 8])}


class Mutants:
    def __init__(self, folder):
        self.folder, self.program = folder / "files", program()
        self.folder.mkdir(exist_ok=True)
        scope = self.scope()
        pm.io.save_parameters(self.path("all.pdiparams"), self.program, scope)
        pm.io.save_persistables(None, self.folder, self.program, None, scope)
        state = pm.io.get_state(self.program, scope)
        for name in ("state.pdparams", "state.safetensors"):
            pm.io.save_state(self.path(name), state)
        self.forms = [
            ("all.pdiparams", self.load_all),
            ("all.pdiparams", self.load_by_c),
            ("w", self.load_one),
            ("i", self.load_one),
            ("state.pdparams", self.load_by_c),
            ("state.safetensors", self.load_by_c),
            ("state.pdparams", self.load_state),
            ("state.safetensors", self.load_state),
        ]
        self.originals = {name: (self.folder / name).read_bytes() for name, _ in self.forms}

    def path(self, name):
        return str(self.folder / name)

    @staticmethod
    def scope():
        scope = pm.Scope()
        for name, value in VALUES.items():
            scope.set(name, value)
        return scope

    def mutant(self, rng, name):
        data = self.originals[name]
        if name.endswith("safetensors") and rng.random() < 0.7:
            return self.other_header(rng, data)
        if name.endswith("pdparams") and rng.random() < 0.7:
            data = self.unmarked(data)
        return mutations.damaged(rng, data)

    @staticmethod
    def unmarked(data):
        """The pickle without its checksum, which would refuse every change before it is read."""
        return data[:2] + data[19:]

    @staticmethod
    def other_header(rng, data):
        """A header that is JSON, with one value replaced."""
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        facts = rng.choice(list(header.values()) + [header])
        key = rng.choice(list(facts))
        odd = [
            None,
            True,
            -1,
            0,
            2**63,
            2**70,
            1.5,
            1e400,
            "F32",
            "F64",
            "I64",
            "BF16",
            "x\x1b[31m",
            [],
            [0],
            [0, 0],
            [0, 48],
            [-1, 4],
            [2**62, 4],
            [[0]],
            {},
            {"a": 1},
            facts[key],
        ]
        facts[rng.choice([key, "__metadata__", "dtype", "w", "\x1b[31m", ""])] = rng.choice(odd)
        if rng.random() < 0.3:
            facts.pop(key, None)
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + size :]

    def run(self, rng):
        name, load = rng.choice(self.forms)
        (self.folder / name).unlink()
        (self.folder / name).write_bytes(self.mutant(rng, name))
        scope = self.scope()
        fine, found = accepted(lambda: load(name, scope))
        after = {one: scope.get(one) for one in scope.names()}
        if not fine:
            require(
                sorted(after) == sorted(VALUES) and all(np.array_equal(after[one], VALUES[one]) for one in VALUES),
                f"a refused file changed the scope: {found}",
            )
            return False
        require(sorted(after) == sorted(VALUES), "other variables than the program's")
        for one, value in after.items():
            require(value.shape == VALUES[one].shape and value.dtype == VALUES[one].dtype, f"'{one}' has another shape or dtype")
        return True

    def load_all(self, name, scope):
        pm.io.load_parameters(self.path(name), self.program, scope)

    def load_by_c(self, name, scope):
        with c_calls.Handles() as handles:
            data = self.program.to_bytes()
            program, inside, values = handles.program_load(data, len(data)), handles.scope_create(), handles.values_create()
            try:
                c_calls.done(c_calls.C.pm_scope_load(inside, program, self.path(name).encode(), 0))
            except c_calls.Failed as failure:
                require(failure.status in (c_calls.PROGRAM, c_calls.SHAPE), f"status {failure.status}")
                raise pm.ProgramError(failure.message) from None
            c_calls.done(c_calls.C.pm_scope_get(inside, c_calls.names(*VALUES), len(VALUES), values))
            for one, array in zip(VALUES, c_calls.arrays_of(values)):
                scope.set(one, array)

    def load_one(self, name, scope):
        pm.io.load_vars(None, str(self.folder), self.program, vars=[name], scope=scope)

    def load_state(self, name, scope):
        state = pm.io.load_state(self.path(name))
        require(all(isinstance(key, str) for key in state), "a name that is not text")
        if all(isinstance(value, np.ndarray) for value in state.values()):
            again = str(self.folder / f"again.{name.split('.')[1]}")
            fine, error = accepted(lambda: pm.io.save_state(again, state))
            if fine:
                found = pm.io.load_state(again)
                require(sorted(found) == sorted(state), "saved again it has other names")
            else:
                check_message(str(error))
        pm.io.set_state(self.program, state, scope)
