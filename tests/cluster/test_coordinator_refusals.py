"""Settings and requests that a coordinator rejects."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinators import Asked
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.errors import Malformed
from paddle_mini.cluster.wire import pack, unpack
from raw_messages import PROTOCOL, request


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"job": ""},
        {"job": 3},
        {"trainers": 0},
        {"servers": 2.0},
        {"servers": True},
        {"lease": 0.0},
        {"lease": float("nan")},
        {"init_lease": "1"},
        {"task_timeout": -1},
        {"task_failures": 0},
        {"facts": {"a": {1}}},
        {"facts": {"a": float("inf")}},
    ],
)
def test_settings_that_can_not_be(wrong):
    with pytest.raises(Malformed, match=next(iter(wrong))):
        CoordinatorSettings(**{"job": "job", "trainers": 1, "servers": 1, **wrong})


FIELDS = [
    "key",
    "trainer",
    "server",
    "address",
    "token",
    "part",
    "number",
    "incarnation",
    "pass_number",
    "report",
    "directory",
    "seconds",
    "chunks",
    "chunks_per_task",
    "task",
    "epoch",
    "servers",
    "failed",
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.integers(),
    st.just(1e300),
    st.text(max_size=3),
    st.lists(st.integers(-1, 2), max_size=2),
    st.lists(st.lists(st.integers(0, 2))),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


def test_the_service_outlives_what_it_is_sent(job):
    job.trainer("a")

    @settings(max_examples=300)
    @given(
        st.one_of(
            st.binary(max_size=60),
            st.builds(
                lambda name, fields: request("job", name, **fields),
                st.sampled_from(sorted([kind.name for kind in job.service.handlers])),
                st.dictionaries(st.sampled_from(FIELDS), VALUES),
            ),
        )
    )
    def send(header):
        reply, arrays = job.service.handle(header, [])
        facts = unpack(reply)
        assert arrays == [] and ("ok" in facts) != ("error" in facts)
        assert facts.get("error", {}).get("kind") != "failed", facts

    send()
    job.restart()
    assert job.trainer("fresh")["incarnation"] >= 1


@pytest.mark.parametrize(
    "header, error",
    [
        (request("job", "no such thing"), "malformed"),
        (request("other", "view"), "wrong_job"),
        (request("job", "join", key=""), "malformed"),
        (request("job", "leave", role="saver", number=0, incarnation=1), "malformed"),
        *(
            (request("job", "end_init", trainer=0, incarnation=1, token=1, servers=servers), "malformed")
            for servers in ([0], [[0]], [[0, "a"]], [[0, True]], {})
        ),
        (pack({"protocol": PROTOCOL + 1, "job": "job", "request": "view"}), "wrong_version"),
        (b"\x00\xff", "malformed"),
    ],
)
def test_kinds_of_refusals(job, header, error):
    job.trainer("a")
    assert unpack(job.service.handle(header, [])[0])["error"]["kind"] == error
