// Tests whether arrays in GPU memory are finite; several arrays in one launch (math/batch_launches.h).
#pragma once

#include <tuple>

#include "core/half.h"
#include "math/map.h"

namespace paddle_mini {

template <class T>
PM_HD bool is_finite(T x) {
  return x - x == T(0);
}
PM_HD inline bool is_finite(Float16 x) { return (x.bits & 0x7c00u) != 0x7c00u; }
PM_HD inline bool is_finite(BFloat16 x) { return (x.bits & 0x7f80u) != 0x7f80u; }

// Sets a flag if an element is not finite. All threads that write it write the same value.
struct FlagNotFinite {
  static constexpr bool batchable = true;
  bool *flag, value;

  template <class T>
  PM_HD std::tuple<> operator()(T x) const {
    if (!is_finite(x)) *flag = value;
    return {};
  }
};

template <class T>
void flag_not_finite(KernelContext& context, int64_t n, const T* x, bool* flag, bool value) {
  map(context, n, FlagNotFinite{flag, value}, std::tuple<>(), x);
}

}  // namespace paddle_mini
