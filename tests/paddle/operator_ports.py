"""Writes tests/operator_ports.json: inputs, outputs and attributes of PaddlePaddle 2.6.2's operators.

Run by the Python of PaddlePaddle's environment: build/bench/paddle/bin/python tests/paddle/operator_ports.py OPERATOR...
Attributes of its other back ends, and those that every operator has, are left out.
"""

import json
import pathlib
import sys

from paddle.base.framework import OpProtoHolder

GENERAL = {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr"}
BACK_ENDS = ("mkldnn", "cudnn", "quantiz", "onednn", "workspace")


def table(operators):
    protos = OpProtoHolder.instance().op_proto_map
    result = {}
    for operator in sorted(operators & set(protos)):
        proto = protos[operator]
        attrs = {
            attr.name: attr.type
            for attr in proto.attrs
            if attr.name not in GENERAL and not any(part in attr.name.lower() for part in BACK_ENDS)
        }
        result[operator] = {
            "inputs": [port.name for port in proto.inputs],
            "outputs": [port.name for port in proto.outputs],
            "attrs": attrs,
        }
    return result


if __name__ == "__main__":
    lines = [f"  {json.dumps(operator)}: {json.dumps(ports)}" for operator, ports in table(set(sys.argv[1:])).items()]
    (pathlib.Path(__file__).parents[1] / "operator_ports.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
