// log: Out = the natural logarithm of X
#include "core/widening.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Log {
  template <class V>
  PM_HD V operator()(V x) const {
    return log(x);
  }
};

struct LogGrad {
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return gradient / x;
  }
};

}  // namespace

void define_log(OpTable& ops) {
  ops.add(also({DType::Int32, DType::Int64},
               unary("log")
                   .infer(infer_float_of_integers)
                   .doc("The natural logarithm, element by element: of 0 minus infinity, of a negative number NaN.")
                   .gradient("log_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
                   .on_gpu()
                   .kernels<UnaryKernel<Log>::For, float, double>()));
  ops.add(unary_gradient("log_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD / X.")
              .on_gpu()
              .kernels<UnaryGradKernel<LogGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini
