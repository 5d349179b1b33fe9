// elementwise_sub: Out = X - Y, with Y broadcast over X; minus: the same for one shape
#include "core/widening.h"
#include "math/elementwise.h"
#include "ops/family/elementwise.h"
#include "ops/family/of_complex.h"
#include "ops/family/promoting.h"

namespace paddle_mini {
namespace {

struct Subtract {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x - y;
  }
};

struct NegateGradient {
  template <class V>
  PM_HD V operator()(V, V, V gradient) const {
    return -gradient;
  }
};

template <class T>
struct MinusKernel : Elementwise<MinusKernel<T>> {
  In<T> x, y;
  Out<T> out;

  explicit MinusKernel(KernelInit& init) : x(init, "X"), y(init, "Y"), out(init, "Out") {}
  int64_t numel() const { return x.numel(); }
  template <class Apply>
  void apply(Apply call) const {
    call(Subtract{}, out.data(), x.data(), y.data());
  }
};

// The gradient is two operators scale.
std::vector<OpDesc> minus_gradient(const OpDesc& minus) {
  std::vector<OpDesc> result;
  for (auto [port, factor] : {std::pair("X", 1.0f), {"Y", -1.0f}}) {
    result.push_back(make_op("scale", {{"X", gradient_names(minus.output("Out"))}},
                             {{"Out", gradient_names(minus.input(port))}}, {{"scale", factor}}));
  }
  return result;
}

}  // namespace

void define_elementwise_sub(OpTable& ops) {
  ops.add(promotes_complex(with_complex<BinaryKernel<Subtract>::For>(
      binary("elementwise_sub")
          .infer(infer_promoting_broadcast)
          .doc("Out = X - Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are broadcast.")
          .gradient("elementwise_sub_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
          .kernels<BinaryKernel<Subtract>::For, float, double, int32_t, int64_t>())));
  ops.add(
      also({DType::Int16},
           promotes_complex(with_complex<BinaryGradKernel<PassGradient, NegateGradient>::For>(
               binary_gradient(ops, "elementwise_sub")
                   .gradient(sum_second_rule("elementwise_sub"))
                   .shape_only("X")
                   .shape_only("Y")
                   .doc("X@GRAD = Out@GRAD and Y@GRAD = -Out@GRAD, each summed over the axes it was broadcast along.")
                   .view("Out@GRAD", "X@GRAD")
                   .kernels<BinaryGradKernel<PassGradient, NegateGradient>::For, float, double>()))));
  ops.add(with_complex<SumSecondKernel<Subtract>::For>(
      sum_second_gradient(ops, "elementwise_sub").kernels<SumSecondKernel<Subtract>::For, float, double>()));
  ops.add(OpSchema("minus")
              .doc("Out = X - Y.")
              .input("X", "any shape")
              .input("Y", "shape of X")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_shape(c, "X", "Y");
                require_same_dtype(c, "X", "Y");
                c.set_output("Out", c.input("X"));
              })
              .gradient(minus_gradient)
              .in_place("X", "Out")
              .in_place("Y", "Out")
              .on_gpu()
              .kernels<MinusKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
