# Latencies: how long requests took, counted by their kinds in a histogram.
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

BOUNDS = tuple(1e-6 * 2 ** (step / 2) for step in range(52))
"""Upper bounds of the histogram's buckets in seconds, from 1 microsecond to 47 seconds, each 1.41 times the one before; a
further bucket has what takes longer."""
Latencies = dict[str, list[int]]
"""By the name of the request: the number of requests in each bucket, without empty buckets at the end."""


class LatencyCounts:
    """Counts the requests that a service answers."""

    def __init__(self) -> None:
        self.counts: Latencies = {}

    def add(self, name: str, seconds: float) -> None:
        counts, bucket = self.counts.setdefault(name, []), bisect_left(BOUNDS, seconds)
        if bucket >= len(counts):
            counts.extend([0] * (bucket + 1 - len(counts)))
        counts[bucket] += 1


def percentile(counts: Sequence[int], fraction: float) -> float:
    """The upper bound, in seconds, of the bucket in which this fraction of the requests is reached."""
    needed, seen = fraction * sum(counts), 0
    for bucket, count in enumerate(counts):
        seen += count
        if seen >= needed and seen > 0:
            return BOUNDS[min(bucket, len(BOUNDS) - 1)]
    return 0.0
