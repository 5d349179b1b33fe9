"""Jobs in one process at the same time: each has its own programs, scopes, seeds, trainers and models."""

import threading

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import alone, batch, begun, classifier, values
from small_model import assert_same_bits

STEPS = 12


def saving(directory, seed, meet):
    """Trains from its own seed, in step with the other job, and saves; returns the parameters."""
    x, logits, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
    dropped = pm.layers.mean(pm.layers.dropout(x, 0.5))
    trainer = begun(seed)
    for step in range(STEPS):
        meet()
        trainer.run(batch(8 * step + seed, 8 * step + seed + 8), [loss, dropped])
    pm.cluster.save_model(directory, [x], [logits])
    trainer.pull()
    return values()


def in_threads(functions):
    """The result of each function; all are called at the same time."""
    returned = {}

    def call(function):
        returned[function] = function()

    threads = [threading.Thread(target=call, args=[function]) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [returned[function] for function in functions]


@pytest.mark.parametrize("mode", ["sync", "delta"])
def test_jobs_do_not_mix(mode, tmp_path):
    together = threading.Barrier(2, timeout=30).wait
    before = pm.default_main_program().to_bytes(), list(pm.global_scope().names())

    def job(seed):
        arguments = [tmp_path / f"models {seed}", seed, together]
        return lambda: pm.cluster.run(saving, 1, 2, mode, "threads", tmp_path / f"job {seed}", arguments)

    results = in_threads([job(3), job(4)])
    for seed, result in zip((3, 4), results):
        expected = alone(saving, tmp_path / f"alone {seed}", seed, int)
        if mode == "sync":
            assert_same_bits(result.returned[0], expected)
        for name, value in expected.items():
            np.testing.assert_allclose(result.returned[0][name], value, rtol=1e-4, atol=1e-5)
        files = [(tmp_path / f"{word} {seed}" / "0" / "model.pdmodel").read_bytes() for word in ("models", "alone")]
        assert files[0] == files[1]
    assert (pm.default_main_program().to_bytes(), list(pm.global_scope().names())) == before


def test_a_job_that_fails_leaves_the_other_one(tmp_path):
    def fails():
        raise ValueError("of this job")

    def failing():
        with pytest.raises(pm.cluster.TrainerFailed, match="of this job"):
            pm.cluster.run(fails, 2, 2)

    _, result = in_threads([failing, lambda: pm.cluster.run(saving, 1, 1, "sync", args=[tmp_path, 3, int])])
    assert_same_bits(result.returned[0], alone(saving, tmp_path, 3, int))
