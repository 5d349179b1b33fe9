"""Arguments and settings of jobs that can't be: they are named before anything starts."""

import pathlib

import pytest

import paddle_mini as pm
from cluster_jobs import train
from paddle_mini.cluster import Malformed


@pytest.mark.parametrize(
    "settings, problem",
    [
        ({"mode": "elastic"}, "elastic mode needs at least 2 trainers"),
        ({"mode": "delta", "local_steps": 0}, "local_steps is 0"),
        ({"local_steps": 2}, "local_steps is only supported in modes delta and elastic"),
        ({"mode": "fast"}, "mode is 'fast'"),
        ({"servers": 0}, "servers is 0"),
        ({"trainers": 0}, "trainers is 0"),
        ({"engine": "mpi"}, "engine is 'mpi'"),
        ({"timeout": 0}, "timeout is 0"),
        ({"restarts": -1}, "restarts is -1"),
        ({"on_status": "show"}, "on_status is 'show'"),
        ({"args": "ab"}, "args is 'ab', it must be a list or tuple"),
        ({"nccl": 1}, "nccl is 1, it must be True or False"),
        ({"checkpoint_seconds": "60"}, "checkpoint_seconds is '60'"),
        ({"checkpoint_seconds": 1e-310}, "checkpoint_seconds is 1e-310, it must be from 1e-6 to 1e9 seconds, or inf"),
        ({"checkpoint_seconds": 10**400}, "checkpoint_seconds is 10+"),
        ({"stale_limit": True}, "stale_limit and alpha must be numbers, or None"),
        ({"status_seconds": "1"}, "status_seconds is '1'"),
        ({"train_fn": None}, "the function that each trainer runs, not None: give it without calling it"),
        ({"directory": pathlib.Path("s3://bucket/job")}, "is a URL without one of its slashes"),
    ],
)
def test_settings_that_can_not_be(settings, problem):
    with pytest.raises(Malformed, match=problem):
        pm.cluster.run(**{"train_fn": train, **settings})
    with pytest.raises(TypeError, match=r"run\(\) has no argument 'lesae'; did you mean 'lease'"):
        pm.cluster.run(train, lesae=3)
    for directory, problem in (("", "directory is an empty text"), (b"job", "b'job' is not a path")):
        with pytest.raises(pm.Error, match=problem):
            pm.cluster.run(train, directory=directory)
