"""Jobs in collective mode on Ray, whose trainers are processes with a GPU each, and add up by NCCL."""

import ast

import pytest

JOB = """
import os, pathlib, time
import ray, gpu_jobs
from gpu_jobs import assert_near, run
from paddle_mini.cluster.ray_engine import RayEngine
import cluster_jobs
ray.init("local", include_dashboard=False, log_to_driver=False)
for module in (gpu_jobs, cluster_jobs):
    ray.cloudpickle.register_pickle_by_value(module)

marker = pathlib.Path(os.environ["STAND_IN_LOG"]).with_name("died")
def happens(trainer, step):
    if DIES and (trainer.number, step) == (1, 2) and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), 9)
    if marker.exists():
        time.sleep(0.5)  # so that who has died comes back before the last step

values, result = run(2, 6, RayEngine(), happens=happens, place=pm.CUDAPlace(0), restarts=1, lease=60.0)
assert marker.exists() == DIES
if not DIES:
    assert_near(values, run(2, 6, place=pm.CPUPlace())[0])
ray.shutdown()
print((result.counts, [made for _, made in result.returned], [name for name in values if not np.isfinite(values[name]).all()]))
"""


@pytest.mark.parametrize("dies", [False, True])
def test_processes_add_up(stand_in, in_child, dies):
    pytest.importorskip("ray")
    code = JOB.replace("DIES", str(dies))
    out, calls = in_child(code, 240, PM_NCCL=stand_in("nccl"), RAY_TQDM_PATCH_PRINT=0)
    counts, made, not_finite = ast.literal_eval(out.splitlines()[-1])
    assert not_finite == [] and counts["sent"] == counts["applied"] and made[0] == list(range(6))
    assert "refused" not in "".join(calls)
    joined, summed = calls.count("ncclCommInitRankConfig"), calls.count("ncclGroupEnd")
    assert (joined, summed) == (2, 2 * 6) if not dies else joined >= 4, "who has died has a place in another clique"
