// Kernel libraries: cpp/ops compiled for one kind of processor. The best that this one can run is
// loaded; PM_CPU=v3 (v2, v4, baseline) asks for another.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

struct KernelLibrary {
  std::string level;   // "v4"
  std::string path;
  std::string reason;  // why this one: "best of v2 v3 v4 that this processor runs"
  OpTable operators;
};

// Looks beside the library that this code is in. DeviceError when there is none that runs here.
KernelLibrary load_kernel_library();

}  // namespace paddle_mini
