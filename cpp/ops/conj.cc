// conj: Out = the complex conjugates of X
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

struct Conjugate {
  template <class V>
  PM_HD V operator()(V x) const {
    return conj(x);
  }
};

}  // namespace

void define_conj(OpTable& ops) {
  ops.add(OpSchema("conj")
              .doc("Out = the complex conjugate of each number; real numbers are their own.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .infer(same_as("X"))
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("conj", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}})};
              })
              .in_place("X", "Out")
              .on_gpu()
              .kernels<ComplexMapKernel<Conjugate>::For, Complex<float>, Complex<double>, float, double, int32_t,
                       int64_t>());
}

}  // namespace paddle_mini
