// Allocates and counts the arrays that kernels keep.
#include "core/kept_array.h"

#include <cstdlib>

#include "core/memory.h"
#include "core/memory_limit.h"

namespace paddle_mini {
namespace {

thread_local size_t kept_bytes = 0;

}  // namespace

void* allocate_kept(size_t bytes) {
  count_memory(bytes);
  try {
    void* data = allocate_plain(bytes);
    kept_bytes += bytes;
    return data;
  } catch (...) {
    uncount_memory(bytes);
    throw;
  }
}

void free_kept(void* data, size_t bytes) noexcept {
  std::free(data);
  uncount_memory(bytes);
  kept_bytes -= bytes;
}

size_t kept_array_bytes() { return kept_bytes; }

}  // namespace paddle_mini
