// check_numerics: how many elements of a tensor are NaN, infinite and 0; its maximum, minimum and mean
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct CheckNumericsKernel : Kernel {
  In<T> in;
  Out<int64_t> stats;
  Out<float> values;
  std::string type, variable;
  bool refuses;

  explicit CheckNumericsKernel(KernelInit& init)
      : in(init, "tensor"), stats(init, "stats"), values(init, "values"), type(init.attr<std::string>("op_type")),
        variable(init.attr<std::string>("var_name")), refuses(init.attr<int32_t>("check_nan_inf_level") == 0) {}

  void run(KernelContext&) override {
    int64_t nan = 0, infinite = 0, zero = 0, count = in.numel();
    T most = count ? in[0] : T(NAN), least = most;
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      T x = in[i];
      nan += std::isnan(x), infinite += std::isinf(x), zero += x == T(0);
      most = std::max(most, x), least = std::min(least, x);
      sum += static_cast<double>(x);
    }
    if (nan) most = least = T(NAN);
    require<OpError>(!refuses || nan + infinite == 0, "'", printable(variable), "' of operator ", printable(type),
                     " has ", nan, " NaN and ", infinite, " infinities among ", count, " elements");
    stats[0] = nan, stats[1] = infinite, stats[2] = zero;
    values[0] = static_cast<float>(most), values[1] = static_cast<float>(least);
    values[2] = static_cast<float>(sum / static_cast<double>(count));
  }
};

void infer_check_numerics(InferContext& c) {
  require_tensors(c);
  c.set_output("stats", DType::Int64, {3});
  c.set_output("values", DType::Float32, {3});
}

}  // namespace

void define_check_numerics(OpTable& ops) {
  ops.add(OpSchema("check_numerics")
              .doc("Counts the elements that are NaN, infinite and 0, and refuses the run if there are any of the "
                   "former two and check_nan_inf_level is 0. It prints and writes nothing.")
              .input("tensor", "any shape")
              .output("stats", "int64 [3]: the numbers of NaN, infinities and zeros")
              .output("values", "float32 [3]: maximum, minimum and mean; NaN if an element is NaN or there is none")
              .attr("op_type", "", "the operator that computed the tensor, for the error")
              .attr("var_name", "", "the name of the tensor, for the error")
              .attr("check_nan_inf_level", 0, "0: NaN and infinities are refused; greater: they are only counted",
                    between(0, 3))
              .attr("stack_height_limit", -1, "ignored: the lines of a call stack that PaddlePaddle would print")
              .attr("output_dir", "", "the folder of PaddlePaddle's log; only none is possible", one_of({""}))
              .infer(infer_check_numerics)
              .no_gradient("its outputs are statistics for a reader")
              .checks_data()
              .cpu_only("a check for debugging")
              .kernels<CheckNumericsKernel, float, double>());
}

}  // namespace paddle_mini
