// cumprod: Out[j] = the product of X up to j along an axis
#include "math/wrapping_times.h"
#include "math/axis_lines.h"
#include "math/axis_index_map.h"
#include "math/for_each_index.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

template <class T>
struct CumprodKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisLines lines;

  explicit CumprodKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), lines(x.shape(), init.attr<int32_t>("dim")) {}

  void run(KernelContext& context) override;
};

// X@GRAD[i] = sum over j >= i of Out@GRAD[j] Out[j] / X[i]. From the first 0 on, Out is 0, so the sums end before it.
// At that 0, the products leave out X[i] and extend to the next 0; after it the gradient is 0.
template <class T>
struct CumprodGradLine {
  AxisLines lines;
  const T *x, *out, *out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t line) const {
    int64_t begin = lines.begin_of(line), zero = 0;
    while (zero < lines.length && x[at(begin, zero)] != T(0)) ++zero;
    T sum(0);
    for (int64_t j = zero - 1; j >= 0; --j) {
      int64_t i = at(begin, j);
      sum += out_gradient[i] * conj(out[i]);
      x_gradient[i] = sum / conj(x[i]);
    }
    if (zero == lines.length) return;
    T product = zero ? out[at(begin, zero - 1)] : T(1), total(0);
    for (int64_t j = zero; j < lines.length; ++j) {
      int64_t i = at(begin, j);
      if (j > zero) product = product * x[i], x_gradient[i] = T(0);
      total += out_gradient[i] * conj(product);
    }
    x_gradient[at(begin, zero)] = total;
  }

  PM_HD int64_t at(int64_t begin, int64_t j) const { return begin + j * lines.inner; }
};

template <class T>
struct CumprodGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisLines lines;

  explicit CumprodGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        lines(x.shape(), init.attr<int32_t>("dim")) {}

  void run(KernelContext& context) override {
    CumprodGradLine<T> line{lines, x.data(), out.data(), out_gradient.data(), x_gradient.data()};
    for_each_index(context, lines.count(), line);
  }
};

const Shape& cumprod_shape(const InferContext& c) {
  require_tensors(c);
  check_axis(c.shape("X"), c.attr<int32_t>("dim"));
  return c.shape("X");
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cumprod)

namespace paddle_mini {

void define_cumprod(OpTable& ops) {
  ops.add(with_complex<CumprodKernel>(
      OpSchema("cumprod")
          .doc("Out[j] = the product of X[0] to X[j] along the axis. Integers wrap around.")
          .input("X", "any shape")
          .output("Out", "shape of X")
          .required_attr("dim", AttrType::Int, "the axis; negative ones count from the end")
          .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, cumprod_shape(c)); })
          .gradient("cumprod_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<CumprodKernel, float, double, int32_t, int64_t>()));
  ops.add(with_complex<CumprodGradKernel>(
      ops.gradient_of("cumprod")
          .doc("X@GRAD[i] = the sum over j >= i of Out@GRAD[j] times the product of X up to j without X[i]; "
               "of complex numbers with the conjugate of this product.")
          .kernels<CumprodGradKernel, float, double>()));
}

}  // namespace paddle_mini
