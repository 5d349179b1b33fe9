# Made by `make stub`.
from __future__ import annotations
import collections.abc
import numpy
import typing
import typing_extensions
__all__: list[str] = ['Claim', 'Communicator', 'DeviceError', 'DeviceMemory', 'Error', 'Executor', 'FiniteCheck', 'OpError', 'Profile', 'Program', 'ProgramError', 'Scope', 'ScopeHold', 'ScopeInUse', 'ShapeError', 'Signature', 'SwappedValues', 'alter_schema', 'check_op', 'check_variable_name', 'checksum_beside', 'container_cpu_quota', 'container_memory_limit', 'cpu_levels', 'crc32c', 'crc32c_by_tables', 'decode_program', 'device_address', 'device_memory', 'device_text', 'emulate', 'encode_program', 'find_waits', 'forget_peak', 'fresh_memory', 'generic_attributes', 'gpu_count', 'gpu_text', 'gradient', 'kernel_library', 'load_parameters', 'memory_in_use', 'memory_limit', 'model_facts', 'num_threads', 'num_threads_reason', 'op_schema', 'op_types', 'parameter_file_order', 'parameters_checksum', 'plan_memory', 'printable', 'read_file', 'read_tensor', 'remove_unfinished', 'require_parameters', 'save_model', 'save_parameters', 'set_fill_pattern', 'set_least_loop', 'set_num_threads', 'started_workers', 'take_longest_split_loop', 'tensor_bytes', 'try_gradient_schema', 'try_loop', 'try_schema', 'type_name', 'unfinished_name', 'write_file', 'write_files', 'write_model']

class Error(Exception):
    pass

class ProgramError(Error):
    pass

class ShapeError(Error):
    pass

class OpError(Error):
    pass

class ScopeInUse(OpError):
    pass

class DeviceError(Error):
    pass

class ScopeHold:

    def __enter__(self) -> None:
        ...

    def __exit__(self, *args) -> None:
        ...

class Scope:

    def __contains__(self, arg0: str) -> bool:
        ...

    def __init__(self) -> None:
        ...

    def editing(self, names: collections.abc.Sequence[str]) -> ScopeHold:
        ...

    def erase(self, name: str) -> None:
        ...

    def exchange(self, triples: collections.abc.Sequence[tuple[str, str, str]]) -> None:
        ...

    def get(self, name: str) -> typing.Any:
        ...

    def get_rows(self, name: str) -> tuple:
        ...

    def info(self, name: str) -> dict:
        ...

    def lod(self, name: str) -> list[list[int]]:
        ...

    def names(self) -> list[str]:
        ...

    def place(self, name: str) -> str:
        ...

    def reading(self) -> ScopeHold:
        ...

    def restore(self, triples: collections.abc.Sequence[tuple[str, str, str]]) -> None:
        ...

    def set(self, name: str, array: typing.Any, lod: typing.Any=None) -> None:
        ...

    def set_rows(self, name: str, rows: typing.Any, values: typing.Any, height: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...

    def settle(self) -> None:
        ...

    def synchronize(self) -> None:
        ...

class SwappedValues:

    def __enter__(self) -> None:
        ...

    def __exit__(self, *args) -> None:
        ...

    def restore(self) -> None:
        ...

class Claim:

    def __enter__(self) -> Claim:
        ...

    def __exit__(self, *args) -> None:
        ...

    def __init__(self, scope: Scope, triples: collections.abc.Sequence[tuple[str, str, str]]) -> None:
        ...

    def apply(self, need_restore: bool=True) -> SwappedValues:
        ...

class Program:

    def __init__(self, arg0: bytes) -> None:
        ...

class Communicator:

    def __init__(self, places: collections.abc.Sequence[str]) -> None:
        ...

    def cancel(self, reason: str) -> None:
        ...

    def reset(self) -> None:
        ...

class Signature:

    def __init__(self, program: Program, feeds: collections.abc.Sequence[str], fetches: collections.abc.Sequence[str]) -> None:
        ...

class Executor:

    def __init__(self, place: str, seed: typing.SupportsInt | typing.SupportsIndex | None=None, files: bool=False, allow_cpu_fallback: bool=False, communicator: Communicator | None=None, rank: typing.SupportsInt | typing.SupportsIndex=0, max_loop_steps: typing.SupportsInt | typing.SupportsIndex=0, threads: typing.SupportsInt | typing.SupportsIndex=0) -> None:
        ...

    def plan_text(self, signature: Signature, scope: Scope, feeds: tuple, stage: str='plan') -> str:
        ...

    def random_state(self) -> str:
        ...

    def run(self, signature: Signature, scope: Scope, feeds: tuple) -> list:
        ...

    def seed(self, seed: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...

    def set_random_state(self, state: str) -> None:
        ...

class Profile:

    def __init__(self, most_events: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...

    def dropped(self) -> int:
        ...

    def events(self) -> list:
        ...

    def runs(self) -> list:
        ...

    def sites(self) -> list:
        ...

    def start(self) -> None:
        ...

    def stop(self) -> None:
        ...

class FiniteCheck:

    def __init__(self, infinities: bool) -> None:
        ...

    def start(self) -> None:
        ...

    def stop(self) -> None:
        ...

class DeviceMemory:

    def __init__(self, arg0: str, arg1: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...

    @property
    def address(self) -> int:
        ...

def alter_schema(type: str, fact: str, value: typing.Any) -> typing.Any:
    ...

def check_op(arg0: dict, arg1: dict) -> tuple:
    ...

def check_variable_name(name: typing.Any) -> None:
    ...

def checksum_beside(arg0: str) -> int | None:
    ...

def container_cpu_quota(root: str='') -> float:
    ...

def container_memory_limit(root: str='') -> int:
    ...

def cpu_levels() -> list[str]:
    ...

def crc32c(bytes: typing_extensions.Buffer, before: typing.SupportsInt | typing.SupportsIndex=0) -> int:
    ...

def crc32c_by_tables(arg0: bytes) -> int:
    ...

def decode_program(arg0: bytes) -> dict:
    ...

def device_address(arg0: str, arg1: typing.SupportsInt | typing.SupportsIndex) -> int:
    ...

def device_memory(place: str) -> dict:
    ...

def device_text(place: str) -> str:
    ...

def emulate(index: typing.SupportsInt | typing.SupportsIndex, bandwidth: typing.SupportsFloat | typing.SupportsIndex, latency: typing.SupportsFloat | typing.SupportsIndex, memory: typing.SupportsInt | typing.SupportsIndex, staging: typing.SupportsInt | typing.SupportsIndex, delay_seed: typing.SupportsInt | typing.SupportsIndex, most_delay: typing.SupportsInt | typing.SupportsIndex) -> None:
    ...

def encode_program(arg0: dict) -> bytes:
    ...

def find_waits(arg0: collections.abc.Sequence[tuple[typing.SupportsInt | typing.SupportsIndex, collections.abc.Sequence[tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex, bool]]]], arg1: typing.SupportsInt | typing.SupportsIndex) -> list[list[int]]:
    ...

def forget_peak(place: str) -> None:
    ...

def fresh_memory(arg0: typing.SupportsInt | typing.SupportsIndex) -> bytes:
    ...

def generic_attributes() -> dict:
    ...

def gpu_count() -> int:
    ...

def gpu_text() -> str:
    ...

def gradient(arg0: dict) -> list:
    ...

def kernel_library() -> dict:
    ...

def load_parameters(arg0: Scope, arg1: str, arg2: bytes, arg3: collections.abc.Sequence[str], arg4: typing.SupportsInt | typing.SupportsIndex | None) -> None:
    ...

def memory_in_use() -> int:
    ...

def memory_limit() -> int:
    ...

def model_facts(arg0: bytes) -> tuple[bool, int | None]:
    ...

def num_threads() -> int:
    ...

def num_threads_reason() -> str:
    ...

def op_schema(arg0: str) -> dict:
    ...

def op_types() -> list[str]:
    ...

def parameter_file_order(arg0: bytes) -> list[str]:
    ...

def parameters_checksum(arg0: Scope, arg1: collections.abc.Sequence[str]) -> int:
    ...

def plan_memory(arg0: collections.abc.Sequence[tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex]]) -> tuple[list[int], int]:
    ...

def printable(name: typing.Any, limit: typing.SupportsInt | typing.SupportsIndex=200) -> str:
    ...

def read_file(arg0: str) -> bytes:
    ...

def read_tensor(arg0: bytes) -> tuple[numpy.ndarray, list[list[int]], int]:
    ...

def remove_unfinished(arg0: str) -> None:
    ...

def require_parameters(arg0: typing.SupportsInt | typing.SupportsIndex | None, arg1: typing.SupportsInt | typing.SupportsIndex) -> None:
    ...

def save_model(scope: Scope, names: collections.abc.Sequence[str], parameters_path: str, model_path: str, program: bytes, others: collections.abc.Sequence[tuple[str, bytes | None]]=[]) -> None:
    ...

def save_parameters(arg0: Scope, arg1: str, arg2: collections.abc.Sequence[str]) -> None:
    ...

def set_fill_pattern(arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
    ...

def set_least_loop(nanoseconds: typing.SupportsFloat | typing.SupportsIndex=20000.0) -> None:
    ...

def set_num_threads(threads: typing.SupportsInt | typing.SupportsIndex) -> None:
    ...

def started_workers() -> int:
    ...

def take_longest_split_loop() -> float:
    ...

def tensor_bytes(arg0: numpy.ndarray, arg1: collections.abc.Sequence[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]]) -> bytes:
    ...

def try_gradient_schema(forward: collections.abc.Sequence[tuple[str, collections.abc.Sequence[str]]], gradient: collections.abc.Sequence[tuple[str, collections.abc.Sequence[str]]]) -> list[str]:
    ...

def try_loop(threads: typing.SupportsInt | typing.SupportsIndex, items: typing.SupportsInt | typing.SupportsIndex, failing: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]=[]) -> tuple[list[int], int]:
    ...

def try_schema(type: str, calls: collections.abc.Sequence[tuple[str, collections.abc.Sequence[str]]]) -> list[str]:
    ...

def type_name(number: typing.SupportsInt | typing.SupportsIndex) -> str:
    ...

def unfinished_name() -> str:
    ...

def write_file(arg0: str, arg1: typing_extensions.Buffer) -> None:
    ...

def write_files(arg0: collections.abc.Sequence[tuple[str, collections.abc.Sequence[typing_extensions.Buffer]]]) -> None:
    ...

def write_model(path: str, program: bytes, parameters: typing.SupportsInt | typing.SupportsIndex | None, others: collections.abc.Sequence[tuple[str, bytes | None]]=[]) -> None:
    ...
