// One answer for a whole tensor: isnan, isinf and isfinite of PaddlePaddle 1.x.
#pragma once

#include "math/axis_folds.h"
#include "ops/family/compare.h"

namespace paddle_mini {

struct AnyIsTrue {
  static constexpr bool first = false;
  PM_HD bool operator()(bool a, bool b) const { return a || b; }
};

struct AllAreTrue {
  static constexpr bool first = true;
  PM_HD bool operator()(bool a, bool b) const { return a && b; }
};

// Out = the fold of Test(X) != 0 over all elements.
template <class Test, class Fold>
struct TestOfAllKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<bool> out;
    AxisFolds folds;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"),
          folds(x.shape(), std::vector<bool>(static_cast<size_t>(x.shape().rank()), true)) {}
    void run(KernelContext& context) override {
      folds.fold(context, IsTrue<Test>{}, Fold{}, Fold::first, out.data(), x.data());
    }
  };
};

// A schema without doc and kernels.
inline OpSchema test_of_all(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "[1] bool")
      .infer([](InferContext& c) {
        require_tensors(c);
        c.set_output("Out", DType::Bool, Shape{1});
      })
      .no_gradient("true or false")
      .on_gpu();
}

}  // namespace paddle_mini
