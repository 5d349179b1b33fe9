// slogdeterminant: Out = the signs of the determinants of the matrices in Input, and the logarithms of their absolute values
#include <limits>

#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct SlogdeterminantKernel : Kernel {
  In<T> input;
  Out<T> out;
  Matrices matrices;

  explicit SlogdeterminantKernel(KernelInit& init) : input(init, "Input"), out(init, "Out"), matrices(input.shape()) {}
  void run(KernelContext& context) override {
    each_item(context, matrices.loop(), [&](int64_t i) {
      auto found = determinant_of(input.data() + i * matrices.size(), matrices.rows);
      out[i] = found.sign;
      out[matrices.count + i] = found.log;
    });
  }
};

template <class T>
struct SlogdeterminantGradKernel : Kernel {
  In<T> input, out_gradient;
  Out<T> input_gradient;
  Matrices matrices;

  explicit SlogdeterminantGradKernel(KernelInit& init)
      : input(init, "Input"), out_gradient(init, "Out@GRAD"), input_gradient(init, "Input@GRAD"),
        matrices(input.shape()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    each_item(context, matrices.loop(), [&](int64_t i) {
      std::vector<T> inverse(static_cast<size_t>(size));
      bool regular = invert(input.data() + i * size, n, inverse.data());
      T scale = out_gradient[matrices.count + i], *gradient = input_gradient.data() + i * size;
      for (int64_t row = 0; row < n; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          gradient[row * n + column] =
              regular ? scale * inverse[static_cast<size_t>(column * n + row)] : std::numeric_limits<T>::quiet_NaN();
        }
      }
    });
  }
};

Shape sign_and_log_shape(const InferContext& c) {
  require_tensors(c);
  require_square(c, "Input");
  Shape shape{2}, batch = batch_of(c.shape("Input"));
  for (int64_t dim : batch) shape.push_back(dim);
  return shape;
}

}  // namespace

void define_slogdeterminant(OpTable& ops) {
  ops.add(
      OpSchema("slogdeterminant")
          .doc("Out[0] = the sign of the determinant of each matrix of Input, Out[1] = the logarithm of its absolute "
               "value, which does not overflow; 0 and -inf for a singular matrix.")
          .input("Input", "[..., n, n]")
          .output("Out", "[2, ...]: the shape of Input without its last two axes, after a 2")
          .infer([](InferContext& c) { c.set_output("Out", c.input("Input").dtype, sign_and_log_shape(c)); })
          .gradient("slogdeterminant_grad", {"Input", "Out", "Out@GRAD"}, {"Input@GRAD"})
          .cpu_only("its decomposition is a sequence of small steps")
          .kernels<SlogdeterminantKernel, float, double>());
  ops.add(ops.gradient_of("slogdeterminant")
              .doc("Input@GRAD = Out@GRAD[1] Input^-T; NaN for a singular matrix.")
              .shape_only("Out")
              .infer([](InferContext& c) {
                Shape shape = sign_and_log_shape(c);
                require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), shape), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out ", shape.str());
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("Input@GRAD", c.input("Input"));
              })
              .kernels<SlogdeterminantGradKernel, float, double>());
}

}  // namespace paddle_mini
