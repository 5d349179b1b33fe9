"""Round trips of programs through files: each must give the same results, to the bit."""

import numpy as np

import paddle_mini as pm
from small_model import assert_same_bits


def run_from(program, values, feeds, fetches):
    """The results of a program at each step from these values of its variables, and its persistable variables at the end."""
    exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    for name, value in values.items():
        scope.set(name, value)
    pm.seed(1)
    found = {}
    for step, feed in enumerate(feeds):
        results = exe.run(
            program,
            {name: value for name, value in feed.items() if name in program.global_block().vars},
            fetches,
            scope,
            return_numpy=False,
        )
        found.update(arrays for number, value in enumerate(results) for arrays in as_arrays(f"{step}/{number}", value))
    return found, {name: scope.get(name) for name in scope.names()}


def as_arrays(key, value):
    if isinstance(value, list):
        return [pair for number, item in enumerate(value) for pair in as_arrays(f"{key}[{number}]", item)]
    if isinstance(value, pm.LoDTensor):
        return [(key, value.array), *((f"{key}@LOD{level}", np.array(offsets)) for level, offsets in enumerate(value.lod))]
    return [(key, value.to_dense() if isinstance(value, pm.SelectedRows) else value)]


def assert_the_same_when_saved_again(program, values, feeds, fetches, folder):
    """The whole program, the program pruned for one fetch, and its model for inference, each read and written twice."""
    expected, at_the_end = run_from(program, values, feeds, fetches)
    again = saved_whole(saved_whole(program, at_the_end, folder), at_the_end, folder)
    assert again.to_bytes() == pm.Program.from_bytes(program.to_bytes()).to_bytes()
    found, end = run_from(again, values, feeds, fetches)
    assert_same_bits(found, expected)
    assert_same_bits(end, at_the_end)
    names = sorted({name for feed in feeds for name in feed})
    for number, fetch in enumerate(fetches):
        alone = saved_whole(program.prune(names, [fetch]), at_the_end, folder)
        first, _ = run_from(alone, values, feeds[:1], [fetch])
        assert_same_bits(
            {key.replace("0/0", f"0/{number}", 1): value for key, value in first.items()},
            {
                key: value
                for key, value in expected.items()
                if key == f"0/{number}" or key.startswith((f"0/{number}[", f"0/{number}@"))
            },
        )
    for fetch in fetches:
        assert_the_same_model(program, at_the_end, names, feeds, fetch, folder)


def saved_whole(program, values, folder):
    """The program after a round trip through its files."""
    scope = pm.Scope()
    for name, value in values.items():
        scope.set(name, value)
    pm.io.save_program(folder / "whole", program, scope)
    return pm.io.load_program(folder / "whole", pm.Scope())


def assert_the_same_model(program, values, names, feeds, fetch, folder):
    scope, block = pm.Scope(), program.global_block()
    for name, value in values.items():
        scope.set(name, value)
    if fetch not in {name for op in program.clone(for_test=True).global_block().ops for name in op.output_names}:
        return  # a value that exists only in training
    pm.io.save_inference_model(folder / "first", names, [block.var(fetch)], scope=scope, program=program)
    generations = []
    for source, target in (("first", "second"), ("second", "third"), ("third", None)):
        loaded = pm.Scope()
        model, inputs, outputs = pm.io.load_inference_model(folder / source, scope=loaded)
        assert inputs == names
        generations.append(
            (model.to_bytes(), run_from(model, {name: loaded.get(name) for name in loaded.names()}, feeds, outputs))
        )
        if target:
            pm.io.save_inference_model(folder / target, inputs, outputs, scope=loaded)
    for data, (found, end) in generations[1:]:
        assert data == generations[0][0]
        assert_same_bits(found, generations[0][1][0])
        assert_same_bits(end, generations[0][1][1])
