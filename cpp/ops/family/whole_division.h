// Kernel of elementwise operators that divide by Y: whole numbers can't be divided by 0.
#pragma once

#include "ops/family/elementwise.h"

#ifdef PM_GPU
#include "math/for_each_index.h"
#include "math/gpu/raise.h"
#endif

namespace paddle_mini {

#ifdef PM_GPU
template <class T>
struct RefuseZero {
  const T* y;
  Fault* fault;
  unsigned long long step;
  PM_DEVICE void operator()(int64_t i) const {
    if (y[i] == T(0)) raise(fault, step, 0, i);
  }
};

// What is computed before somebody hears of the 0 is thrown away.
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
using Divided = UnlessZero<F>;
#else
template <class F>
using Divided = F;
#endif

template <class F>
struct WholeDivisionKernel {
  template <class T>
  struct For : BinaryKernel<Divided<F>>::template For<T> {
    using BinaryKernel<Divided<F>>::template For<T>::For;

    bool may_refuse() const override { return std::is_integral_v<T>; }
    void refuse(const Fault& fault) const override { refuse_zero(fault.at); }
    static void refuse_zero(int64_t i) { fail<OpError>("Y[", i, "] is 0: a whole number can't be divided by it"); }

    void run(Device& device) override {
      if constexpr (std::is_integral_v<T>) {
#ifdef PM_GPU
        for_each_index(device, this->y.numel(), RefuseZero<T>{this->y.data(), device.fault, device.step});
#else
        for (int64_t i = 0; i < this->y.numel(); ++i) {
          if (this->y[i] == 0) refuse_zero(i);
        }
#endif
      }
      BinaryKernel<Divided<F>>::template For<T>::run(device);
    }
  };
};

}  // namespace paddle_mini
