# Trainers of a job in collective mode, as its coordinator sees them, and the steps that they make together.
import itertools


class Rank:
    """A trainer, as the coordinator sees it: its requests, and its state."""

    def __init__(self, job, number):
        self.job, self.step_id, self.asks = job, None, itertools.count()
        self.join(number)

    def join(self, number):
        self.who = self.job.trainer(f"{number} {id(self)} {next(self.asks)}", number)

    def request(self, name, **fields):
        """A new request; again() repeats it."""
        self.asked = name, {"serial": next(self.asks), **fields}
        return self.again()

    def again(self):
        name, fields = self.asked
        reply = self.job.request(name, **self.who, **fields)
        reply = {
            word: value
            for word, value in reply.items()
            if word not in ("ok", "life", "token", "version", "repeated", "numbers") and (word, value) not in NOTHING
        }
        if name == "join_rendezvous" and "step_id" in reply:
            self.step_id = reply["step_id"]
        if reply.get("answer") == "complete":
            self.step_id = [self.step_id[0], fields["step_id"][1] + 1]
        return reply

    def join_rendezvous(self, lost=None, layout="same"):
        return self.request("join_rendezvous", has=self.step_id, lost=lost, layout=layout, address=f"of {id(self)}")

    def store(self, key, step=None):
        if step is not None:
            self.step_id = [self.step_id[0], step]
        assert self.request("state_stored", step_id=self.step_id, key=key) == {}

    def arrive(self, has_gradient=True, gpu=None):
        return self.request("arrive", step_id=self.step_id, has_gradient=has_gradient, gpu=gpu)

    def fails(self):
        return self.request("arrive", step_id=self.step_id, has_gradient=False, fails=True)

    def leave(self, done=False):
        return self.request("leave_rendezvous", step_id=self.step_id, done=done)

    def await_end(self):
        return self.request("await_end", step_id=self.step_id)


WAIT = {"wait": True}
NOTHING = [("key", ""), ("holder", None), ("contributors", []), ("clique", None)]
"""Fields of replies that their receivers do not use."""


def complete(*pairs):
    """The reply to those that have arrived at a step, when it is made."""
    return {"answer": "complete", **({"contributors": list(pairs)} if pairs else {})}


def begun(job, count=2, step=0):
    """Ranks that have joined, before their first step."""
    ranks = [Rank(job, number) for number in range(count)]
    for number, rank in enumerate(ranks):
        reply = rank.join_rendezvous()
        if number == 0:
            while "wait" in reply:  # so that the others report that they have no gradients either
                for other in ranks[1:]:
                    assert other.join_rendezvous() == WAIT
                reply = rank.again()
            assert reply["answer"] == "first"
            rank.store("beginning", step)
        else:
            assert (reply["answer"], reply["key"], reply["step_id"]) == ("load", "beginning", ranks[0].step_id)
    return ranks


def step(*ranks):
    """All arrive at a step; returns those whose gradients form it."""
    replies = [rank.arrive() for rank in ranks[:-1]]
    assert replies == [WAIT] * len(replies)
    replies = [ranks[-1].arrive(), *(rank.again() for rank in ranks[:-1])]
    assert all(reply == replies[0] for reply in replies)
    return replies[0]["contributors"]
