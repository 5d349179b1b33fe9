# Export of models with averaged parameters, and their provenance.
from __future__ import annotations

import hashlib
from typing import Any

from .._core import Scope
from ..executor import Executor
from ..io.model import Vars, prefix_of, program_to_save, save_inference_model
from ..io.parameters import Path
from ..program import Program
from .average_swapper import AverageSwapper
from .scheme import Scheme


def save_models(
    averages: AverageSwapper,
    prefix: Path,
    feed_vars: Vars,
    fetch_vars: Vars,
    exe: Executor,
    program: Program | None,
    scope: Scope | None,
    scheme: Scheme | None,
    raw: bool,
) -> None:
    """See ParameterAverage.save."""
    noted = program_to_save(feed_vars, fetch_vars, program).clone(for_test=True)
    noted.provenance = provenance(averages, scope, scheme)
    with averages.apply(exe, scope, scheme, need_restore=True):
        save_inference_model(prefix, feed_vars, fetch_vars, exe, noted, scope)
    if raw:
        noted.provenance = {**noted.provenance, "parameters": "raw"}
        save_inference_model(prefix_of(prefix) + ".raw", feed_vars, fetch_vars, exe, noted, scope)


def provenance(averages: AverageSwapper, scope: Scope | None, scheme: Scheme | None) -> dict[str, Any]:
    """Which average of which training the parameters of a model are."""
    average, found = averages.of(scheme), averages.statistics(scope, scheme)
    return {
        "parameters": "average",
        "scheme": repr(average.scheme),
        "every": average.every,
        "start_step": average.start_step,
        "steps": found.steps,
        "updates": found.updates,
        "skipped": found.skipped,
        "effective_length": found.effective_length,
        "mean_age": found.mean_age,
        "dtype": sorted({member.average.dtype for member in average.members}),
        "averaged": sorted(member.parameter.name for member in average.members),
        "training_program": "sha256:" + hashlib.sha256(averages.main.to_bytes()).hexdigest(),
    }
