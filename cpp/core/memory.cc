// Allocation with a limit: Linux grants more than it has and kills the process that uses it.
#include "core/memory.h"

#include <unistd.h>

#include <cstdlib>

#include "core/error.h"

namespace paddle_mini {
namespace {

size_t physical_memory() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

std::shared_ptr<void> allocate(size_t bytes) {
  require<DeviceError>(bytes <= physical_memory(), "out of memory: ", bytes, " bytes asked for at once, the machine has ",
                       physical_memory());
  void* data = std::aligned_alloc(kAlignment, aligned(bytes ? bytes : 1));
  require<DeviceError>(data != nullptr, "out of memory: ", bytes, " bytes asked for");
  return {data, std::free};
}

}  // namespace paddle_mini
