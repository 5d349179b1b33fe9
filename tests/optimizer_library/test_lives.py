# Objects of the C library in any order of calls: with saves, loads and rejected calls at any point, the bits are the
# same.
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from one_parameter import KINDS, ROWS, WIDTH, library, values

DENSE_ONLY = ("Lamb", "Lars", "Dpsgd")
AVERAGES = [
    {"scheme": "window", "window_min": 2, "window_max": 3},
    {"scheme": "exponential", "decay": 0.75, "every": 2},
    {"scheme": "polynomial", "exponent": 2.0, "start_step": 2},
    {"scheme": "rate"},
]
calls = st.lists(
    st.one_of(
        st.tuples(st.just("update"), st.integers(0, 9)),
        st.tuples(st.just("rows"), st.lists(st.integers(0, ROWS - 1), max_size=4)),
        st.tuples(st.just("delta"), st.sampled_from([0.0, -0.5, 2.0])),
        st.tuples(st.just("rate"), st.sampled_from([0.0, 0.25])),
        st.tuples(st.just("nan"), st.integers(0, ROWS - 1)),
        st.tuples(st.just("read"), st.lists(st.integers(0, ROWS - 1), max_size=3)),
    ),
    max_size=15,
)
configurations = st.fixed_dictionaries(
    {},
    optional={
        "row_policy": st.sampled_from(["Lazy", "LikeZeros"]),
        "averaging": st.lists(st.sampled_from(AVERAGES), max_size=3),
        "clip_norm": st.sampled_from([0.5, 3.0]),
        "l2_rate": st.just(0.125),
        "l1_rate": st.just(0.0625),
        "row_width": st.just(WIDTH),
        "learning_rate_factor": st.just(0.5),
    },
)


def make(kind, configuration, state=None):
    return library(kind, values(), KINDS[kind], state, nan_policy="Skip", **configuration)


def make_call(native, call, argument, by_rows):
    if call == "update" or (call == "rows" and not by_rows):
        native.update(values(seed=argument if call == "update" else len(argument)))
    elif call == "rows":
        native.update_rows(argument, values(shape=(len(argument), WIDTH), seed=len(argument)))
    elif call == "delta":
        native.apply_delta(values(seed=3), argument)
    elif call == "rate":
        native.set_learning_rate(argument)
    elif call == "nan":
        gradient = values()
        gradient[argument] = np.nan
        native.update(gradient)
    elif native.rows(argument).size and by_rows:
        native.view()


def refuse_some(native, averages):
    """Calls that are rejected."""
    for wrong in (
        lambda: native.update_rows([ROWS], np.zeros((1, WIDTH), "float32")),
        lambda: native.average(averages),
        lambda: native.update_rows([-1, 0], np.zeros((2, WIDTH), "float32")),
        lambda: native.rows([ROWS]),
        lambda: native.apply_delta(values(), np.inf),
        lambda: native.set_learning_rate(-1.0),
        lambda: native.update(native.view()),
    ):
        with pytest.raises(pm.Error):
            wrong()


@settings(max_examples=150)
@given(kind=st.sampled_from(sorted(KINDS)), configuration=configurations, life=calls, data=st.data())
def test_lives(kind, configuration, life, data):
    decays = {"l1_rate", "l2_rate"} & set(configuration)
    lazy = configuration.get("row_policy", "Lazy") == "Lazy"
    by_rows = not lazy or not (kind in DENSE_ONLY or (decays and configuration.get("averaging")))
    plain, moved = make(kind, configuration), make(kind, configuration)
    for call, argument in life:
        make_call(plain, call, argument, by_rows)
        if data.draw(st.booleans()):
            moved = make(kind, configuration, moved.state())
        if not (lazy and decays):  # a read applies pending decay, which rounds
            refuse_some(moved, len(configuration.get("averaging", ())))
        make_call(moved, call, argument, by_rows)
        assert moved.state() == plain.state()
    assert moved.parameter().tobytes() == plain.parameter().tobytes()
    for which in range(len(configuration.get("averaging", ()))):
        assert moved.average(which).tobytes() == plain.average(which).tobytes()
    assert (moved.updates, moved.skipped, moved.learning_rate) == (plain.updates, plain.skipped, plain.learning_rate)
