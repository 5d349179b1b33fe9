"""Checkpoints written before averages had blocks: they load with the same averages, and lose no precision from then on."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import Walk
from averages_by_definition import PlainWindow, digits_off, expected
from paddle_mini.averaging import Exponential, Polynomial, Uniform, Window


def slow_path(steps, size=16):
    """Parameters that rise by a unit in the last place every second step, and some that shake by 0.1 %."""
    random, at = np.random.RandomState(3), np.arange(steps)[:, None]
    begin = random.uniform(1, 2, size).astype("float32")
    rising = (begin.view("int32") + at // 2).astype("int32").view("float32")
    return np.hstack([rising, (begin * (1 + 1e-3 * random.randn(steps, size))).astype("float32")])


def walk_along(model, path):
    for values in path:
        model.scope.set("p", values)
        model.exe.run(model.main, {"x": np.zeros_like(values)}, scope=model.scope)
    return model


def made(schemes, path):
    return Walk(schemes, size=path.shape[1], rate=0.0, begin=1.0)


def without_blocks(model):
    return {
        name: value
        for name, value in pm.io.get_state(model.main, model.scope).items()
        if "average_block" not in name and "average_sums" not in name
    }


def test_means_go_on():
    path, schemes = slow_path(900), [Uniform(), Polynomial(), Exponential(0.99)]
    model = walk_along(made(schemes, path), path[:400])
    state = without_blocks(model)
    state.update({f"p_average_{number}": model.value(scheme) for number, scheme in enumerate(schemes)})
    later = made(schemes, path)
    pm.io.set_state(later.main, state, later.scope)
    for scheme in schemes:
        assert later.value(scheme).tobytes() == model.value(scheme).tobytes()
    walk_along(later, path[400:])
    for scheme in schemes:
        assert digits_off(later.value(scheme), expected(scheme, path)).max() <= 2, scheme


@pytest.mark.parametrize("steps", [1, 30, 64, 65, 100, 128, 170])
def test_windows_go_on(steps, tmp_path):
    """In the middle of a generation and just after one has ended; its old rounding errors end with that generation."""
    path, scheme = slow_path(steps + 200), Window(64)
    model, plain = made(scheme, path), PlainWindow(64, np.ones_like(path[0]))
    for values in path[:steps]:
        plain.step(values)
    state = without_blocks(model)
    begun = ["average_counters_0", "average_state_0", "p", "p_average_0", "p_previous_average_0"]
    assert set(begun) <= set(state)
    state.update(zip(begun, [plain.counters, plain.state, path[steps - 1], plain.average, plain.previous]))
    pm.io.save_state(str(tmp_path / "old.pdparams"), state)
    pm.io.set_state(model.main, pm.io.load_state(str(tmp_path / "old.pdparams")), model.scope)
    assert digits_off(model.value(), plain.value()).max() <= 1
    for step, values in enumerate(path[steps:], steps + 1):
        walk_along(model, [values])
        off = digits_off(model.value(), expected(scheme, path[:step])).max()
        assert off <= (2 if step >= (steps // 64 + 2) * 64 else 16), step
    assert counters_of(model) == [steps + 200, (steps + 200) % 64, 64]


def counters_of(model):
    return model.scope.get("average_counters_0").tolist()[:3]
