"""Jobs in collective mode on threads, each trainer with a GPU of its own: NCCL adds up their gradients, on the GPUs."""

import ast

import pytest

HEAD = """
import threading
from collections import Counter
import gpu_jobs
from gpu_jobs import Log, assert_near, run, trainer_of_thread
from paddle_mini.cluster.engine import Killed
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.trainers.gpu_gradients import GpuGradients
from small_model import assert_same_bits

class Counting(ThreadEngine):
    # Counts the requests by which gradients go through the memory of the host.
    def __init__(self):
        super().__init__()
        self.counts = Counter()
    def post(self, request, respond, timeout):
        names = "get_gradient", "get_mean", "arrive", "wake"
        self.counts.update(name for name in names if f'"{name}"'.encode() in request.header)
        super().post(request, respond, timeout)

log, engine = Log(), Counting()
"""
JOINED = "ncclCommInitRankConfig"


@pytest.fixture
def job(stand_in, in_child):
    """Runs code with the stand-in; returns the last line of its output, evaluated, and the calls of NCCL."""

    def run(code, **variables):
        out, calls = in_child(HEAD + code, **{"PM_NCCL": stand_in("nccl"), **variables})
        return ast.literal_eval(out.splitlines()[-1]), calls

    return run


@pytest.mark.parametrize("trainers", [1, 2, 3])
def test_gradients_stay_on_the_gpus(job, trainers):
    """The result is that of trainers on the CPU, but for the order of sums."""
    (through_host, parameters), calls = job(
        f"""
values, result = run({trainers}, engine=engine)
assert result.counts["applied"] == 5 * {trainers} and not log.lines
counts = dict(engine.counts)
assert_near(values, run({trainers}, place=pm.CPUPlace())[0])
print((counts, len([name for name in values if name.startswith("fc") and "@" not in name])))
"""
    )
    assert through_host == {"arrive": 5 * trainers}
    assert not [line for line in calls if "refused" in line]
    assert calls.count(JOINED) == trainers and calls.count("ncclGroupEnd") == 5 * trainers
    assert calls.count("ncclAllReduce") == 5 * trainers * 4 and parameters >= 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_bits_are_those_of_the_cpu(job, dtype):
    """A sum of two has one order, and the optimizer divides it as the host does."""
    job(
        f"""
def train(place):
    x = pm.layers.data("x", [-1, 4], "{dtype}")
    w = pm.layers.create_parameter([4], "{dtype}", attr=pm.ParamAttr("w", pm.initializer.Constant(0.25)))
    pm.optimizer.SGD(0.5).minimize(pm.layers.reduce_sum(pm.layers.elementwise_mul(x, w)))
    exe = pm.Executor(place or pm.CUDAPlace(trainer_of_thread()))
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join(exe=exe)
    for step in range(4):
        trainer.run({{"x": np.random.RandomState(9 * step + trainer.number).randn(1, 4).astype("{dtype}")}})
    return pm.global_scope().get("w")
on_gpus, on_cpu = (pm.cluster.run(train, 2, mode="collective", args=(place,)).returned for place in (None, pm.CPUPlace()))
assert len({{one.tobytes() for one in on_gpus + on_cpu}}) == 1
print(0)
"""
    )


def test_one_without_a_finite_gradient_takes_part_with_zeros(job):
    _, calls = job(
        """
at = [(1, 2)]
values, result = run(3, engine=engine, poison=at)
assert result.counts["sent"] == 3 * 5 - 1
assert engine.counts["get_mean"] == engine.counts["get_gradient"] == 0
told = [one for _, made in result.returned for one in made if isinstance(one, str)]
assert len(told) == 1 and "trainer 1 for step 2 is not finite in 'fc_0" in told[0]
assert_near(values, run(3, place=pm.CPUPlace(), poison=at)[0])
print(0)
"""
    )
    assert calls.count(JOINED) == 3, "the clique is the same before and after it"


def test_where_no_gradient_is_finite_nothing_is_added_up(job):
    _, calls = job(
        """
values, result = run(2, poison=[(0, 2), (1, 2)])
assert_near(values, run(2, place=pm.CPUPlace(), poison=[(0, 2), (1, 2)])[0])
print(0)
"""
    )
    assert calls.count(JOINED) == 2 and calls.count("ncclGroupEnd") == 2 * 4


def test_loss_scaling_sees_what_is_not_finite(job):
    job(
        """
def scaled(loss):
    pm.optimizer.LossScaling(pm.optimizer.SGD(0.1), init_loss_scaling=8.0, decr_every_n_nan_or_inf=1).minimize(loss)
values, result = run(2, minimize=scaled, poison=[(1, 2)])
assert_near(values, run(2, place=pm.CPUPlace(), minimize=scaled, poison=[(1, 2)])[0])
scale = next(value for name, value in values.items() if name.startswith("loss_scaling"))
assert scale < 8.0 and all(np.isfinite(value).all() for value in values.values())
print(0)
"""
    )


@pytest.mark.parametrize("call", ["ncclGroupEnd 3 3", "ncclAllReduce 13 3", "ncclCommInitRankConfig 2 3"])
def test_a_call_that_fails_for_one(job, call):
    """It takes the state of those that have the sum or, if there is none, all repeat the step with another clique."""
    told, calls = job(
        """
values, result = run(3, lease=2.0, timeout=2.0)
assert result.counts["sent"] == result.counts["applied"] == 15
assert_near(values, run(3, place=pm.CPUPlace())[0])
print(log.about("NCCL"))
""",
        STAND_IN_FAILS=call,
    )
    doing = "connecting processes" if "Init" in call else "adding up"
    assert any(line.endswith(f"NCCL failed ({doing}): an internal error") for line in told)
    assert not [line for line in told if "from now on" in line]
    assert calls.count(JOINED) > 3 and "refused" not in "".join(calls)


def test_one_whose_sum_fails_takes_the_state_of_those_that_have_it(job):
    told, calls = job(
        """
add_up = GpuGradients.add_up
def failing(self, *args, **named):
    is_done, step = add_up(self, *args, **named), self._own.gradient_of.step
    if (trainer_of_thread(), step) != (1, 2):
        return is_done
    self._failed(pm.DeviceError("no sum"))
    return False
GpuGradients.add_up = failing
values, result = run(3, engine=engine)
assert result.counts == {"sent": 15, "applied": 15, "dropped": 0, "repeated": 0, "lost": 0}
assert [made for _, made in result.returned] == [[0, 1, 2, 3, 4]] * 3
assert_near(values, run(3, place=pm.CPUPlace())[0])
print((engine.counts["get_mean"], log.lines))
"""
    )
    assert told == (3 * 2, ["trainer 1: no sum"]), "one step is the hosts', until the others offer another clique"
    assert calls.count(JOINED) == 3 + 3


@pytest.mark.parametrize("call", [JOINED, "ncclGroupEnd"])
def test_where_nccl_always_fails_the_hosts_add_up(job, call):
    told, calls = job(
        """
values, result = run(2, engine=engine)
assert result.counts["sent"] == result.counts["applied"] == 10
assert engine.counts["get_gradient"] == engine.counts["get_mean"] == 2 * 5
assert_near(values, run(2, place=pm.CPUPlace())[0])
print(log.about("NCCL"))
""",
        STAND_IN_FAILS=f"{call} 0 3",
    )
    assert len([line for line in told if line.endswith("gradients go through the memory of the host from now on")]) == 2
    assert calls.count(JOINED) == 2 * 2, "each has tried twice"


def test_without_nccl_the_hosts_add_up(job, stand_in):
    """With the same bits as where it fails; those of three trainers depend on the order of sums."""
    code = """
values, result = run(3, engine=engine)
assert engine.counts["get_mean"] == 3 * 2 * 5
print((sorted((name, value.tobytes()) for name, value in values.items()), sorted(log.lines)))
"""
    (values, told), calls = job(code, PM_NCCL="")
    assert len(told) == 3 and all(line.endswith("NCCL 2.14 or a newer one is not there (paddle-mini doctor)") for line in told)
    assert calls == []
    assert job(code, PM_NCCL=stand_in("nccl", "-DBEFORE_2_14"))[0] == (values, told)
    assert job(code, STAND_IN_FAILS=f"{JOINED} 0 3")[0][0] == values
    assert job(code.replace("engine=engine", "engine=engine, nccl=False")) == ((values, []), [])


@pytest.mark.parametrize(
    "place, gpus", [("pm.CPUPlace() if trainer_of_thread() == 1 else pm.CUDAPlace(0)", 1), ("pm.CUDAPlace(0)", 2)]
)
def test_trainers_on_one_gpu_or_on_the_cpu_add_up_on_the_host(job, place, gpus):
    """A gradient on a GPU is not in the memory yet when its trainer arrives, so the others ask for it."""
    told, calls = job(
        f"""
def mixed(count):
    return gpu_jobs.steps(count, place={place})
result = pm.cluster.run(mixed, 2, None, "collective", engine, args=(5,))
(one, _), (other, _) = result.returned
assert_same_bits(one, other)
assert engine.counts["get_mean"] == 2 * 5 and engine.counts["get_gradient"] == {gpus} * 5
assert engine.counts["wake"] > 2 * 5, "who waits for a gradient from a GPU is answered at once"
assert_near(one, run(2, place=pm.CPUPlace())[0])
print(log.lines)
"""
    )
    assert told and len(told) == len(set(told)), "each that has a GPU says it once"
    assert all(line.endswith("NCCL needs a GPU for each trainer, and one version") for line in told)
    assert JOINED not in calls


DIES = """
died = []
def dies(number, step):
    if (number, step) == (1, 2) and not died:
        died.append(number)
        engine.kill(f"trainer {number}")
        raise Killed
PATCH
values, result = run(3, count=6, engine=engine, restarts=1, lease=0.5, timeout=0.5, happens=HAPPENS)
assert died == [1]
counter = next(value for name, value in values.items() if "beta1_pow" in name)
np.testing.assert_allclose(counter, 0.9 ** (6 + 1), rtol=1e-5)
made = result.returned[0][1]
assert made[:3] == [0, 1, 2] and made[-1] == 5, made
print((engine.counts["get_gradient"], log.about("NCCL")))
"""
PATCHED = """
add_up = GpuGradients.add_up
def dying(self, *args, **named):
    number, step = trainer_of_thread(), self._own.gradient_of.step
    if "WHEN" == "before":
        dies(number, step)
    found = add_up(self, *args, **named)
    dies(number, step)
    return found
GpuGradients.add_up = dying
"""


@pytest.mark.parametrize("when", ["between", "before", "after"])
def test_a_trainer_dies(job, when):
    """Between two steps, in a step before it has contributed, and after that; it restarts, and has a place in a new clique."""
    happens = "lambda trainer, step: dies(trainer.number, step)" if when == "between" else "lambda *_: None"
    patch = "" if when == "between" else PATCHED.replace("WHEN", when)
    (_, told), calls = job(DIES.replace("PATCH", patch).replace("HAPPENS", happens))
    assert calls.count(JOINED) >= 3 + 2, "the others have continued in another clique"
    assert not [line for line in told if "from now on" in line] and "refused" not in "".join(calls)
    assert any("NCCL failed (adding up)" in line for line in told) == (when == "before")


def test_a_trainer_that_comes_later_gets_a_place_in_the_next_clique(job):
    """A step in between is the hosts': the first member has a clique, and no other one to offer."""
    told, calls = job(
        """
gone_on = threading.Event()
def waits(trainer, step):
    if step == 1 and trainer.number == 1:
        trainer._membership.stop_heartbeat()
        assert gone_on.wait(20)
    if step == 3 and trainer.number == 0 and not gone_on.is_set():
        gone_on.set()
        while 1 not in engine._served["coordinator"].service._rendezvous._waiting:
            threading.Event().wait(0.01)
values, result = run(2, count=7, engine=engine, happens=waits, lease=0.5)
print((engine.counts["get_gradient"], log.about("NCCL")))
"""
    )
    assert told == (2, []), "the one step by way of the hosts that is of both"
    assert calls.count(JOINED) == 2 + 1 + 2
