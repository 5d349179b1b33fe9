"""Collective mode: whatever trainers are there, a job continues from the newest of their states and of the checkpoints."""

import threading

import paddle_mini as pm
from chaotic_engine import ChaoticThreads
from cluster_jobs import batch, begun, classifier, everything
from coordinators import Asked
from paddle_mini.cluster.protocol import GetJobStatus
from rendezvous_ranks import begun as begun_ranks
from rendezvous_ranks import step
from small_model import assert_same_bits

ALONE, END = 8, 12
"""Steps of the job when the trainer dies that has made most of them alone, and at its end."""


def latest(folder):
    return pm.io.CheckpointManager(folder / "trainers").latest()


def returns_alone(folder, happens):
    """Trainer 0 makes steps alone while trainer 1 is silent, and dies; trainer 1 returns with the state of step 2, and makes more
    steps than there are checkpoints before a new trainer 0 comes. Returns the steps of the job that each trainer has seen."""
    engine = ChaoticThreads(0, lost=0)  # whose leases do not end while the machine has no time for the process
    silent, died, advanced = threading.Event(), threading.Event(), threading.Event()

    def trains():
        _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
        is_first = threading.current_thread().name == "trainer 0"
        if is_first and died.is_set():
            assert advanced.wait(20)
        trainer, seen = begun(), []
        while trainer._exchange.step_id.step < END:
            made = trainer._exchange.step_id.step
            seen.append(made)
            if made == 2 and not is_first and not died.is_set():
                trainer._membership.stop_heartbeat()
                silent.set()
                assert died.wait(20)
            if made == 3 and is_first:
                assert silent.wait(20)
            if made == ALONE and is_first and not died.is_set():
                happens(latest(folder))
                died.set()
                engine.kill("trainer 0")
                trainer._client.request("coordinator", GetJobStatus())
            if len([one for one in seen if one >= 2]) == 4:
                advanced.set()
            trainer.run(batch(8 * made, 8 * made + 8), [loss])
        return everything(), seen

    return pm.cluster.run(trains, 2, None, "collective", engine, folder, lease=0.5, checkpoint_seconds=1e-6).returned


def test_one_that_returns_with_an_older_state_takes_the_newest_checkpoint(tmp_path):
    """Otherwise it would continue from step 2, and its checkpoints would replace the newer ones of the other, which died."""
    written = []
    (one, _), (other, seen) = returns_alone(tmp_path, written.append)
    assert written == [ALONE - 1], "the state with which its last step began"
    assert seen[:3] == [0, 1, 2] and seen[3:] == list(range(ALONE, END)), "its step 2 was made with the newer state"
    assert_same_bits(other, one)
    assert latest(tmp_path) == END


def test_a_checkpoint_that_is_damaged_leaves_the_state_of_the_one_that_returns(tmp_path):
    def damage(_):
        for path in (tmp_path / "trainers").glob("checkpoint-*/*"):
            path.write_bytes(b"")

    (one, _), (other, seen) = returns_alone(tmp_path, damage)
    assert seen == list(range(END))
    assert_same_bits(other, one)
    assert latest(tmp_path) == END


def test_a_coordinator_begins_with_a_checkpoint_of_a_later_step_only(tmp_path):
    job = Asked(tmp_path)
    ranks = begun_ranks(job)
    step(*ranks)
    for saved, answer in ((1, "continue"), (2, "first")):
        (tmp_path / "trainers" / f"checkpoint-00000{saved}-step-{saved}").mkdir(parents=True)
        job.restart()
        for rank in ranks:
            assert rank.arrive() == {"answer": "rejoin"}
            rank.join_rendezvous()
        assert ranks[0].again()["answer"] == answer and ranks[0].step_id[1] == (1 if answer == "continue" else 0)
    ranks[0].store("restored", 2)
    reply = ranks[1].again()
    assert (reply["answer"], reply["key"], ranks[1].step_id) == ("load", "restored", ranks[0].step_id)
