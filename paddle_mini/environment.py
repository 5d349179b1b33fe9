# Environment variables that C++ and Python read; `paddle-mini doctor` prints them, docs/security.md lists them.
from __future__ import annotations

import os

VARIABLES = {
    "PM_CPU": "v2, v3, v4, v4-bf16 or v4-amx: the kernels for this level of CPUs; by default the best that runs",
    "PM_LOG": "stages of the executor, such as infer,fuse,plan (docs/design.md): their tables, on standard error"
    "; run, runs: times of operators, at exit or after each run",
    "PM_NUM_THREADS": "the number of threads that operators use on the CPU; by default the CPUs that the process may use",
    "PM_PASSES": "the optional passes of the executor that run, such as constants,fold (docs/performance.md); by default all",
    "PM_FUSE": "0: operators are not fused: each runs over its whole variables",
    "PM_GRAPHS": "0: launches on GPUs are not recorded as CUDA graphs",
    "PM_FILL": "a byte, such as 0x55, that new memory is filled with; by default it stays as it comes",
    "PM_CXX": "the C++ compiler that pm.load_op runs; by default c++, g++ or clang++",
    "PM_NVCC": "the compiler of GPU kernels that pm.load_op runs; by default nvcc",
    "PM_OPERATORS": "the folder of the libraries that pm.load_op has compiled; by default ~/.cache/paddle_mini/operators",
    "PM_DEBUG": "1: the command paddle-mini shows tracebacks",
    "PM_CUDA_LIBRARY": "the file that is loaded as the library of GPU kernels; its code runs in the process",
    "PM_CUBLAS": "the file that is loaded as cuBLAS; its code runs in the process",
    "PM_CUDNN": "the file that is loaded as cuDNN; its code runs in the process",
    "PM_NCCL": "the file that is loaded as NCCL; its code runs in the process",
    "RAY_ADDRESS": "the cluster of Ray that a job joins where its script names none; that cluster runs code of the job",
    "RAY_AUTH_MODE": "token or disabled: whether Ray authenticates with a token; a job sets it to token where Ray has one",
    "RAY_AUTH_TOKEN": "Ray's token, of the cluster",
    "RAY_AUTH_TOKEN_PATH": "the file of Ray's token; by default ~/.ray/auth_token",
}
"""The effect of each variable, by name."""


def value_of(name: str) -> str:
    """The value of a variable of the list; "" if it is not set."""
    return os.environ.get(name, "")


def not_read() -> list[str]:
    """The names of variables of this process that begin as those of the list do, but are not in it."""
    return sorted(name for name in os.environ if name.startswith("PM_") and name not in VARIABLES)


def described() -> list[tuple[str, str, str]]:
    """(name, value, effect) of all variables."""
    return [(name, value_of(name), does) for name, does in VARIABLES.items()]
