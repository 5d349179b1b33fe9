# proto/framework.desc and optimizer.desc match the .proto files in their folder: protoc generates the same bytes again.
from pathlib import Path

import pytest
from grpc_tools import protoc

PROTO = Path(__file__).resolve().parents[2] / "proto"
REGENERATE = ".venv/bin/python -m grpc_tools.protoc -I proto --descriptor_set_out=proto/{0}.desc {0}.proto"


@pytest.mark.parametrize("name", ["framework", "optimizer"])
def test_descriptor_is_made_from_its_proto(name, tmp_path):
    made = tmp_path / f"{name}.desc"
    arguments = ["protoc", f"-I{PROTO}", f"--descriptor_set_out={made}", f"{name}.proto"]
    assert protoc.main(arguments) == 0, f"protoc refuses proto/{name}.proto"
    committed = (PROTO / f"{name}.desc").read_bytes()
    same = made.read_bytes() == committed  # pytest would print the bytes
    assert same, f"{name}.desc is stale; run {REGENERATE.format(name)}"
