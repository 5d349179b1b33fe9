// cos_sim: the cosine of the angle between each row of X and that of Y
#include <cmath>

#include "core/op_table.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/cos_sim_gpu.h"
#endif

namespace paddle_mini {
namespace {

// Rows of X meet rows of Y, or all of them the only row of Y.
struct RowPairs {
  int64_t rows, size, y_step;

  RowPairs(const Shape& x, const Shape& y) : rows(x[0]), size(x.numel(1, x.rank())), y_step(y[0] == x[0] ? size : 0) {}
  int64_t y_row(int64_t i) const { return y_step ? i : 0; }
};

template <class T>
struct CosSimKernel : Kernel {
  In<T> x, y;
  Out<T> out, x_norm, y_norm;
  RowPairs pairs;

  explicit CosSimKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), x_norm(init, "XNorm"), y_norm(init, "YNorm"),
        pairs(x.shape(), y.shape()) {}

#ifdef PM_GPU
  void run(Device& device) override {
    int64_t y_rows = y_norm.numel();
    cos_sim_gpu::Lengths<T> of_x{{pairs.rows, pairs.size, 1}, x.data(), x_norm.data()};
    cos_sim_gpu::Lengths<T> of_y{{y_rows, pairs.size, 1}, y.data(), y_norm.data()};
    cos_sim_gpu::Cosines<T> body{
        {pairs.rows, pairs.size, 1}, pairs.y_step, x.data(), y.data(), x_norm.data(), y_norm.data(), out.data()};
    launch(device, of_x.blocks(), of_x);
    launch(device, of_y.blocks(), of_y);
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    for (int64_t i = 0; i < pairs.rows; ++i) x_norm[i] = length(device, x.data() + i * pairs.size);
    for (int64_t i = 0; i < y_norm.numel(); ++i) y_norm[i] = length(device, y.data() + i * pairs.size);
    for (int64_t i = 0; i < pairs.rows; ++i) {
      const T *a = x.data() + i * pairs.size, *b = y.data() + i * pairs.y_step;
      double dot = map_sum(device, pairs.size, [](auto v, auto w) { return v * w; }, a, b);
      double norms = static_cast<double>(x_norm[i]) * static_cast<double>(y_norm[pairs.y_row(i)]);
      out[i] = static_cast<T>(dot / norms);
    }
  }

  // Shorter rows count as 1e-8 long, so that none is divided by 0.
  T length(Device& device, const T* row) {
    double squares = map_sum(device, pairs.size, [](auto v) { return v * v; }, row);
    return static_cast<T>(maximum(std::sqrt(squares), 1e-8));
  }
#endif
};

// X@GRAD = Out@GRAD (Y / (XNorm YNorm) - Out X / XNorm^2), and Y@GRAD likewise, summed if there is one row of Y.
template <class T>
struct CosSimGradKernel : Kernel {
  In<T> x, y, x_norm, y_norm, out, out_gradient;
  Out<T> x_gradient, y_gradient;
  RowPairs pairs;

  explicit CosSimGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), x_norm(init, "XNorm"), y_norm(init, "YNorm"), out(init, "Out"),
        out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), pairs(x.shape(), y.shape()) {}

#ifdef PM_GPU
  void run(Device& device) override {
    cos_sim_gpu::Slope<T> of_x{x.data(), y.data(), x_norm.data(), y_norm.data(), out.data(), out_gradient.data()};
    cos_sim_gpu::Slope<T> of_y{y.data(), x.data(), y_norm.data(), x_norm.data(), out.data(), out_gradient.data()};
    int64_t rows = pairs.rows, size = pairs.size, step = pairs.y_step;
    if (x_gradient) {
      for_each_index(device, x_gradient.numel(), cos_sim_gpu::ToX<T>{of_x, size, step, x_gradient.data()});
    }
    if (y_gradient) {
      for_each_index(device, y_gradient.numel(), cos_sim_gpu::ToY<T>{of_y, rows, size, step, y_gradient.data()});
    }
  }
#else
  void run(Device& device) override {
    if (y_gradient) std::fill_n(y_gradient.data(), y_gradient.numel(), T(0));
    for (int64_t i = 0; i < pairs.rows; ++i) {
      const T *a = x.data() + i * pairs.size, *b = y.data() + i * pairs.y_step;
      T g = out_gradient[i], n = x_norm[i], m = y_norm[pairs.y_row(i)], across = g / (n * m);
      T along_x = g * out[i] / (n * n), along_y = g * out[i] / (m * m);
      if (x_gradient) {
        auto slope = [across, along_x](auto own, auto other) {
          return other * decltype(own)(across) - own * decltype(own)(along_x);
        };
        map(device, pairs.size, slope, x_gradient.data() + i * pairs.size, a, b);
      }
      if (y_gradient) {
        T* to = y_gradient.data() + i * pairs.y_step;
        auto add = [across, along_y](auto sum, auto own, auto other) {
          return sum + (other * decltype(own)(across) - own * decltype(own)(along_y));
        };
        map(device, pairs.size, add, to, static_cast<const T*>(to), b, a);
      }
    }
  }
#endif
};

void require_pairs(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(x.rank() >= 1 && y.rank() >= 1, "X ", x.str(), " and Y ", y.str(), ": rows are needed");
  Shape other = y;
  if (y[0] == 1) other[0] = x[0];
  require<ShapeError>(shapes_agree(x, other), "X has shape ", x.str(), ", Y has ", y.str(),
                      "; Y may differ in having one row only");
}

}  // namespace

void define_cos_sim(OpTable& ops) {
  ops.add(OpSpec("cos_sim")
              .doc("Out = X Y / (XNorm YNorm), row by row. A norm below 1e-8 counts as 1e-8. An operator of "
                   "PaddlePaddle 1.x.")
              .input("X", "[rows, ...]")
              .input("Y", "shape of X, or [1, ...]: one row for all")
              .output("Out", "[rows, 1]")
              .output("XNorm", "[rows, 1]: the root of the sum of squares")
              .output("YNorm", "[rows of Y, 1]")
              .infer([](InferContext& c) {
                require_pairs(c);
                DType dtype = c.input("X").dtype;
                for (const char* port : {"Out", "XNorm"}) c.set_output(port, dtype, {c.shape("X")[0], 1});
                c.set_output("YNorm", dtype, {c.shape("Y")[0], 1});
              })
              .gradient("cos_sim_grad", {"X", "Y", "XNorm", "YNorm", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<CosSimKernel, float, double>());
  ops.add(ops.gradient_of("cos_sim")
              .doc("X@GRAD = Out@GRAD (Y / (XNorm YNorm) - Out X / XNorm^2), Y@GRAD = Out@GRAD (X / (XNorm YNorm) - "
                   "Out Y / YNorm^2), summed where one row of Y meets all of X.")
              .kernels<CosSimGradKernel, float, double>());
}

}  // namespace paddle_mini
