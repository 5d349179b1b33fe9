# proto/framework.desc is what framework.proto says: protoc makes the same bytes again.
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).resolve().parents[2] / "proto"
REGENERATE = (
    "python -m grpc_tools.protoc -I proto --descriptor_set_out=proto/framework.desc framework.proto"
)


def test_descriptor_is_made_from_framework_proto(tmp_path):
    made = tmp_path / "framework.desc"
    arguments = ["protoc", f"-I{PROTO}", f"--descriptor_set_out={made}", "framework.proto"]
    assert protoc.main(arguments) == 0, "protoc refuses proto/framework.proto"
    committed = (PROTO / "framework.desc").read_bytes()
    assert made.read_bytes() == committed, f"framework.desc is stale; run: {REGENERATE}"
