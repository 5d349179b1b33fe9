# Workers: results of tasks in the order of the tasks, computed ahead by threads or processes.
from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from .._core import Error, ProgramError, printable

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_END = object()
_PATIENCE = 1.0  # seconds: what a source waits for may never come


def in_order(
    tasks: Generator[Any, None, None], work: Callable[[Any], Any], ahead: int, workers: int, processes: bool
) -> Generator[Any, None, None]:
    """work(task) of each task, in the order of the tasks.

    workers: 0: in this thread, when a result is asked for. Otherwise a thread reads the tasks, and as many threads or
    processes compute at most `ahead` results that have not been asked for. All end with the iterator: when it is exhausted,
    closed, or dropped; a thread that waits for a task is left after a second, and ends when the task comes. An error of a task,
    or of the iterator of tasks, is raised in its place.
    """
    if not workers:
        yield from map(work, tasks)
        return
    from concurrent.futures import BrokenExecutor, Future  # here, because paddle_mini is imported without it

    results: queue.SimpleQueue[Any] = queue.SimpleQueue()
    room, stopped = threading.Semaphore(ahead), threading.Event()
    pool, function = _pool(work, workers, processes)

    def produce() -> None:
        try:
            for task in tasks:
                room.acquire()
                if stopped.is_set():
                    return
                results.put(_submitted(pool, function, task))
            results.put(_END)
        except BaseException as error:  # raised again by the iterator
            failed: Future[Any] = Future()
            failed.set_exception(error)
            results.put(failed)

    reader = threading.Thread(target=produce, name="paddle_mini-loader-reader", daemon=True)
    reader.start()
    try:
        while (future := results.get()) is not _END:
            try:
                value = future.result()
            except BrokenExecutor:
                raise ProgramError(
                    "Loader: a worker process has ended: it was killed, or the script lacks `if __name__ == '__main__':`, which "
                    "processes need because each imports the script"
                ) from None
            room.release()
            yield value
    finally:
        stopped.set()
        room.release()
        reader.join(_PATIENCE)
        pool.shutdown(cancel_futures=True)


def _pool(work: Callable[[Any], Any], workers: int, processes: bool) -> tuple[Executor, Callable[[Any], Any]]:
    if not processes:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(workers, "paddle_mini-loader"), work
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A forked child would have the locks of this process's threads, but not the threads.
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, spawn, _begin, (work,)), _of_process


def _submitted(pool: Executor, function: Callable[[Any], Any], task: Any) -> Future[Any]:
    from concurrent.futures import BrokenExecutor

    try:
        return pool.submit(function, task)
    except (Error, BrokenExecutor):
        raise
    except Exception as error:  # what can't be sent to a process raises errors of many types
        raise ProgramError(
            f"Loader: the worker processes can't start: {type(error).__name__}: {printable(str(error), 500)}; functions must be "
            "defined at the top of a module, and neither they nor the data may hold open files, locks or programs"
        ) from error


_work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    """Prepares a worker process. Ctrl-C reaches every process of the terminal; the parent ends its workers, which end by
    themselves if it is killed."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _of_process(task: Any) -> Any:
    return _work(task)
