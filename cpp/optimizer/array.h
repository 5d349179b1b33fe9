// Array: numbers of one type in aligned memory of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory.h"

namespace paddle_mini {

template <class T>
class Array {
 public:
  Array() = default;
  Array(int64_t size, T value) : size_(size), memory_(allocate(static_cast<size_t>(size) * sizeof(T))) {
    std::fill_n(data(), size, value);
  }
  T* data() { return static_cast<T*>(memory_.get()); }
  const T* data() const { return static_cast<const T*>(memory_.get()); }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }

 private:
  int64_t size_ = 0;
  std::shared_ptr<void> memory_;
};

}  // namespace paddle_mini
