// dot: Out = sum of X Y along the last axis
#include "core/widening.h"
#include "math/axis_walk.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/dot_rows_gpu.h"
#include "math/for_each_index.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct TimesOfRow {
  int64_t size;
  const T *factors, *in;
  T* out;
  PM_HD void operator()(int64_t i) const { out[i] = in[i] * factors[i / size]; }
};
#endif

template <class T>
struct DotKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  int64_t size;

  explicit DotKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), size(x.shape()[x.shape().rank() - 1]) {}

#ifdef PM_GPU
  void run(Device& device) override { dot_rows<T>(device, out.numel(), size, x.data(), y.data(), out.data()); }
#else
  void run(Device& device) override {
    for (int64_t i = 0, rows = out.numel(); i < rows; ++i) {
      const T *a = x.data() + i * size, *b = y.data() + i * size;
      if constexpr (has_vec<T>) {
        out[i] = static_cast<T>(map_sum(device, size, [](auto v, auto w) { return v * w; }, a, b));
      } else {
        using Wrapping = std::make_unsigned_t<T>;
        Wrapping sum = 0;
        for (int64_t j = 0; j < size; ++j) sum += static_cast<Wrapping>(a[j]) * static_cast<Wrapping>(b[j]);
        out[i] = static_cast<T>(sum);
      }
    }
  }
#endif
};

template <class T>
struct DotGradKernel : Kernel {
  In<T> x, y, out_gradient;
  Out<T> x_gradient, y_gradient;
  int64_t size;

  explicit DotGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), size(x.shape()[x.shape().rank() - 1]) {}

#ifdef PM_GPU
  void run(Device& device) override {
    int64_t n = x.numel();
    if (x_gradient) for_each_index(device, n, TimesOfRow<T>{size, out_gradient.data(), y.data(), x_gradient.data()});
    if (y_gradient) for_each_index(device, n, TimesOfRow<T>{size, out_gradient.data(), x.data(), y_gradient.data()});
  }
#else
  void run(Device& device) override {
    for (int64_t i = 0, rows = out_gradient.numel(); i < rows; ++i) {
      auto scaled = [g = out_gradient[i]](auto v) { return v * decltype(v)(g); };
      if (x_gradient) map(device, size, scaled, x_gradient.data() + i * size, y.data() + i * size);
      if (y_gradient) map(device, size, scaled, y_gradient.data() + i * size, x.data() + i * size);
    }
  }
#endif
};

Shape dot_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(x.rank() == 1 || x.rank() == 2, "X has shape ", x.str(), ", 1 or 2 dimensions are needed");
  require<ShapeError>(shapes_agree(x, y), "X has shape ", x.str(), ", Y has ", y.str());
  return x.rank() == 2 ? Shape{x[0]} : Shape{};
}

}  // namespace

void define_dot(OpTable& ops) {
  ops.add(OpSpec("dot")
              .doc("Out = the sum of X Y along the last axis. Whole numbers wrap around.")
              .input("X", "[size] or [rows, size]")
              .input("Y", "shape of X")
              .output("Out", "[] or [rows]")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, dot_shape(c)); })
              .gradient("dot_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<DotKernel, float, double, int32_t, int64_t>());
  ops.add(also(
      {DType::Int32, DType::Int64},
      ops.gradient_of("dot").doc("X@GRAD = Out@GRAD Y, Y@GRAD = Out@GRAD X.").kernels<DotGradKernel, float, double>()));
}

}  // namespace paddle_mini
