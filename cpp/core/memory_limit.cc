// Reads the limits of control groups and counts allocated memory.
#include "core/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>

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

// The lowest limit of a group and its ancestors. Inside a container the path may be the host's, and only its last
// components, or none, exist: the topmost directory is then the container's own.
size_t least_limit(const std::string& mount, std::string group, const std::string& file) {
  size_t least = limit_in(mount + "/" + file);
  while (group.size() > 1) {
    least = std::min(least, limit_in(mount + group + "/" + file));
    group.erase(group.rfind('/'));
  }
  return least;
}

// The limit that the process set itself or inherited (ulimit -v and -d).
size_t own_limit(decltype(RLIMIT_AS) resource) {
  struct rlimit limit{};
  bool limited = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? static_cast<size_t>(limit.rlim_cur) : SIZE_MAX;
}

bool lists(const std::string& controllers, const std::string& one) {
  return ("," + controllers + ",").find("," + one + ",") != std::string::npos;
}

}  // namespace

// Each line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH; the line of v2 has no controllers.
size_t container_memory_limit(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  size_t least = SIZE_MAX;
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (group.empty() || group[0] != '/') continue;
    if (controllers.empty()) {
      least = std::min(least, least_limit(root + "/sys/fs/cgroup", group, "memory.max"));
      least = std::min(least, least_limit(root + "/sys/fs/cgroup/unified", group, "memory.max"));
    } else if (lists(controllers, "memory")) {
      least = std::min(least, least_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
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
