// Operators that answer true or false for each element, and those on the bits of whole numbers.
#pragma once

#include "core/op_table.h"
#include "math/arithmetic.h"
#include "math/broadcast.h"

namespace paddle_mini {

// The axis where Y lies against X; operators without the attribute let the last axes lie together.
int axis_of(const OpDesc& op);

// Whether what F gives is other than 0.
template <class F>
struct IsTrue {
  template <class... V>
  PM_HD bool operator()(V... v) const {
    return F{}(v...) != 0;
  }
};

// Out = F(X) != 0
template <class F>
struct TestKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<bool> out;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out") {}
    void run(KernelContext& context) override { map(context, x.numel(), IsTrue<F>{}, out.data(), x.data()); }
  };
};

// Out = F(X, Y) != 0. The functor gives 1 or 0 of the operands' type: where one operand is stretched,
// those are kept for a moment and then written as true and false.
template <class F>
struct CompareKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, y;
    Out<bool> out;
    Broadcast broadcast;
    Scratch<T> answers;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, "Y"), out(init, "Out"), broadcast(x.shape(), y.shape(), axis_of(init.op())),
          answers(init, broadcast.same_shape() ? 0 : broadcast.numel()) {}

    void run(KernelContext& context) override {
      if (broadcast.same_shape()) {
        map(context, out.numel(), IsTrue<F>{}, out.data(), x.data(), y.data());
      } else {
        broadcast.map(context, F{}, x.data(), y.data(), answers.data());
        const T* from = answers.data();
        map(context, out.numel(), IsTrue<Itself>{}, out.data(), from);
      }
    }
  };
};

// Out = F(X, Y), of the operands' type
template <class F>
struct BitwiseKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, y;
    Out<T> out;
    Broadcast broadcast;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, "Y"), out(init, "Out"), broadcast(x.shape(), y.shape(), axis_of(init.op())) {}
    void run(KernelContext& context) override { broadcast.map(context, F{}, x.data(), y.data(), out.data()); }
  };
};

// 1 where x and y are equal, else 0. PaddlePaddle takes floating point numbers less than 1e-8 apart for equal.
template <class V>
PM_HD V equal_or_not(V x, V y) {
  if constexpr (std::is_integral_v<V>) {
    return x == y;
  } else {
    using T = number_of<V>;
    const V last(sizeof(T) == 4 ? T(1e-8) : T(9.999999999999998e-09));  // the last number below 1e-8
    return select(x == y, V(1), select(abs(x - y) <= last, V(1), V(0)));
  }
}

// Records that lack what is the operator's own: doc and kernels.
OpSchema test_of(const char* type);             // X -> Out, bool
OpSchema comparison(const char* type);          // X, Y, axis -> Out, bool
OpSchema logical(const char* type);             // X, Y -> Out, bool
OpSchema bitwise(const char* type);             // X, Y -> Out

}  // namespace paddle_mini
