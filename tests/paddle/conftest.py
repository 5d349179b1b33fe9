"""The reference runtime of these tests: PaddlePaddle 2.6.2, in the environment that `make test-paddle` and `make bench`
share."""

import contextlib
import importlib.util
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def environments():
    spec = importlib.util.spec_from_file_location("environments", ROOT / "benchmarks/environments.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PaddlePaddle:
    """Sends the worker a request; files of a request are in the folder that it names. A worker that has ended is started
    again: one crash fails one test."""

    def __init__(self, python, log):
        self.python, self.log = python, log
        self.start()

    def start(self):
        with self.log.open("w") as errors:
            self.process = subprocess.Popen(
                [str(self.python), str(pathlib.Path(__file__).parent / "worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "GLOG_minloglevel": "2"},
            )

    def ask(self, job, folder, **arguments):
        """The test fails if PaddlePaddle does."""
        error = self.error_of(job, folder, **arguments)
        if error:
            pytest.fail(f"PaddlePaddle: {error}\n{self.log.read_text()[-2000:]}", pytrace=False)

    def error_of(self, job, folder, **arguments):
        """PaddlePaddle's error message; None if there is none."""
        request = {"job": job, "folder": folder, **arguments}
        if self.process.poll() is not None:
            self.close()
            self.start()
        try:
            self.process.stdin.write(json.dumps(request, default=str) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline() or '{"error": "it ended"}')
        except BrokenPipeError:
            answer = {"error": "it ended"}
        return answer.get("error")

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture(scope="session")
def new_paddle(tmp_path_factory):
    """Starts processes of PaddlePaddle, which end with the tests at the latest."""
    environment, workers = environments(), []
    if not environment.is_made("paddle"):
        pytest.skip("PaddlePaddle is not installed; make test-paddle does it")

    def begin():
        workers.append(PaddlePaddle(environment.python_of("paddle"), tmp_path_factory.mktemp("paddle") / "log"))
        return workers[-1]

    yield begin
    for worker in workers:
        worker.close()


@pytest.fixture(scope="session")
def paddle(new_paddle):
    return new_paddle()


@pytest.fixture(scope="session")
def run_all(new_paddle):
    """Runs many programs in a folder; see worker.operators. One that crashes PaddlePaddle is skipped in the next
    attempt. Returns by case the values that PaddlePaddle fetched, or the text of its error."""

    def run(folder, cases):
        left, worker = dict(cases), new_paddle()
        while left:
            error = worker.error_of("operators", folder, cases=left)
            left = {
                case: names
                for case, names in left.items()
                if not any((folder / f"{case}{end}").exists() for end in (".out.npz", ".error"))
            }
            assert error or not left
            if left:
                (folder / f"{next(iter(left))}.error").write_text(f"PaddlePaddle ends: {worker.log.read_text()[-600:]}")
                left.pop(next(iter(left)))
                worker = new_paddle()
        return {case: read_result(folder, case) for case in cases}

    return run


def read_result(folder, case):
    if (folder / f"{case}.error").exists():
        return (folder / f"{case}.error").read_text()
    with np.load(folder / f"{case}.out.npz") as values:
        return {name: values[name] for name in values.files}


@pytest.fixture
def train_in_both(paddle, tmp_path):
    """Runs `main` here and its bytes in PaddlePaddle from the values that `startup` gives here.

    feeds: one dict of arrays per step, or one for all steps. fetches: variables or names; all of them in all
    steps must agree to `tolerance`, relative to the largest element, and so must every persistable variable
    at the end, to `final_tolerance` if the optimizer amplifies rounding; except those whose name contains one
    of `rounding`: their gradient is only rounding. Returns the first fetch of each step."""
    import paddle_mini as pm

    def run(main, startup, feeds, fetches, steps=5, tolerance=1e-4, final_tolerance=None, rounding=()):
        exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
        pm.seed(1)
        exe.run(startup, scope=scope)
        feeds = feeds if isinstance(feeds, list) else [feeds] * steps
        names = [getattr(fetch, "name", fetch) for fetch in fetches]
        (tmp_path / "main.pb").write_bytes(main.to_bytes())
        np.savez(tmp_path / "init.npz", **pm.io.get_state(main, scope))
        np.savez(
            tmp_path / "feeds.npz",
            **{
                key: value
                for step in range(steps)
                for name, fed in feeds[step].items()
                for key, value in as_arrays(f"{step}/{name}", fed)
            },
        )
        paddle.ask("train", tmp_path, fetch=names, steps=steps)
        losses = []
        with np.load(tmp_path / "results.npz") as theirs:
            for step in range(steps):
                ours = exe.run(main, feeds[step], names, scope)
                for name, value in zip(names, ours):
                    assert_near(value, theirs[f"{step}/{name}"], tolerance, f"{name} in step {step}")
                losses.append(ours[0])
            for name, value in pm.io.get_state(main, scope).items():
                if not any(part in name for part in rounding):
                    assert_near(value, theirs[f"final/{name}"], final_tolerance or tolerance, f"{name} at the end")
        assert all(np.isfinite(loss).all() for loss in losses)
        return losses

    return run


@pytest.fixture(scope="session", name="as_arrays")
def as_arrays_fixture():
    return as_arrays


def as_arrays(key, fed):
    """A feed as arrays, with the offsets of sequences as further arrays."""
    import paddle_mini as pm

    if not isinstance(fed, pm.LoDTensor):
        return [(key, fed)]
    return [(key, fed.array), *((f"{key}@LOD{level}", np.array(offsets)) for level, offsets in enumerate(fed.lod))]


def assert_near(found, expected, tolerance, what):
    assert found.dtype == expected.dtype and found.size == expected.size, what
    largest = np.abs(expected).max(initial=0).astype("float64")
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=max(tolerance * largest, 1e-7), err_msg=what)
