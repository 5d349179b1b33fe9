// KernelLibrary: cpp/ops compiled for one CPU level. The best one that this CPU runs is loaded, unless PM_CPU selects
// another (v4-amx, v4-bf16, v4, v3, v2, baseline).
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

struct KernelLibrary {
  std::string level;   // "v4-amx"
  std::string path;
  std::string reason;  // "the best of v2 v3 v4 that this CPU runs"
  OpTable operators;
};

// Searches the directory of the library that contains this code. Throws DeviceError if it has no library for this CPU.
KernelLibrary load_kernel_library();

}  // namespace paddle_mini
