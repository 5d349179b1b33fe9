// linspace: Out = Num evenly spaced numbers from Start to Stop
#include <cmath>
#include <limits>

#include "core/op_table.h"
#include "core/target.h"

namespace paddle_mini {
namespace {

// Saturates values that an integer type can't represent; NaN becomes 0.
template <class T, class S>
PM_HD T nearest_held(S value) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<S>) {
    if (value != value) return 0;
    if (value <= static_cast<S>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (value >= static_cast<S>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

// Reads one element of any numeric type as T.
template <class T>
PM_HD T first_as(const void* data, DType dtype) {
  if (dtype == DType::Float32) return nearest_held<T>(*static_cast<const float*>(data));
  if (dtype == DType::Float64) return nearest_held<T>(*static_cast<const double*>(data));
  if (dtype == DType::Int32) return nearest_held<T>(*static_cast<const int32_t*>(data));
  return nearest_held<T>(*static_cast<const int64_t*>(data));
}

template <class T>
struct LinspaceKernel : Kernel {
  const Variable &start, &stop;
  Out<T> out;

  explicit LinspaceKernel(KernelInit& init)
      : start(*init.input("Start")), stop(*init.input("Stop")), out(init, "Out") {}

  void run(KernelContext& context) override;
};

void infer_linspace(InferContext& c) {
  for (const char* port : {"Start", "Stop"}) {
    require_scalar(c, port);
    DType dtype = c.input(port).dtype;
    bool fits = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 || dtype == DType::Int64;
    require<ShapeError>(fits, port, " is ", name_of(dtype), ", it must be float32, float64, int32 or int64");
  }
  require_scalar(c, "Num");
  Shape shape{-1};
  if (auto count = c.integers("Num")) {
    shape[0] = (*count)[0];
    require<OpError>(shape[0] > 0, "Num is ", shape[0], ", it must be positive");
    require<OpError>(shape[0] < int64_t{1} << 48, "Num is ", shape[0], ", which is too large");
  }
  c.set_output("Out", c.dtype_attr("dtype"), shape);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(linspace)

namespace paddle_mini {

void define_linspace(OpTable& ops) {
  ops.add(OpSchema("linspace")
              .doc("Out = Num evenly spaced numbers from Start to Stop, inclusive; if Num is 1, Start. Start and Stop "
                   "are cast to `dtype` first.")
              .input("Start", "one number")
              .input("Stop", "one number")
              .input("Num", "one int32 or int64: the number of elements, at least 1")
              .output("Out", "[Num], of `dtype`")
              .attr("dtype", 5, "element type of Out: float32, float64, int32 or int64")
              .infer(infer_linspace)
              .dtype_from_output("Out")
              .no_gradient("its output is constant almost everywhere")
              .on_gpu()
              .kernels<LinspaceKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
