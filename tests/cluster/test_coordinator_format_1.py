"""The file of the version before the log: a coordinator resumes from it."""

import pytest

from coordinators import FORMAT_1, Asked, resumed, used
from paddle_mini.cluster.coordinator import coordinator_file


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


def test_a_file_of_format_1_is_read(job, tmp_path):
    used(job)
    expected = resumed(job)
    data = coordinator_file._spelled({"format": 1, "job": "job", "state": FORMAT_1})
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "coordinator.json").write_bytes(data)
    old = Asked(tmp_path / "old")
    view = old.request("view")
    assert view["started"] and view["initialised"] and view["trainers"] == [[0, 2], [1, 1]]
    found = resumed(old)
    for places in ("tasks.data", "tasks.todo"):  # places in the queue are counted from its beginning
        del found[places], expected[places]
    assert found == expected
    b = {"trainer": 1, "incarnation": 1}
    assert old.request("end_tasks", **b, tasks=[[1, 1]])["counted"] == [True]
    assert [chunks for _, _, chunks in old.request("get_tasks", **b, pass_number=0, serial=5)["tasks"]] == [["z"]]
    assert old.trainer("d")["trainer"] == 2
