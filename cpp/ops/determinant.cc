// determinant: Out = the determinants of the matrices in Input
#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct DeterminantKernel : Kernel {
  In<T> input;
  Out<T> out;
  Matrices matrices;

  explicit DeterminantKernel(KernelInit& init) : input(init, "Input"), out(init, "Out"), matrices(input.shape()) {}
  void run(KernelContext& context) override {
    each_item(context, matrices.loop(),
              [&](int64_t i) { out[i] = determinant_of(input.data() + i * matrices.size(), matrices.rows).value(); });
  }
};

template <class T>
struct DeterminantGradKernel : Kernel {
  In<T> input, out, out_gradient;
  Out<T> input_gradient;
  Matrices matrices;

  explicit DeterminantGradKernel(KernelInit& init)
      : input(init, "Input"), out(init, "Out"), out_gradient(init, "Out@GRAD"), input_gradient(init, "Input@GRAD"),
        matrices(input.shape()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    each_item(context, matrices.loop(), [&](int64_t i) {
      std::vector<T> inverse(static_cast<size_t>(size));
      T scale = out_gradient[i] * out[i];
      bool regular = invert(input.data() + i * size, n, inverse.data());
      T* gradient = input_gradient.data() + i * size;
      for (int64_t row = 0; row < n; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          gradient[row * n + column] = regular ? scale * inverse[static_cast<size_t>(column * n + row)] : T(0);
        }
      }
    });
  }
};

Shape checked_batch(const InferContext& c) {
  require_tensors(c);
  require_square(c, "Input");
  return batch_of(c.shape("Input"));
}

}  // namespace

void define_determinant(OpTable& ops) {
  ops.add(OpSchema("determinant")
              .doc("Out = the determinant of each matrix of Input.")
              .input("Input", "[..., n, n]")
              .output("Out", "the shape of Input without its last two axes")
              .infer([](InferContext& c) { c.set_output("Out", c.input("Input").dtype, checked_batch(c)); })
              .gradient("determinant_grad", {"Input", "Out", "Out@GRAD"}, {"Input@GRAD"})
              .cpu_only("its decomposition is a sequence of small steps")
              .kernels<DeterminantKernel, float, double>());
  ops.add(ops.gradient_of("determinant")
              .doc("Input@GRAD = Out@GRAD Out Input^-T; 0 for a singular matrix, as in PaddlePaddle.")
              .infer([](InferContext& c) {
                Shape batch = checked_batch(c);
                require<ShapeError>(same_shape(c.shape("Out@GRAD"), batch), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out ", batch.str());
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("Input@GRAD", c.input("Input"));
              })
              .kernels<DeterminantGradKernel, float, double>());
}

}  // namespace paddle_mini
