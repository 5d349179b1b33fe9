// Kernel of elementwise operators that divide by Y; integers can't be divided by 0.
#pragma once

#include "ops/family/elementwise.h"

namespace paddle_mini {

// A placeholder result for y = 0, which is discarded when the reported error is read.
template <class F>
struct UnlessZero {
  template <class T>
  PM_HD T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y == T(0)) return T(0);
    }
    return F{}(x, y);
  }
};

template <class F>
using Divided = std::conditional_t<kOnGpu, UnlessZero<F>, F>;

template <class F>
struct IntegerDivisionKernel {
  template <class T>
  struct For : BinaryKernel<Divided<F>>::template For<T> {
    using BinaryKernel<Divided<F>>::template For<T>::For;

    bool may_fail_validation() const override { return std::is_integral_v<T>; }
    void refuse(const Fault& fault) const override { refuse_zero(fault.at); }
    static void refuse_zero(int64_t i) { fail<OpError>("Y[", i, "] is 0: an integer can't be divided by it"); }

    void run(KernelContext& context) override;
  };
};

}  // namespace paddle_mini

#include PM_FAMILY(integer_division)
