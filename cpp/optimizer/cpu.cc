// Selects the loops for this CPU.
#include <cstdlib>

#include "core/error.h"
#include "core/cpu_levels.h"
#include "optimizer/loops.h"

namespace paddle_mini {

// CMake defines PM_LEVELS, the list of levels that were built.
#define PM_LEVEL_OF(level) extern "C" const LoopTables* paddle_mini_loops_##level();
PM_LEVELS
#undef PM_LEVEL_OF

namespace {

const LoopTables* tables_of(const std::string& level) {
#define PM_LEVEL_OF(name) \
  if (level == #name) return paddle_mini_loops_##name();
  PM_LEVELS
#undef PM_LEVEL_OF
  return nullptr;
}

const LoopTables& choose() {
  const char* wanted = std::getenv("PM_CPU");
  std::string all;
  for (const std::string& level : cpu_levels()) {
    const LoopTables* tables = tables_of(level);
    if (!tables) continue;
    if (!wanted || !*wanted || level == compiled_level(wanted)) return *tables;
    all += (all.empty() ? "" : " ") + level;
  }
  require<DeviceError>(!all.empty(), "the library was built for newer CPUs than this one");
  fail<DeviceError>("PM_CPU=", printable(wanted), ": this CPU and the library have ", all);
}

}  // namespace

const LoopTables& loops_of_this_cpu() {
  static const LoopTables& chosen = choose();
  return chosen;
}

}  // namespace paddle_mini
