// inverse: Output = the inverses of the matrices in Input
#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct InverseKernel : Kernel {
  In<T> input;
  Out<T> output;
  Matrices matrices;
  Scratch<T> inverses;  // because a singular matrix is refused before anything is written

  explicit InverseKernel(KernelInit& init)
      : input(init, "Input"), output(init, "Output"), matrices(input.shape()), inverses(init, input.numel()) {}

  void run(KernelContext& context) override {
    int64_t size = matrices.size();
    require_each(context, matrices, "Input", "is singular, it has no inverse",
                 [&](int64_t i) { return invert(input.data() + i * size, matrices.rows, inverses.data() + i * size); });
    std::copy_n(inverses.data(), input.numel(), output.data());
  }
};

template <class T>
struct InverseGradKernel : Kernel {
  In<T> output, output_gradient;
  Out<T> input_gradient;
  Matrices matrices;

  explicit InverseGradKernel(KernelInit& init)
      : output(init, "Output"), output_gradient(init, "Output@GRAD"), input_gradient(init, "Input@GRAD"),
        matrices(output.shape()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    each_item(context, matrices.loop(), [&](int64_t i) {
      const T* inverse = output.data() + i * size;
      std::vector<T> right(static_cast<size_t>(size));
      multiply(output_gradient.data() + i * size, inverse, n, n, n, {false, true}, T(1), right.data());
      multiply(inverse, right.data(), n, n, n, {true, false}, T(-1), input_gradient.data() + i * size);
    });
  }
};

}  // namespace

void define_inverse(OpTable& ops) {
  ops.add(OpSchema("inverse")
              .doc("Output = the inverse of each matrix of Input. A singular matrix is an error.")
              .input("Input", "[..., n, n]")
              .output("Output", "shape of Input")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "Input");
                c.set_output("Output", c.input("Input"));
              })
              .gradient("inverse_grad", {"Output", "Output@GRAD"}, {"Input@GRAD"})
              .checks_data()
              .cpu_only("its decomposition is a sequence of small steps")
              .kernels<InverseKernel, float, double>());
  ops.add(ops.gradient_of("inverse")
              .doc("Input@GRAD = -Output^T Output@GRAD Output^T.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_square(c, "Output");
                require_same_dtype(c, "Output", "Output@GRAD");
                require_same_shape(c, "Output", "Output@GRAD");
                c.set_output("Input@GRAD", c.input("Output"));
              })
              .kernels<InverseGradKernel, float, double>());
}

}  // namespace paddle_mini
