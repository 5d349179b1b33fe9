# Fixtures of the tests of clusters, and the engine on which the jobs of tests run: pytest tests/cluster --engine ray
import os
import signal
import sys

import pytest

import cluster_jobs
import cluster_moments
from paddle_mini.cluster.thread_engine import ThreadEngine
from server_calls import BOTH, Group, train
from server_checkpoints import checkpoint

os.environ["RAY_TQDM_PATCH_PRINT"] = "0"  # otherwise print() is Ray's from its first job on, for all later tests too


def pytest_addoption(parser):
    """If pytest is not given this folder, it loads this file too late to add the option, and jobs run on threads."""
    parser.addoption("--engine", choices=["threads", "ray"], default="threads", help="where jobs of tests/cluster run")


def pytest_collection_modifyitems(config, items):
    """With --engine ray: the tests that have an engine, and those with Ray in their names; all others are the same as
    without."""
    if config.getoption("--engine", "threads") == "ray":
        ours = [item for item in items if "engine" in item.fixturenames or "_ray" in item.nodeid]
        config.hook.pytest_deselected(items=[item for item in items if item not in ours])
        items[:] = ours


@pytest.fixture(scope="session")
def ray_cluster():
    """One Ray for all tests: it takes seconds to start."""
    ray = pytest.importorskip("ray")
    for module in (cluster_jobs, cluster_moments):
        ray.cloudpickle.register_pickle_by_value(module)
    handler = signal.getsignal(signal.SIGTERM)
    ray.init("local", include_dashboard=False)
    signal.signal(signal.SIGTERM, handler)  # the process runs other tests too
    yield ray
    ray.shutdown()


@pytest.fixture
def engine(request):
    """A class whose objects run one job each: ThreadEngine or RayEngine."""
    if request.config.getoption("--engine", "threads") == "threads":
        return ThreadEngine
    ray = request.getfixturevalue("ray_cluster")
    from paddle_mini.cluster.ray_engine import RayEngine

    if request.module.__name__ not in ray.cloudpickle.list_registry_pickle_by_value():
        ray.cloudpickle.register_pickle_by_value(sys.modules[request.module.__name__])
    return RayEngine


@pytest.fixture
def two(tmp_path):
    """A directory with checkpoints of versions 3 and 4, newest last."""
    group = Group(1, BOTH, directory=str(tmp_path))
    names = []
    for step in range(4):
        train(group, step, step + 1)
        if step >= 2:
            names.append(checkpoint(group)["file"])
    return tmp_path, names
