// logspace: Out = powers of Base whose exponents are Num evenly spaced numbers from Start to Stop
#include "core/op_table.h"
#include "math/for_each_index.h"
#include "ops/family/first_number.h"

#include <cmath>

namespace paddle_mini {
namespace {

struct NumberPointer {
  const void* data;
  DType dtype;
  explicit NumberPointer(const Variable& variable) : data(variable.tensor.data), dtype(variable.tensor.dtype) {}
  template <class T>
  PM_HD double as() const {  // converted to the element type of Out first
    return static_cast<double>(first_as<T>(data, dtype));
  }
};

// Exponents are computed from both ends to the middle, as those of linspace.
template <class T>
struct EvenPower {
  NumberPointer start, stop, base;
  int64_t n;
  T* out;

  PM_HD void operator()(int64_t i) const {
    double from = start.as<T>(), to = stop.as<T>(), step = n > 1 ? (to - from) / static_cast<double>(n - 1) : 0;
    bool early = n == 1 || i < n / 2;
    double exponent = early ? from + step * static_cast<double>(i) : to - step * static_cast<double>(n - 1 - i);
    out[i] = nearest_held<T>(std::pow(base.as<T>(), exponent));
  }
};

template <class T>
struct LogspaceKernel : Kernel {
  const Variable &start, &stop, &base;
  Out<T> out;

  explicit LogspaceKernel(KernelInit& init)
      : start(*init.input("Start")), stop(*init.input("Stop")), base(*init.input("Base")), out(init, "Out") {}
  void run(KernelContext& context) override {
    EvenPower<T> power{NumberPointer(start), NumberPointer(stop), NumberPointer(base), out.numel(), out.data()};
    for_each_index(context, out.numel(), power);
  }
};

}  // namespace

void define_logspace(OpTable& ops) {
  ops.add(OpSchema("logspace")
              .doc("Out = Base raised to Num evenly spaced exponents from Start to Stop, inclusive; if Num is 1, to "
                   "Start. Start, Stop and Base are cast to `dtype` first; powers of integers are truncated.")
              .input("Start", "one number")
              .input("Stop", "one number")
              .input("Num", "one int32 or int64: the number of elements, at least 1")
              .input("Base", "one number")
              .output("Out", "[Num], of `dtype`")
              .required_attr("dtype", AttrType::Int, "element type of Out: float32, float64, int32 or int64")
              .infer([](InferContext& c) {
                c.set_output("Out", c.dtype_attr("dtype"), Shape{checked_count(c, {"Start", "Stop", "Base"})});
              })
              .dtype_from_output("Out")
              .no_gradient("its output is constant almost everywhere")
              .on_gpu()
              .kernels<LogspaceKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
