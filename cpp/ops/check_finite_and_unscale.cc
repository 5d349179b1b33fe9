// check_finite_and_unscale: divides gradients of a scaled loss by the scale and searches them for NaN and infinity
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "ops/family/mixed_precision.h"

namespace paddle_mini {
namespace {

template <class T>
struct CheckFiniteAndUnscaleKernel : Kernel {
  std::vector<In<T>> xs;
  In<T> scale;
  std::vector<Out<T>> outs;
  Out<bool> found;
  Scratch<bool> infinite, so_far;  // one for each X; only on a GPU

  explicit CheckFiniteAndUnscaleKernel(KernelInit& init)
      : xs(in_list<T>(init, "X")), scale(init, "Scale"), outs(out_list<T>(init, "Out")), found(init, "FoundInfinite"),
        infinite(init, kOnGpu ? static_cast<int64_t>(xs.size()) : 0), so_far(init, infinite.numel()) {}

  void run(KernelContext& context) override;
};

void infer_check_finite_and_unscale(InferContext& c) {
  require_scalar(c, "Scale");
  require_wide_dtype(c, {"Scale"});
  infer_each(c, "X", "Out");
  c.set_output("FoundInfinite", DType::Bool, Shape{1});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(check_finite_and_unscale)

namespace paddle_mini {

void define_check_finite_and_unscale(OpTable& ops) {
  ops.add(OpSchema("check_finite_and_unscale")
              .doc("Out = X / Scale for each X; FoundInfinite = whether any X has an element that is not finite. From "
                   "that X on, Out is 0 X.")
              .input_list("X", "any shapes, of one dtype")
              .input("Scale", "one element; float32 beside X of 16 bits")
              .output_list("Out", "shapes of X; usually the variables of X")
              .output("FoundInfinite", "[1] bool")
              .infer(infer_check_finite_and_unscale)
              .no_gradient("gradients have no second derivative here")
              .updates("X", "Out")
              .on_gpu()
              .kernels<CheckFiniteAndUnscaleKernel, float, double>());
}

}  // namespace paddle_mini
