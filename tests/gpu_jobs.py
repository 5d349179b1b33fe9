# Jobs in collective mode whose trainers have GPUs, each its own: as threads, or as processes with one GPU each.

import logging
import threading
from functools import partial

import numpy as np

import paddle_mini as pm
from cluster_jobs import batch, classifier, everything


def trainer_of_thread():
    """The number of the trainer that runs in this thread."""
    return int(threading.current_thread().name.split()[1])


def joined(minimize, place):
    """(trainer, loss) at the beginning of a job."""
    _, _, loss = classifier(minimize)
    exe = pm.Executor(place)
    pm.seed(3)
    exe.run(pm.default_startup_program())
    return pm.cluster.join(exe=exe), loss


def adam(loss):
    pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform()).minimize(loss)


def steps(count, happens=lambda trainer, step: None, place=None, minimize=adam, poison=()):
    """Trains until this step. happens(trainer, step): before each; poison: pairs of trainer and step with a NaN. Returns all
    values, and the steps that this trainer has made."""
    trainer, loss = joined(minimize, place or pm.CUDAPlace(trainer_of_thread()))
    made = []
    while trainer._exchange.step_id.step < count:
        step = trainer._exchange.step_id.step
        happens(trainer, step)
        feed = batch(24 * step + 8 * trainer.number, 24 * step + 8 * trainer.number + 8)
        if (trainer.number, step) in poison:
            feed["x"][0, 0] = np.nan
        try:
            trainer.run(feed, [loss])
        except pm.cluster.NotFinite as error:
            made.append(str(error))
        made.append(step)
    return everything(), made


def run(trainers=2, count=5, engine="threads", **options):
    """The values that each trainer has at the end, which are the same bits for all; and the result of the job."""
    work = {name: options.pop(name) for name in ("happens", "place", "minimize", "poison") if name in options}
    result = pm.cluster.run(partial(steps, count, **work), trainers, None, "collective", engine, **options)
    for values, _ in result.returned[1:]:
        for name, value in values.items():
            assert value.tobytes() == result.returned[0][0][name].tobytes(), name
    return result.returned[0][0], result


def assert_near(values, others):
    """As sums in another order are."""
    assert values.keys() == others.keys()
    for name, value in values.items():
        np.testing.assert_allclose(value, others[name], rtol=1e-4, atol=1e-6, err_msg=name)


class Log(logging.Handler):
    """The records of jobs while it exists."""

    def __init__(self):
        super().__init__()
        self.lines = []
        logging.getLogger("paddle_mini.cluster").addHandler(self)
        logging.getLogger("paddle_mini.cluster").setLevel(logging.INFO)

    def emit(self, record):
        self.lines.append(record.getMessage())

    def about(self, text):
        return [line for line in self.lines if text in line]
