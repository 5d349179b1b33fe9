# Jobs: run() starts a job, and join() connects the function that it runs to the job as a trainer.
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from .._core import Scope
from ..callsite import raised_at, warn
from ..errors import shown
from ..executor import Executor
from ..guards import default_main_program, program_guard
from ..io.parameters import Path
from ..program import Program
from ..scope import global_scope, scope_guard
from ..termination import sigterm_heeded
from ..thread_state import own_state
from .client import Call, Client, required
from .convert import write_program
from .coordinator.coordinator import Coordinator
from .engine import Engine, Link, Service, TrainerLink
from .errors import Malformed, TrainerFailed, storage_errors
from .job_directory import job_directory, require_kind
from .job_settings import COLLECTIVE, JobSettings
from .last_checkpoint import write_after_failure, write_last_checkpoint, write_newest_state
from .object_store import ObjectStore, is_url
from .process_log import ProcessLogger, log_context
from .protocol import GetJobStatus, GetServerStatus
from .run_arguments import require_arguments, require_folder, require_types
from .servers.server_process import ServerProcess
from .thread_engine import ThreadEngine
from .trainer_call import call
from .trainers.collective import CollectiveTrainer
from .trainers.membership import pass_by
from .trainers.trainer import JobTrainer, Trainer, Vars
from .view.prometheus import PrometheusEndpoint
from .view.tensorboard import TensorBoard
from .view.watch import OnStatus, watching

ENGINES = ("threads", "ray")
_log = ProcessLogger(__name__)


class JobResult(NamedTuple):
    """returned: the result of each trainer's function. counts: pushes, each at each server: "sent", of which "applied"
    and "dropped"; "repeated", which were received again and not applied again; "lost", which were applied and then lost
    when a server restarted from an older checkpoint, without those of restarted trainers. In collective mode gradients of
    the last lives of all trainers: applied are those in a mean. servers: the final status of each server.

    Example:
        >>> pm.cluster.JobResult([0.5, 0.4], {"sent": 200, "applied": 200}, []).counts["sent"]
        200
    """

    returned: list[Any]
    counts: dict[str, int]
    servers: list[dict[str, Any]]


class _TrainerContext:
    """The trainer that a thread or process runs, and its Trainer after join()."""

    def __init__(self, number: int, link: TrainerLink, settings: JobSettings, folder: str):
        self.number, self.link, self.settings, self.folder = number, link, settings, folder
        self.trainer: JobTrainer | CollectiveTrainer | None = None

    def join(self, main: Program, exe: Executor, scope: Scope) -> JobTrainer | CollectiveTrainer:
        if self.settings.is_collective:
            return CollectiveTrainer(self.number, self.link, self.settings, self.folder, main, exe, scope)
        return JobTrainer(self.number, self.link, self.settings, main, exe, scope)


class _ThreadContext(threading.local):
    job: _TrainerContext | None = None
    alone: Trainer | None = None


_thread = _ThreadContext()


def run(
    train_fn: Callable[..., Any],
    trainers: int = 1,
    servers: int | None = None,
    mode: str = "async",
    engine: str | Engine = "threads",
    directory: Path | None = None,
    args: Sequence[Any] = (),
    job: str = "job",
    restarts: int = 3,
    address: str | None = None,
    on_status: OnStatus | None = None,
    status_seconds: float = 1.0,
    tensorboard: Path | None = None,
    prometheus: int | None = None,
    **settings: Any,
) -> JobResult:
    """Runs train_fn(*args) in several trainers, with parameter servers; returns when all trainers have returned.

    train_fn trains as on one machine, except that it calls join() after its startup program has run, and run() of the
    Trainer that join() returns. Each trainer has its own default programs, global scope and seeds.
    mode: "async", each gradient is applied when it arrives; "sync", the mean of all trainers' gradients is, step by
    step; "delta", trainers optimize, and after local_steps steps servers add 1 / trainers of the difference; "elastic",
    servers and trainers move towards each other by alpha of it (None: 0.9 / trainers); "collective", trainers optimize
    with the mean of all trainers' gradients, which they compute together, without servers. servers: None: 1.
    stale_limit: in async mode a gradient is dropped if its parameters are more than stale_limit × trainers updates old.
    engine: "threads", all in this process; "ray", each trainer and service a Ray actor, on the cluster at `address`
    (None: that of RAY_ADDRESS, else a local one for this job); or an Engine.
    directory: for the coordinator's file and, every checkpoint_seconds, 600, and at the end, a checkpoint of each
    server, or, in collective mode, of one trainer. A job with the same name resumes from it. None: a temporary one.
    restarts: how often a trainer that dies is restarted. lease: seconds without a message after which a trainer is
    lost. timeout: seconds in which a server must be back. wait_timeout: seconds for which a trainer waits for the
    others. task_timeout: seconds for a task of Trainer.batches. nccl: whether GPUs add up gradients by NCCL in collective
    mode, which encrypts nothing. These are `settings`, given by name.
    on_status(snapshot) is called with a Snapshot of the job every status_seconds, by another thread, and at the end.
    tensorboard: a directory to which the same figures are written as scalars (pip install 'paddle_mini[cluster]').
    prometheus: a port of 127.0.0.1 on which they are served for Prometheus, at /metrics (the same extra).

    TrainerFailed, from the exception of the function, when it raises in a trainer; StorageError for a directory that
    can't be used, or in which another job runs. A trainer that fails, Ctrl-C and SIGTERM stop a job, with checkpoints as at
    its end.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.SGD(0.1).minimize(w)
        >>> pm.Executor().run(pm.default_startup_program())
        []
        >>> pm.cluster.join().run(fetch_list=[w])[0]
        array([0.9], dtype=float32)
    """
    if _thread.job is not None:
        raise Malformed(
            f"trainer {_thread.job.number} of a job can't run() another job: a script that "
            "calls run() is started by itself, one that only calls join() by `paddle-mini launch`"
        )
    if mode == COLLECTIVE:
        if servers:
            warn(f"collective mode has no servers: servers={servers!r} is ignored", DeprecationWarning)
        servers = 0
    servers = 1 if servers is None else servers
    require_arguments(run, train_fn, args, restarts, on_status, settings)
    facts = JobSettings(job, trainers, servers, mode, **settings)
    if directory is not None and is_url(directory):
        if facts.is_collective:
            raise Malformed(f"'{os.fspath(directory)}' is an object store, collective mode needs a directory of a file system")
        with storage_errors(f"can't use '{os.fspath(directory)}'"):
            ObjectStore(os.fspath(directory)).names()  # before any process is started
    keeps = directory is not None and not facts.is_collective  # in collective mode trainers write the checkpoints
    with sigterm_heeded(), job_directory(directory) as folder, ExitStack() as ends:
        if not is_url(folder):
            require_kind(folder, facts.is_collective)
        seen_by: list[OnStatus] = [] if on_status is None else [on_status]
        seen_by += [] if tensorboard is None else [ends.enter_context(TensorBoard(tensorboard))]
        seen_by += [] if prometheus is None else [ends.enter_context(PrometheusEndpoint(prometheus))]
        begun = _engine(engine, address)
        ends.callback(begun.stop)
        begun.serve(
            {
                "coordinator": partial(_coordinator, facts, folder),
                **{f"server {index}": partial(_server, index, facts, folder) for index in range(servers)},
            }
        )
        client = Client(begun.link(), **facts.client_options())
        ends.enter_context(watching(client, seen_by, status_seconds))
        tasks = {} if directory is None else client.request("coordinator", GetJobStatus()).tasks
        was_over = bool(tasks) and tasks["done"] > 0 and not tasks["todo"] and not tasks["pending"]

        def stopping() -> None:
            if directory is not None and facts.is_collective:
                write_newest_state(begun.link(), facts)

        try:
            ended = begun.run_trainers(partial(_train, train_fn, tuple(args), facts, folder), trainers, restarts, stopping)
        except KeyboardInterrupt:
            if keeps:
                write_last_checkpoint(begun.link(), facts)
            raise
        except TrainerFailed:
            if keeps:
                write_after_failure(begun.link(), facts)
            raise
        if keeps:
            write_last_checkpoint(begun.link(), facts)
        if was_over and client.request("coordinator", GetJobStatus()).tasks == tasks:
            warn(
                f"trainers got no data: all of it had been read in a run before, of which {shown(folder)} has the state. More "
                "passes continue the job; another directory begins one"
            )
        return _result(client, facts, ended)


def join(main_program: Program | None = None, exe: Executor | None = None, scope: Scope | None = None) -> Trainer:
    """The Trainer of the function that run() runs; outside of a job one that trains alone, so that the same code runs
    on one machine.

    main_program: on which minimize() was called; None: the default one. scope: in which its startup program has run;
    None: the global one. Returns when all parameters are on their servers, with the values of one of the trainers; in
    collective mode, when this trainer has the common state. ProgramError for a program that servers don't support;
    Malformed for a second call, as a trainer trains one program.
    exe: runs the program; None: a new Executor.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.SGD(0.1).minimize(w)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> trainer = pm.cluster.join(exe=exe)
        >>> trainer.run(fetch_list=[w])[0]
        array([0.9], dtype=float32)
    """
    main = default_main_program() if main_program is None else main_program
    own_exe, own_scope = Executor() if exe is None else exe, global_scope() if scope is None else scope
    require_types(main_program=(main, Program), exe=(own_exe, Executor), scope=(own_scope, Scope))
    context = _thread.job
    if context is None:
        _thread.alone = Trainer(main, own_exe, own_scope)
        return _thread.alone
    if context.trainer is not None:
        raise Malformed("join() was called before: a trainer trains one program")
    context.trainer = context.join(main, own_exe, own_scope)
    context.trainer.begin()
    if context.number == 0 and not context.settings.is_collective:
        write_program(context.folder, main)  # now, as a program that does not fit the parameters of the job is refused
    return context.trainer


def save_model(directory: Path, feed_vars: Vars, fetch_vars: Vars, seconds: float = 60.0) -> str | None:
    """Saves the model that computes fetch_vars from feed_vars as DIRECTORY/<number>/model.pdmodel and .pdiparams, with
    averages in place of averaged parameters. Returns its folder, or None if another trainer was elected.

    In a job all trainers call this, and the elected one saves; no other is elected for so many seconds. The parameters
    are the servers' current ones; in async modes they may come from different updates. In collective mode they are
    those of the trainer that saves, as batch normalization's statistics always are. Outside of a job the only trainer
    saves. Call it after join(). The trainer stays elected while it saves. StaleToken: the coordinator received nothing
    from it for `seconds`, and another trainer was elected since, whose model is the one to use.
    directory: is made.
    Example:
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 2]), 1)
        >>> ops, gradients = pm.optimizer.SGD(0.1).minimize(pm.layers.mean(y))
        >>> pm.Executor().run(pm.default_startup_program())
        []
        >>> trainer = pm.cluster.join()
        >>> folder = pm.cluster.save_model("models", ["x"], [y])
    """
    require_folder(directory)
    trainer = _thread.job.trainer if _thread.job is not None else _thread.alone
    if trainer is None:
        raise Malformed("save_model() saves what a Trainer trains: call join() first")
    return trainer.save_model(directory, feed_vars, fetch_vars, seconds)


def _train(
    train_fn: Callable[..., Any], args: tuple[Any, ...], settings: JobSettings, folder: str, number: int, link: TrainerLink
) -> Any:
    """Runs one incarnation of a trainer; returns the result of its function, and its counts."""
    context = _TrainerContext(number, link, settings, folder)
    with log_context(f"trainer {number}"), own_state(), program_guard(Program(), Program()), scope_guard(Scope()):
        _thread.job = context
        try:
            returned = call(train_fn, args)
            if context.trainer is None:
                _log.warning("its function has returned without join(): what it trained has no part in the job")
                pass_by(number, link, settings)
            else:
                context.trainer.finish()
            return returned, dict(context.trainer.counts) if context.trainer is not None else {}
        except Exception as error:
            vars(error)["raised_at"] = raised_at(error)  # other processes don't get the traceback
            if context.trainer is not None:
                context.trainer.fail()
            raise
        finally:
            _thread.job = None
            if context.trainer is not None:
                context.trainer.kill()


def _coordinator(settings: JobSettings, folder: str, link: Link) -> Coordinator:
    return Coordinator(settings.coordinator_settings(), folder)


def _server(index: int, settings: JobSettings, folder: str, link: Link) -> Service:
    return ServerProcess(index, settings, folder, link)


def _result(client: Client, settings: JobSettings, ended: Sequence[Any]) -> JobResult:
    statuses = required(client.request_all([Call(f"server {index}", GetServerStatus()) for index in range(settings.servers)]))
    known = [counts for _, counts in ended] if settings.is_collective else [vars(one.pushes) for one in statuses]
    counts = {word: sum(one.get(word, 0) for one in known) for word in ("sent", "applied", "dropped", "repeated")}
    lost = max(0, sum(counts_of.get("applied", 0) for _, counts_of in ended) - counts["applied"])
    return JobResult([returned for returned, _ in ended], {**counts, "lost": lost}, [asdict(one) for one in statuses])


def _engine(engine: str | Engine, address: str | None) -> Engine:
    if address is not None and engine != "ray":
        raise Malformed(f"address is {shown(address)}, which only engine 'ray' supports")
    if isinstance(engine, Engine):
        return engine
    if engine not in ENGINES:
        raise Malformed(f"engine is {shown(engine)}, it must be one of {', '.join(ENGINES)}, or an Engine")
    if engine == "threads":
        return ThreadEngine()
    from .ray_engine import RayEngine  # imported here, as Ray is large and may not be installed

    return RayEngine(address)
