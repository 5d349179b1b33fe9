# OptimizerConfig: the message that says to the C library what an optimizer does.
from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Dict

from .. import _core


@lru_cache(maxsize=None)
def config_class() -> Any:
    """The class of OptimizerConfig, from what proto/optimizer.proto says; needs the package protobuf."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    described = Path(_core.__file__).with_name("optimizer.desc").read_bytes()
    pool = descriptor_pool.DescriptorPool()  # its own: another package may have a paddle.OptimizerConfig
    for file in descriptor_pb2.FileDescriptorSet.FromString(described).file:
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("paddle.OptimizerConfig"))


def new_config(values: Dict[str, Any]) -> Any:
    """An OptimizerConfig with these fields; enumerations by name, messages as dictionaries."""
    return config_class()(**values)
