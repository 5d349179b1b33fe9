// Place: the device of a value or operator. Spelled like PaddlePaddle's op_device: "cpu", "gpu:0".
#pragma once

#include <string>

namespace paddle_mini {

// Emulated: a device emulated on the CPU, for tests of all device code.
enum class DeviceKind { Cpu, Gpu, Emulated };

struct Place {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;

  bool is_cpu() const { return kind == DeviceKind::Cpu; }
  bool operator==(const Place& o) const { return kind == o.kind && index == o.index; }
  bool operator!=(const Place& o) const { return !(*this == o); }
  bool operator<(const Place& o) const { return kind != o.kind ? kind < o.kind : index < o.index; }
};

std::string name_of(const Place& place);          // "cpu", "gpu:0", "emulated:0"
Place parse_place(const std::string& spelling);   // throws DeviceError for any other spelling

}  // namespace paddle_mini
