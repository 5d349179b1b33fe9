// Finds the limit of memory and counts allocated memory.
#include "core/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>

#include "core/control_groups.h"
#include "core/error.h"

namespace paddle_mini {
namespace {

constexpr size_t kSmall = size_t{1} << 16;  // smaller allocations are not counted

std::atomic<size_t> in_use{0};

// SIZE_MAX for "max", a missing file or text that is not a number; cgroup v1 writes a number near 2^63 for "no limit".
size_t limit_in(const std::string& file) {
  std::ifstream in(file);
  size_t bytes = 0;
  return in >> bytes ? bytes : SIZE_MAX;
}

// The limit that the process set itself or inherited (ulimit -v and -d).
size_t own_limit(decltype(RLIMIT_AS) resource) {
  struct rlimit limit{};
  bool limited = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? static_cast<size_t>(limit.rlim_cur) : SIZE_MAX;
}

}  // namespace

size_t container_memory_limit(const std::string& root) {
  size_t least = SIZE_MAX;
  each_control_group(root, "memory", [&](const std::string& directory, bool is_v2) {
    least = std::min(least, limit_in(directory + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes")));
  });
  return least;
}

size_t memory_limit() {
  static const size_t around =
      std::min(static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)),
               container_memory_limit());
  return std::min({around, own_limit(RLIMIT_AS), own_limit(RLIMIT_DATA)});
}

void refuse_memory(size_t bytes, size_t used) {
  fail<DeviceError>("out of memory: ", bytes, " bytes requested, ", used, " are in use, this process may have ",
                    memory_limit());
}

bool has_room_for_copy(size_t bytes, size_t held) {
  const size_t limit = memory_limit();
  return bytes <= limit / 8 && held + bytes <= limit / 8 && memory_in_use() + bytes <= limit / 2;
}

size_t memory_in_use() { return in_use.load(std::memory_order_relaxed); }

void count_memory(size_t bytes) {
  if (bytes < kSmall) return;
  size_t limit = memory_limit(), before = in_use.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes <= limit && before <= limit - bytes) return;
  in_use.fetch_sub(bytes, std::memory_order_relaxed);
  refuse_memory(bytes, before);
}

void uncount_memory(size_t bytes) noexcept {
  if (bytes >= kSmall) in_use.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace paddle_mini
