# State of the C library: an object that resumes from it gives the same bits; damaged or foreign bytes are rejected.
import numpy as np
import pytest

import paddle_mini as pm
from averages_by_definition import PlainWindow, digits_off
from one_parameter import KINDS, gradients, library, row_gradients, same_bits, values

STEPS = 6
AB = {"learning_rate": 0.1, "lr_decay_a": 0.01, "lr_decay_b": 0.05}
SEGMENTS = {"learning_rate": 0.1, "segments": [{"bound": 3, "rate": 1.0}, {"bound": 8, "rate": 0.5}]}
POLICIES = {
    "Const": ("const_lr", {"learning_rate": 0.1}),
    "Linear": ("linear_lr", AB),
    "Poly": ("poly_lr", AB),
    "CaffePoly": ("caffe_poly_lr", {**AB, "lr_decay_a": 10.0}),
    "Exp": ("exp_lr", {**AB, "lr_decay_b": 20.0}),
    "DiscExp": ("discexp_lr", {**AB, "lr_decay_b": 4.0}),
    "Manual": ("manual_lr", SEGMENTS),
    "PassManual": ("pass_manual_lr", SEGMENTS),
    "Noam": ("noam_lr", {"d_model": 16, "warmup_steps": 4}),
    "Cosine": ("cosine_lr", {"learning_rate": 0.1, "steps": 10}),
}
AVERAGES = {
    "without": [],
    "window": [{"scheme": "window", "window_min": 2, "window_max": 4}],
    "three": [
        {"scheme": "uniform", "start_step": 3},
        {"scheme": "exponential", "decay": 0.9, "warmup": "ratio"},
        {"scheme": "polynomial", "exponent": 3.0, "every": 2},
    ],
    "three others": [
        {"scheme": "uniform", "start_step": 3},
        {"scheme": "power", "exponent": 3.0},
        {"scheme": "exponential", "decay": 0.9, "bias_correction": False},
    ],
}


def native(kind, begin, policy="Const", averages="without", state=None, **others):
    field, message = POLICIES[policy]
    return library(kind, begin, KINDS[kind], state, lr_policy=policy, averaging=AVERAGES[averages], **{field: message}, **others)


def everything(found, averages="without"):
    """The visible properties of an object, and its state."""
    return [
        found.parameter().tobytes(),
        found.updates,
        found.skipped,
        found.learning_rate,
        found.state(),
        *(found.average(which).tobytes() for which in range(len(AVERAGES[averages]))),
    ]


@pytest.mark.parametrize("averages", AVERAGES)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", KINDS)
def test_goes_on(kind, policy, averages):
    """k updates, save, load, k updates give the same bits as 2k updates."""
    begin, steps = values(), gradients(2 * STEPS)
    through, first = native(kind, begin, policy, averages), native(kind, begin, policy, averages)
    for gradient in steps[:STEPS]:
        through.update(gradient)
        first.update(gradient)
    second = native(kind, np.zeros_like(begin), policy, averages, first.state())
    assert everything(second, averages) == everything(first, averages)
    for gradient in steps[STEPS:]:
        through.update(gradient)
        second.update(gradient)
    assert everything(second, averages) == everything(through, averages)


@pytest.mark.parametrize("change", [{}, {"l2_rate": 0.1}, {"l1_rate": 0.05}, {"row_policy": "LikeZeros", "l2_rate": 0.1}])
@pytest.mark.parametrize("kind", ["SGD", "SGD with momentum", "Adagrad", "Adam", "Ftrl"])
def test_rows_go_on(kind, change):
    begin, steps = values("float64"), list(row_gradients(2 * STEPS, "float64"))
    averages = "three" if change.get("row_policy") or not change else "without"
    through, first = (native(kind, begin, "Linear", averages, **change) for _ in range(2))
    for rows, gradient in steps[:STEPS]:
        through.update_rows(rows, gradient)
        first.update_rows(rows, gradient)
    second = native(kind, np.zeros_like(begin), "Linear", averages, first.state(), **change)
    for rows, gradient in steps[STEPS:]:
        through.update_rows(rows, gradient)
        second.update_rows(rows, gradient)
    assert second.state() == through.state()
    same_bits(second.parameter(), through.parameter())


def test_a_fixed_rate_the_pass_and_the_counters_go_on():
    first = native("SGD", values(), "PassManual", nan_policy="Skip")
    first.set_pass(5)
    first.update(values())
    first.update(np.full((7, 5), np.nan, "float32"))
    second = native("SGD", values(), "PassManual", state=first.state(), nan_policy="Skip")
    second.update(values())
    assert (second.learning_rate, second.updates, second.skipped) == (0.05, 2, 1)
    second.set_learning_rate(0.75)
    third = native("SGD", values(), "PassManual", state=second.state(), nan_policy="Skip")
    third.update(values())
    assert third.learning_rate == 0.75


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_bit_is_kept(kind, dtype):
    """NaN with any payload, infinity, subnormal numbers, -0.0."""
    size = np.dtype(dtype).itemsize
    begin = np.frombuffer(np.random.default_rng(0).bytes(1000 * size), dtype).copy()
    tiny = np.finfo(dtype)
    begin[:7] = [np.nan, -np.inf, np.inf, -0.0, tiny.smallest_subnormal, -tiny.tiny / 2, tiny.max]
    first = native(kind, begin)
    same_bits(first.view(), begin)
    gradient = np.random.default_rng(1).permutation(begin)
    with np.errstate(all="ignore"):
        first.update(gradient)
    second = native(kind, np.zeros_like(begin), state=first.state())
    same_bits(second.view(), first.view())
    assert second.state() == first.state()


def test_the_state_of_a_quiet_object_is_the_same_bytes():
    found = native("Adam", values(), averages="three")
    found.update(values())
    assert found.state() == found.state()


def trained(kind="Adam", averages="three", dtype="float32", size=(7, 5)):
    found = native(kind, values(dtype, size), averages=averages)
    found.update(values(dtype, size))
    return found


def refused(state, kind="Adam", averages="three", dtype="float32", size=(7, 5)):
    with pytest.raises(pm.ProgramError) as caught:
        native(kind, np.zeros(size, dtype), averages=averages, state=state)
    return str(caught.value)


def test_cut_off_states_are_refused():
    state = trained().state()
    for length in [*range(200), *range(200, len(state), 37), len(state) - 1]:
        refused(state[:length])
    refused(state + b"\0")
    refused(state + state)


def test_every_bit_of_the_header_and_many_others_are_checked():
    state = trained().state()
    bits = [*range(8 * 160), *range(8 * 160, 8 * len(state), 97)]
    for bit in bits:
        damaged = bytearray(state)
        damaged[bit // 8] ^= 1 << bit % 8
        refused(bytes(damaged))


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_other_optimizers_are_refused(kind):
    states = {other: trained(other, "without").state() for other in KINDS if other != kind}
    for other, state in states.items():
        assert "state" in refused(state, kind, "without"), other


def test_states_of_other_sizes_types_and_averages_are_refused():
    state = trained().state()
    refused(state, dtype="float64", size=(7, 5))
    refused(state, size=(7, 4))
    refused(state, size=(0,))
    refused(state, averages="window")
    refused(state, averages="without")
    refused(state, averages="three others")
    refused(b"x" * len(state))
    refused(b"")


def test_what_is_refused_changes_nothing():
    first = trained()
    before = everything(first, "three")
    refused(first.state()[:-1])
    assert everything(first, "three") == before


def test_objects_share_nothing():
    begin = values()
    first, second = native("Adam", begin, averages="three"), native("Adam", begin, averages="three")
    before = second.state()
    first.update(values())
    assert second.state() == before != first.state()
    begin[:] = 0
    assert first.parameter().any() and second.state() == before


def checksum(data):
    """The checksum of cpp/optimizer/state.cc: FNV-1a over words, four interleaved sums."""

    def mixed(total, word):
        total = (total ^ word) * 0x100000001B3 % 2**64
        return total ^ (total >> 32)

    sums, whole = [0xCBF29CE484222325, 1, 2, 3], len(data) // 32 * 32
    for at in range(0, whole, 8):
        sums[at // 8 % 4] = mixed(sums[at // 8 % 4], int.from_bytes(data[at : at + 8], "little"))
    total = mixed(sums[0], len(data) - whole)
    for one in sums[1:]:
        total = mixed(total, one)
    for at in range(whole, len(data), 8):
        total = mixed(total, int.from_bytes(data[at : at + 8], "little"))
    return total.to_bytes(8, "little")


def without_blocks(state, size, *arrays):
    """A state in the format of version 1: SGD with one average, from these arrays."""
    assert checksum(state[:-8]) == state[-8:]
    before = 8 + 4 * 4 + 2 * 8 + 8 + 8 + 3 * 8 + 2 * 8 + 2 * 4 + 4 * size
    counted = before + 4 + 5 * 8 + 7 * 8
    tail = counted + 4 * 8 + (1 + len(arrays)) * 4 * size
    old = bytearray(state[:counted] + b"".join(array.tobytes() for array in arrays) + state[tail:-8])
    old[8:12] = (1).to_bytes(4, "little")
    return bytes(old) + checksum(bytes(old))


def test_a_state_from_before_averages_had_blocks_goes_on():
    averages, begin = [{"scheme": "uniform"}], values()

    def made(state=None):
        return library("SGD", begin, state=state, const_lr={"learning_rate": 0.1}, averaging=averages)

    whole = made()
    for gradient in gradients(9):
        whole.update(gradient)
    old = without_blocks(whole.state(), begin.size, whole.average())
    later = made(old)
    assert later.average().tobytes() == whole.average().tobytes()
    for gradient in gradients(30):
        whole.update(gradient)
        later.update(gradient)
    assert later.parameter().tobytes() == whole.parameter().tobytes()
    np.testing.assert_allclose(later.average(), whole.average(), rtol=4e-7, atol=2e-7)
    with pytest.raises(pm.ProgramError, match="format version 3, it must be 2 or 1"):
        state = whole.state()[:8] + (3).to_bytes(4, "little") + whole.state()[12:-8]
        made(state + checksum(state))


@pytest.mark.parametrize("steps", [3, 8, 11, 16, 21])
def test_a_window_from_before_averages_had_blocks_goes_on(steps):
    """In the middle of a generation and just after one has ended."""
    begin = values()

    def made(state=None):
        averages = [{"scheme": "window", "window_min": 8, "window_max": 8}]
        return library("SGD", begin, state=state, const_lr={"learning_rate": 0.1}, averaging=averages)

    whole, plain = made(), PlainWindow(8, begin)
    for gradient in gradients(steps):
        whole.update(gradient)
        plain.step(whole.parameter())
    later = made(without_blocks(whole.state(), begin.size, plain.average, plain.previous))
    np.testing.assert_allclose(later.average(), plain.value(), rtol=2e-7, atol=1e-7)
    for gradient in gradients(30):
        whole.update(gradient)
        later.update(gradient)
        np.testing.assert_allclose(later.average(), whole.average(), rtol=1e-6, atol=1e-6)
    assert digits_off(later.average(), whole.average()).max() <= 2
