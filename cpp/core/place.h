// Place: where a value lives and an operator runs. Spelled as PaddlePaddle spells op_device: "cpu", "gpu:0".
#pragma once

#include <string>

namespace paddle_mini {

enum class DeviceKind { Cpu, Gpu };

struct Place {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;

  bool operator==(const Place& o) const { return kind == o.kind && index == o.index; }
  bool operator!=(const Place& o) const { return !(*this == o); }
};

std::string name_of(const Place& place);          // "cpu", "gpu:0"
Place parse_place(const std::string& spelling);   // refuses anything else with DeviceError

}  // namespace paddle_mini
