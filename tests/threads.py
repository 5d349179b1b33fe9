"""Runs work in threads of their own, for tests of state that threads share."""

import faulthandler
import sys
import threading

import paddle_mini as pm


def together(*works):
    """Runs functions in threads of their own; raises an exception of one of them."""
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    faulthandler.dump_traceback_later(60, exit=True)  # a deadlock, which no test could end
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        faulthandler.cancel_dump_traceback_later()
    if failures:
        raise failures[0]


def repeated(work, times, counts=None):
    """Calls `work` this many times; ScopeInUse is an accepted outcome, which is counted."""

    def all_of_them():
        for _ in range(times):
            try:
                work()
            except pm.ScopeInUse:
                if counts is not None:
                    counts.append(work.__name__)

    return all_of_them
