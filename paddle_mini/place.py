# Places: where an Executor runs operators for which the program names no device.
from __future__ import annotations


class Place:
    """A device by its name, "cpu", "gpu:0" or "emulated:0": the strings of PaddlePaddle's op_device.

    Example:
        >>> pm.devices.Place("cpu") == pm.CPUPlace()
        True
    """

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class CPUPlace(Place):
    """The CPU.

    Example:
        >>> pm.CPUPlace().name
        'cpu'
    """

    def __init__(self) -> None:
        super().__init__("cpu")

    def __repr__(self) -> str:
        return "CPUPlace()"


class CUDAPlace(Place):
    """The graphics card number `index`.

    Example:
        >>> pm.CUDAPlace(1).name
        'gpu:1'
    """

    def __init__(self, index: int = 0):
        super().__init__(f"gpu:{index}")

    def __repr__(self) -> str:
        return f"CUDAPlace({self.name[4:]})"


class EmulatedPlace(Place):
    """The emulated accelerator number `index`: with its own memory, queue and link to the host, emulated on the CPU
    (see emulate). For tests of everything that is about devices, on machines without one.

    Example:
        >>> exe = pm.Executor(pm.EmulatedPlace(0))
        >>> exe.run(fetch_list=[pm.layers.ones([2]) * 3.0])[0]
        array([3., 3.], dtype=float32)
    """

    def __init__(self, index: int = 0):
        super().__init__(f"emulated:{index}")

    def __repr__(self) -> str:
        return f"EmulatedPlace({self.name[9:]})"
