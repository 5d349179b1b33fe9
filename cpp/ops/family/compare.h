// Operators that compute true or false for each element, and bitwise operators on integers.
#pragma once

#include "core/op_table.h"
#include "math/arithmetic.h"
#include "math/broadcast.h"

namespace paddle_mini {

// The axis of X at which Y's axes begin; operators without the attribute align the last axes.
int axis_of(const OpDesc& op);

// Whether the result of F is nonzero.
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

// Out = F(X, Y) != 0. The functor returns 1 or 0 in the operands' type. If an operand is broadcast, these values are
// stored temporarily and then converted to bool.
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

// Out = F(X, Y), in the operands' type
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

// 1 if x and y are equal, else 0. PaddlePaddle treats floats that differ by less than 1e-8 as equal.
template <class V>
PM_HD V equal_or_not(V x, V y) {
  if constexpr (std::is_integral_v<V>) {
    return x == y;
  } else {
    using T = number_of<V>;
    const V last(sizeof(T) == 4 ? T(1e-8) : T(9.999999999999998e-09));  // the largest number below 1e-8
    return select(x == y, V(1), select(abs(x - y) <= last, V(1), V(0)));
  }
}

// Schemas without the operator's own items: doc and kernels.
OpSchema test_of(const char* type);             // X -> Out, bool
OpSchema comparison(const char* type);          // X, Y, axis -> Out, bool
OpSchema logical(const char* type);             // X, Y -> Out, bool
OpSchema bitwise(const char* type);             // X, Y -> Out

}  // namespace paddle_mini
