"""Each layer function's programs, with their gradients, run in PaddlePaddle from the same bytes."""

import inspect

import numpy as np
import pytest

import paddle_mini as pm
from layer_cases import CASES, Inputs

TOLERANCE = 2e-5  # relative to the largest element: sums are in another order there

# Layers without a case.
NO_CASE = {
    "get_tensor_from_selected_rows": "its input is a gradient of selected rows",
    "py_func": "a program has the number of a function, which only its own process knows",
    "merge_selected_rows": "its input is a gradient of selected rows",
    "softmax_mask_fuse_upper_triangle": "PaddlePaddle 2.6.2 has no kernel for it on CPUs",
}
# Loops that store nothing for a gradient.
NO_GRADIENT = {"BeamSearchDecoder", "dynamic_decode"}
# Gradients that differ, and the reason; PaddlePaddle's own functions give the same programs.
DIFFERENT = {
    "deformable_conv": dict.fromkeys(["defaults", "without mask"], "PaddlePaddle's gradient of Input is zeros on CPUs"),
    "spectral_norm": {"defaults": "PaddlePaddle's gradient differs from differences, also where the vectors have converged"},
    "dynamic_lstm": {"cell": "PaddlePaddle's lstm_grad does not read the gradient of Cell"},
    "shuffle_channel": {"defaults": "PaddlePaddle's gradient exchanges the groups and the channels of a group"},
    "gather": dict.fromkeys(["axis -1", "axis -2"], "PaddlePaddle's gather_grad is wrong for axes but the first"),
}

AXES = {"axis", "dim", "axes", "axis1", "num_flatten_dims"}
# Their axis states which of X's axes is the first of Y; -1 is not the last one.
BROADCASTING = {name for name in pm.layers.__all__ if name.startswith("elementwise_")} | {
    "spectral_norm",  # its dim is 0 or 1
    "box_coder",  # its axis is that of TargetBox which PriorBox has
    "equal",
    "heaviside",
    "not_equal",
    "less_than",
    "less_equal",
    "greater_than",
    "greater_equal",
}


class LayerProgram:
    """The program of one case, with the gradients of the mean square of its result, if it has any."""

    def __init__(self, build, gradients=True):
        try:
            self.build(build, gradients)
        except pm.ProgramError:
            self.build(build, gradients=False)

    def build(self, build, gradients):
        self.main, self.startup, self.inputs = pm.Program(), pm.Program(), Inputs()
        with pm.program_guard(self.main, self.startup):
            outputs = build(self.inputs)
            outputs = [output for output in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
            self.fetches = [output.name for output in outputs]
            parts = [output for output in outputs if output.dtype == "float32" and not output.stop_gradient]
            if gradients and parts:
                loss = pm.layers.sums([pm.layers.mean(pm.layers.square(part)) for part in parts])
                wanted = [
                    var
                    for var in self.main.global_block().vars.values()
                    if not var.stop_gradient and var.dtype == "float32" and (var.need_check_feed or isinstance(var, pm.Parameter))
                ]
                self.fetches += [found.name for found in pm.backward.gradients(loss, wanted) if found is not None]

    def run(self):
        """Its results here, and the initial values."""
        exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
        pm.seed(1)
        exe.run(self.startup, scope=scope)
        values = {name: scope.get(name) for name in scope.names()}
        return exe.run(self.main, self.inputs.values, self.fetches, scope, return_numpy=False), values


@pytest.fixture(scope="module")
def results(run_all, tmp_path_factory, as_arrays):
    """By case: (names, values here, values there or an error)."""
    folder, ours, fetched = tmp_path_factory.mktemp("layers"), {}, {}
    for number, (layer, case) in enumerate((layer, case) for layer, cases in CASES.items() for case in cases):
        made = LayerProgram(CASES[layer][case], layer not in NO_GRADIENT)
        found, values = made.run()
        (folder / f"{number}.pb").write_bytes(made.main.to_bytes())
        arrays = [pair for name, value in made.inputs.values.items() for pair in as_arrays(f"feed:{name}", value)]
        np.savez(folder / f"{number}.npz", **values, **dict(arrays))
        ours[layer, case], fetched[str(number)] = (made.fetches, found), made.fetches
    theirs = run_all(folder, fetched)
    return {key: (*ours[key], theirs[str(number)]) for number, key in enumerate(ours)}


@pytest.mark.parametrize(
    "layer, case", [(layer, case) for layer, cases in CASES.items() for case in cases], ids=lambda value: value.replace(" ", "_")
)
def test_layer(results, layer, case):
    names, ours, theirs = results[layer, case]
    assert not isinstance(theirs, str), theirs
    for name, value in zip(names, ours):
        if name.endswith("@GRAD") and case in DIFFERENT.get(layer, ()):
            continue
        array = (
            value.array if isinstance(value, pm.LoDTensor) else value.to_dense() if isinstance(value, pm.SelectedRows) else value
        )
        there = theirs[name]
        if there.dtype == np.float64 and there.shape == (0,):
            continue  # it has no value there
        assert (array.dtype, array.shape) == (there.dtype, there.shape), name
        largest = np.abs(there).max(initial=0)
        np.testing.assert_allclose(array, there, rtol=TOLERANCE, atol=max(TOLERANCE * largest, 1e-6), err_msg=name)


def test_every_layer_has_a_case():
    layers = {name for name in pm.layers.__all__}
    assert layers - set(CASES) == set(NO_CASE)
    assert not set(CASES) - layers


def test_every_axis_is_asked_for():
    """A layer that takes an axis has cases with negative ones."""
    for layer, cases in CASES.items():
        function = getattr(pm.layers, layer)
        if AXES & set(inspect.signature(function).parameters) and layer not in BROADCASTING:
            assert any("-" in case for case in cases), layer
