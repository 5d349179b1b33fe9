// Array: numbers of one type in its own aligned memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory.h"

namespace paddle_mini {

// Arrays with different `number` begin at different offsets in a page, so one loop can read them together (kApart in
// core/memory.h).
template <class T>
class Array {
 public:
  Array() = default;
  Array(int64_t size, T value, int number = 0)
      : size_(size), memory_(allocate(static_cast<size_t>(size) * sizeof(T) + skipped(number))),
        data_(reinterpret_cast<T*>(static_cast<char*>(memory_.get()) + skipped(number))) {
    std::fill_n(data_, size, value);
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  const std::shared_ptr<void>& memory() const { return memory_; }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }

 private:
  static size_t skipped(int number) { return static_cast<size_t>(number) * kApart; }

  int64_t size_ = 0;
  std::shared_ptr<void> memory_;
  T* data_ = nullptr;
};

}  // namespace paddle_mini
