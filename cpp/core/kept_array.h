// KeptArray: an array that a kernel makes once for its shapes, such as the offsets of a slice, and that may be long. Its
// memory is held against the limit of the process (memory_limit.h), and counts where plans are evicted.
#pragma once

#include <cstddef>
#include <vector>

namespace paddle_mini {

void* allocate_kept(size_t bytes);  // throws DeviceError over the limit
void free_kept(void* data, size_t bytes) noexcept;
// The bytes that this thread has allocated so, less those that it has freed; only differences have a meaning.
size_t kept_array_bytes();

template <class T>
struct KeptMemory {
  using value_type = T;

  KeptMemory() = default;
  template <class U>
  KeptMemory(const KeptMemory<U>&) {}  // NOLINT: allocators convert into each other

  T* allocate(size_t count) { return static_cast<T*>(allocate_kept(count * sizeof(T))); }
  void deallocate(T* data, size_t count) noexcept { free_kept(data, count * sizeof(T)); }
  template <class U>
  bool operator==(const KeptMemory<U>&) const {
    return true;
  }
  template <class U>
  bool operator!=(const KeptMemory<U>&) const {
    return false;
  }
};

template <class T>
using KeptArray = std::vector<T, KeptMemory<T>>;

}  // namespace paddle_mini
