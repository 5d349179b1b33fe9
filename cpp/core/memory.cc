// Allocates host memory within a limit (memory_limit.h), because Linux overcommits and kills the process that uses too
// much.
#include "core/memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/fill_pattern.h"
#include "core/memory_limit.h"

namespace paddle_mini {
namespace {

// Arrays use large pages from this size on: iterating over one then takes a few address translations instead of
// thousands (measured on 128 MB arrays: sgd 16.6 -> 19.5 GB/s, adam 16.6 -> 20.5).
constexpr size_t kLargePage = size_t{1} << 21;

int wanted_pattern() {
  const char* wanted = std::getenv("PM_FILL");
  if (!wanted || !*wanted) return -1;
  char* end = nullptr;
  long pattern = std::strtol(wanted, &end, 0);
  require<ProgramError>(*end == '\0' && pattern >= 0 && pattern <= 255, "PM_FILL=", printable(wanted),
                        ": it must be a byte, such as 0x55");
  return static_cast<int>(pattern);
}

std::atomic<int>& pattern() {
  static std::atomic<int> value{wanted_pattern()};
  return value;
}

}  // namespace

int fill_pattern() { return pattern().load(std::memory_order_relaxed); }
void set_fill_pattern(int value) { pattern() = value; }

void fill_with_pattern(void* data, size_t bytes) {
  int value = fill_pattern();
  if (value >= 0 && bytes > 0) std::memset(data, value, bytes);
}

size_t checked_sum(size_t a, size_t b) {
  constexpr size_t kMost = size_t{1} << 56;
  require<DeviceError>(a <= kMost && b <= kMost - a,
                       "out of memory: the variables of the program need more than any machine has");
  return a + b;
}

namespace {

void* block_of(size_t bytes) {  // nullptr if the system has no memory left
  bool large = bytes >= 2 * kLargePage;
  void* data = nullptr;
  if (posix_memalign(&data, large ? kLargePage : kAlignment, aligned(bytes ? bytes : 1)) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  if (large) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  fill_with_pattern(data, bytes);
  return data;
}

}  // namespace

void* allocate_plain(size_t bytes) {
  void* data = bytes <= memory_limit() ? block_of(bytes) : nullptr;
  if (!data) refuse_memory(bytes, memory_in_use());
  return data;
}

std::shared_ptr<void> allocate(size_t bytes) {
  count_memory(bytes);
  void* data = block_of(bytes);
  if (!data) {
    uncount_memory(bytes);
    refuse_memory(bytes, memory_in_use());
  }
  return {data, [bytes](void* memory) {
            std::free(memory);
            uncount_memory(bytes);
          }};
}

}  // namespace paddle_mini
