"""Collects the programs that executors run during an example, for further tests."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest

import paddle_mini as pm


class Ran(NamedTuple):
    """A program, the values in its scope before it ran, and its feeds and fetches."""

    program: pm.Program
    values: dict
    feed: dict
    fetches: list


@contextmanager
def programs_that_run():
    """A list that gets every program after its first run: one entry for each content."""
    ran, known, run = [], set(), pm.Executor.run

    def recorded(exe, program=None, feed=None, fetch_list=None, scope=None, *options, **more):
        main, there = program or pm.default_main_program(), scope or pm.global_scope()
        content = main.to_bytes()
        if content in known:
            return run(exe, program, feed, fetch_list, scope, *options, **more)
        persistable = {name for name, var in main.global_block().vars.items() if var.persistable}
        values = {name: there.get(name) for name in there.names() if name in persistable}
        results = run(exe, program, feed, fetch_list, scope, *options, **more)
        known.add(content)
        asked = [] if fetch_list is None else fetch_list if isinstance(fetch_list, (list, tuple)) else [fetch_list]
        ran.append(
            Ran(
                pm.Program.from_bytes(content),
                values,
                {name: np.array(value) for name, value in (feed or {}).items()},
                [getattr(one, "name", one) for one in asked],
            )
        )
        return results

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pm.Executor, "run", recorded)
        yield ran
