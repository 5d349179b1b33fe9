# Jobs of up to 10,000 trainers by the model in cluster_sim.py: the tables and the figure of docs/scaling.md.
"""Writes results/cluster_scaling.md and docs/scaling.png, from results/cluster_costs.json.

python benchmarks/cluster_scaling.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from cluster_costs import MERGED, RESULT
from cluster_inputs import Cluster, Costs, Model
from cluster_sim import Job
from measuring import HERE

FACTS: dict[str, Any] = json.loads(RESULT.read_text())
RAY = Costs(**FACTS["ray"])
COMPUTE = min(one["least"] for one in FACTS["measured"].values() if "least" in one)
WIDE = Model("wide & deep", compute=COMPUTE, dense=1.97e6, rows=6634, row_bytes=68, table=68e6)
"""The measured workload: batch 256."""
LARGE = Model("wide & deep, large", compute=0.4, dense=8e6, rows=100_000, row_bytes=68, table=1e11)
"""A batch of 4,096, and tables of 100 GB."""
DENSE = Model("dense, 100 MB", compute=1.0, dense=1.02e8)
"""Sizes close to those of ResNet-50."""
MODELS = (WIDE, LARGE, DENSE)
DAY = 86400.0


class Outcome(NamedTuple):
    """efficiency: the fraction of time in which trainers compute. limit: the resource other than trainers' cores with
    the highest use, if that use is above half of the time."""

    efficiency: float
    limit: str
    job: Job


def simulated(model: Model, cluster: Cluster, steps: float) -> Outcome:
    """Simulates about this many steps of each trainer, after half as many steps of warm-up."""
    at_trainer = cluster.servers * RAY.client_message / cluster.cores
    at_server = cluster.trainers * RAY.server_message / cluster.local_steps
    moved = (model.dense + model.rows * model.row_bytes) * cluster.trainers / cluster.servers
    about = model.compute + at_trainer + at_server + 2 * moved * (RAY.server_byte + 1 / cluster.bandwidth)
    seconds = steps * about
    job = Job(model, cluster, RAY).run(seconds, warm=seconds / 2)
    efficiency = job.steps * model.compute / (cluster.trainers * seconds)
    busy = {name: share for name, share in job.busy().items() if name != "trainers' cores"}
    name, share = max(busy.items(), key=lambda pair: pair[1])
    return Outcome(efficiency, f"{name}, {share:.0%} busy" if share > 0.5 else "–", job)


def table(headings: list[str], lines: Iterator[list[Any]]) -> str:
    written = [headings, ["---"] * len(headings), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in written)


def validation() -> Iterator[list[Any]]:
    """CPU time, because the machine also ran other programs."""
    for name, measured in FACTS["measured"].items():
        job_name, _, ahead = name.partition(", ")
        engine, parts = job_name.split()
        trainers, servers = map(int, parts.split("+"))
        cluster = Cluster(trainers, servers, shared=True, cores=FACTS["cores"], merged=MERGED if ahead else 0)
        model = replace(WIDE, compute=measured["compute"])  # other processes take a part of the cache
        job = Job(model, cluster, Costs(**FACTS["ray, one machine" if engine == "ray" else engine])).run(60.0, warm=1.0)
        work = job.trainers[0].cores.busy / job.steps
        yield [
            name,
            f"{1e3 * measured['work']:.1f} ms",
            f"{1e3 * work:.1f} ms",
            f"{work / measured['work'] - 1:+.0%}",
            f"{measured['steps']:.0f}",
            f"{job.steps / 60.0:.0f}",
        ]


def growth() -> Iterator[list[Any]]:
    for model in MODELS:
        for trainers in (10, 100, 1000, 10_000):
            servers = max(1, trainers // 10)
            one = simulated(model, Cluster(trainers, servers), steps=2.0 if trainers > 1000 else 5.0)
            late = sorted(one.job.staleness)
            stale = f"{sum(late) / len(late):.0f}, {late[int(0.99 * len(late))]}" if late else "–"
            yield [
                model.name,
                f"{trainers:,}",
                f"{servers:,}",
                f"{one.job.steps / one.job.seconds:,.0f}",
                f"{one.efficiency:.0%}",
                one.limit,
                stale,
            ]


def ahead() -> Iterator[list[Any]]:
    """As many servers as trainers. About three groups of each trainer, after two of warm-up."""
    for count in (100, 1000):
        for merged in (0, 1, 2, 4, 8):
            cluster = Cluster(count, count, merged=merged)
            batches = max(1, merged)
            group = max(batches * WIDE.compute, RAY.client_messages(count), count * RAY.at_server(True))
            job = Job(WIDE, cluster, RAY).run(3 * group, warm=2 * group)
            efficiency = job.steps * WIDE.compute / (count * job.seconds)
            name, share = max(((name, one) for name, one in job.busy().items() if "cores" not in name), key=lambda pair: pair[1])
            how = f"steps(merged={merged})" if merged else "run()"
            yield [f"{count:,}", how, f"{job.steps / job.seconds:,.0f}", f"{efficiency:.0%}", f"{name}, {share:.0%} busy"]


def modes() -> Iterator[list[Any]]:
    for trainers in (10, 100, 1000):
        for mode, local_steps in (("async", 1), ("sync", 1), ("delta", 10), ("delta", 100)):
            cluster = Cluster(trainers, max(1, trainers // 10), mode, local_steps)
            one = simulated(replace(DENSE, spread=0.3), cluster, steps=max(6, 2.2 * local_steps))
            yield [
                f"{trainers:,}",
                mode + (f", {local_steps} steps" if mode == "delta" else ""),
                f"{one.efficiency:.0%}",
                one.limit,
            ]


def with_servers(servers: int, seconds: float, model: Model = LARGE, **facts: Any) -> Outcome:
    """For one trainer, because the cost of checkpoints and failures does not depend on the number of trainers."""
    cluster = Cluster(1, servers, **facts)
    job = Job(model, cluster, RAY).run(seconds)
    plain = Job(model, replace(cluster, checkpoint_seconds=None, mean_life=None), RAY).run(100.0)
    return Outcome(job.steps / seconds / (plain.steps / 100.0), "", job)


def disks() -> Iterator[list[Any]]:
    for servers in (8, 64, 256):
        for together in (True, False):
            one = with_servers(servers, 3600.0, checkpoint_seconds=600.0, together=together)
            seconds = one.job.stored * (RAY.checkpoint_byte + 1 / one.job.cluster.disk)
            yield [servers, f"{seconds:.1f} s", "together" if together else "each by itself", f"{one.efficiency:.0%}"]


def failures() -> Iterator[list[Any]]:
    """Compared with a job that writes checkpoints at the same times and has no failures. Steps of 4 s, of which there are
    few enough to simulate."""
    model = replace(LARGE, compute=4.0)
    for servers in (8, 64, 512):
        facts = {"checkpoint_seconds": 600.0, "together": True, "heartbeats": False}
        one = with_servers(servers, 36_000.0, model, mean_life=7 * DAY, **facts)
        plain = with_servers(servers, 36_000.0, model, **facts)
        applied = sum(server.version for server in one.job.servers) / len(one.job.servers)
        yield [
            servers,
            f"{7 * 24 / servers:,.1f} h",
            f"{1 - one.efficiency / plain.efficiency:.1%}",
            f"{one.job.lost / applied:.2%}",
        ]


def saving() -> Iterator[list[Any]]:
    for model in MODELS:
        cluster = Cluster(1, 32)
        whole = model.dense + model.table
        link, server = whole / cluster.bandwidth, whole / cluster.servers * (RAY.server_byte + RAY.pull_byte)
        yield [model.name, f"{whole / 1e9:.2g} GB", f"{link:.2g} s", f"{server:.2g} s", f"{whole / cluster.disk:.2g} s"]


def coordinator() -> Iterator[list[Any]]:
    for count, seconds in FACTS["coordinator"].items():
        trainers = int(count)
        heartbeats = trainers * seconds["heartbeat"] / Cluster(trainers, trainers // 10).heartbeat_seconds
        yield [
            f"{trainers:,}",
            f"{heartbeats:.2%}",
            f"{1e3 * seconds['join']:.3g} ms",
            f"{seconds['all_join']:.3g} s",
            f"{trainers * seconds['ask_save']:.3g} s",
            f"{1 / seconds['task']:,.0f}",
        ]


def figure() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawn, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    counts = (1, 3, 10, 30, 100, 300, 1000, 3000)
    servers = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    for model in MODELS:
        left.plot(counts, [simulated(model, Cluster(n, max(1, n // 10)), 3.0).efficiency for n in counts], ".-", label=model.name)
        right.plot(servers, [simulated(model, Cluster(100, m), 4.0).efficiency for m in servers], ".-")
    for axes, words in ((left, "trainers, a tenth as many servers"), (right, "servers of 100 trainers")):
        axes.set(xscale="log", xlabel=words, ylim=(0, 1.02))
        axes.grid(alpha=0.3)
    left.set_ylabel("time in which trainers compute")
    left.legend(fontsize=8)
    drawn.tight_layout()
    drawn.savefig(HERE.parent / "docs" / "scaling.png", dpi=80)


TABLES = {
    "The model beside what was measured": (
        ["job", "work a step, measured", "model", "error", "steps/s, measured", "model, alone on the machine"],
        validation,
    ),
    "Trainers, with a tenth as many servers, async": (
        ["model", "trainers", "servers", "steps/s", "efficiency", "limit", "staleness: mean, 99 %"],
        growth,
    ),
    "Wide & deep, as many servers as trainers, async": (["trainers", "they call", "steps/s", "efficiency", "busiest"], ahead),
    "Modes, dense model": (["trainers", "mode", "efficiency", "limit"], modes),
    "Checkpoints of 200 GB every 600 s": (["servers", "one writes for", "they write", "steps beside none"], disks),
    "10 hours with servers that each fail every 7 days, steps of 4 s": (
        ["servers", "one of them fails every", "time lost", "pushes lost"],
        failures,
    ),
    "Saving a model, 32 servers": (["model", "bytes", "trainer's link", "each server", "disk"], saving),
    "The coordinator": (["trainers", "busy with heartbeats", "a join", "all joins", "all ask to save", "tasks/s"], coordinator),
}


def main() -> None:
    says = f"Discussed in [docs/scaling.md](../../docs/scaling.md). Costs of: {FACTS['cpu']}, {FACTS['cores']} cores."
    parts = [f"# Jobs of many trainers, by the model\n\n{says}"]
    for title, (headings, lines) in TABLES.items():
        parts.append(f"## {title}\n\n{table(headings, lines())}")
        print(parts[-1], flush=True)
    (HERE / "results" / "cluster_scaling.md").write_text("\n\n".join(parts) + "\n")
    figure()


if __name__ == "__main__":
    main()
