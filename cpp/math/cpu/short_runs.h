// Copies and sums of a few contiguous elements.
#pragma once

#include <cstdint>
#include <cstring>

namespace paddle_mini {

// Runs are short: eight elements at a time cost less than a call. The last eight may overlap the previous ones.
template <class T>
struct Eight {
  typedef T Values __attribute__((vector_size(8 * sizeof(T))));
  Values values;

  static Eight load(const T* from) {
    Eight eight;
    std::memcpy(&eight.values, from, sizeof(Values));
    return eight;
  }
  void store(T* to) const { std::memcpy(to, &values, sizeof(Values)); }
};

template <class T>
inline void copy_run(T* to, const T* from, int64_t n) {
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + 8 <= n; i += 8) Eight<T>::load(from + i).store(to + i);
  if (n % 8 != 0) Eight<T>::load(from + n - 8).store(to + n - 8);
}

template <class T>
inline void add_run(T* to, const T* from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) Eight<T>{Eight<T>::load(to + i).values + Eight<T>::load(from + i).values}.store(to + i);
  for (; i < n; ++i) to[i] += from[i];
}

}  // namespace paddle_mini
