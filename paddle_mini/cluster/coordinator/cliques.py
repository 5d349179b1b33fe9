# Cliques: in collective mode, decides whether GPUs add up the gradients of a step, and which clique they form.
"""
All trainers that make a step are members of its clique, also those without a gradient, which add zeros: so the clique stays the
same from step to step, and all get the sum by the same way. A clique is used again if every member is still in it. Where one has
left it, because a sum failed, or the members change, the first member offers the next one. If it has none at hand, since it is in
the former clique, the sum of this step is computed in the memory of the hosts; then all leave, and offer.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..values import Clique, Gpu, MemberId


class Cliques:
    """The last clique of a job."""

    def __init__(self) -> None:
        self._last: Clique | None = None

    def of(self, gpus: Mapping[MemberId, Gpu | None]) -> Clique | None:
        """The clique of these trainers, in this order; None: the hosts add up. NCCL needs a GPU for each, and one version."""
        found = [gpu for gpu in gpus.values() if gpu is not None]
        can_add_up = len({gpu.version for gpu in found}) == 1 and len({gpu.identity for gpu in found}) == len(gpus)
        members, last = list(gpus), self._last
        if not can_add_up or last is None or members != last.members or any(gpu.clique != last.id for gpu in found):
            offer = found[0].offer if can_add_up else b""
            self._last = Clique(offer, members) if offer else None
        return self._last
