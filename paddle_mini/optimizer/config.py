# OptimizerConfig: the protobuf message that configures an optimizer of the C library.
from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from .. import _core
from .._core import ProgramError


@cache
def config_class() -> Any:
    """The class of OptimizerConfig, from proto/optimizer.proto; needs the package protobuf."""
    from pathlib import Path

    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    described = Path(_core.__file__).with_name("optimizer.desc").read_bytes()
    pool = descriptor_pool.DescriptorPool()  # its own: another package may have a paddle.OptimizerConfig
    for file in descriptor_pb2.FileDescriptorSet.FromString(described).file:
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("paddle.OptimizerConfig"))


def new_config(values: dict[str, Any]) -> Any:
    """An OptimizerConfig with these fields; enumerations by name, messages as dictionaries."""
    try:
        return config_class()(**values)
    except (TypeError, ValueError) as error:
        raise ProgramError(f"OptimizerConfig: {error}") from None


def overridden_method(owner: Any, says: str, does: str, base: type) -> Callable[..., dict[str, Any]]:
    """The method `says` of owner. If a user's subclass overrides `does` but not `says`, the method of
    `base`, which refuses."""
    for kind in type(owner).__mro__:
        if says in vars(kind):
            return getattr(owner, says)
        if does in vars(kind):
            break
    return partial(getattr(base, says), owner)
