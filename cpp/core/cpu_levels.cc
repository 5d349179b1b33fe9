// Detects the CPU's level.
#include "core/cpu_levels.h"

namespace paddle_mini {

std::vector<std::string> cpu_levels() {
  std::vector<std::string> levels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt");
  bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  bool bfloat16 = v4 && __builtin_cpu_supports("avx512bf16");
  // Also tests whether the system saves tiles (XCR0).
  if (bfloat16 && __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16")) levels.push_back("v4-amx");
  if (bfloat16) levels.push_back("v4-bf16");
  if (v4) levels.push_back("v4");
  if (v3) levels.push_back("v3");
  if (v2) levels.push_back("v2");
#endif
  levels.push_back("baseline");
  return levels;
}

std::string compiled_level(const std::string& level) { return level.substr(0, level.find('-')); }

}  // namespace paddle_mini
