"""Prints the x86-64 level of this machine (v2, v3, v4, baseline), for a build that is meant for it alone.

The levels are those of the x86-64 psABI; kernel_library.cc tests for the same features when it runs.
"""

import pathlib

LEVELS = [
    ("v4", "avx512f avx512bw avx512cd avx512dq avx512vl avx2 fma bmi2 sse4_2 ssse3 popcnt"),
    ("v3", "avx2 fma bmi2 sse4_2 ssse3 popcnt"),
    ("v2", "sse4_2 ssse3 popcnt"),
]


def cpu_level(cpuinfo: str) -> str:
    flags = next((set(line.split(":")[1].split()) for line in cpuinfo.splitlines() if line.startswith("flags")), set())
    return next((level for level, needed in LEVELS if flags.issuperset(needed.split())), "baseline")


if __name__ == "__main__":
    print(cpu_level(pathlib.Path("/proc/cpuinfo").read_text()))
