// Kernel of elementwise operators that divide by Y: whole numbers can't be divided by 0.
#pragma once

#include "math/elementwise.h"

namespace paddle_mini {

template <class F>
struct WholeDivisionKernel {
  template <class T>
  struct For : BinaryKernel<F>::template For<T> {
    using BinaryKernel<F>::template For<T>::For;

    bool may_refuse() const override { return std::is_integral_v<T>; }

    void run(Device& device) override {
      if constexpr (std::is_integral_v<T>) {
        for (int64_t i = 0; i < this->y.numel(); ++i) {
          require<OpError>(this->y[i] != 0, "Y[", i, "] is 0: a whole number can't be divided by it");
        }
      }
      BinaryKernel<F>::template For<T>::run(device);
    }
  };
};

}  // namespace paddle_mini
