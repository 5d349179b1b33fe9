// isclose: Out = whether the elements of Input and Other are nearly equal, one by one
#include "math/for_each_index.h"
#include "math/scalar_arg.h"
#include "ops/family/is_close.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

template <class T>
struct CompareClose {
  ScalarArg<double> rtol, atol;
  bool equal_nan;
  const T *input, *other;
  bool* out;
  PM_HD void operator()(int64_t i) const { out[i] = IsClose<T>{rtol(), atol(), equal_nan}(input[i], other[i]); }
};

template <class T>
struct IscloseKernel : Kernel {
  CloseInputs<T> in;
  Out<bool> out;

  explicit IscloseKernel(KernelInit& init) : in(init), out(init, "Out") {}
  void run(KernelContext& context) override {
    CompareClose<T> compare{scalar_or(in.rtol_in, in.rtol),
                            scalar_or(in.atol_in, in.atol),
                            in.equal_nan,
                            in.input.data(),
                            in.other.data(),
                            out.data()};
    for_each_index(context, out.numel(), compare);
  }
};

}  // namespace

void define_isclose(OpTable& ops) {
  ops.add(with_complex<IscloseKernel>(
      comparison_of_close("isclose")
          .doc("Out = whether |Input - Other| <= atol + rtol |Other|, for each element; if rtol > 0, an infinite "
               "Other is close to every number, as in PaddlePaddle.")
          .output("Out", "shape of Input, bool")
          .infer([](InferContext& c) {
            check_close_inputs(c);
            c.set_output("Out", DType::Bool, c.shape("Input"));
          })
          .kernels<IscloseKernel, float, double>()));
}

}  // namespace paddle_mini
