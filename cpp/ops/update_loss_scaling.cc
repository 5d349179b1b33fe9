// update_loss_scaling: decreases the loss scale after steps with infinite gradients, increases it after others
#include "core/op_table.h"
#include "math/for_each_index.h"
#include "ops/family/optimizer.h"
#include "math/batch_launches.h"
#include "ops/family/mixed_precision.h"

namespace paddle_mini {
namespace {

// Dynamic loss scaling (Micikevicius et al. 2018, section 3.2).
template <class T>
struct ScalingStep {
  ScalarArg<bool> found, stops;
  const T* scale;
  const int32_t *good, *bad;
  T* scale_out;
  int32_t *good_out, *bad_out;
  int32_t good_needed, bad_needed;
  T growth, fall;

  PM_HD void operator()(int64_t) const {
    T now = *scale;
    int32_t good_steps = *good, bad_steps = *bad;
    if (!stops()) {
      T wanted = now;
      if (found()) {
        good_steps = 0;
        if (reaches(bad_steps, bad_needed)) wanted = std::max(T(1), now * fall);
      } else {
        bad_steps = 0;
        if (reaches(good_steps, good_needed)) wanted = now * growth;
      }
      if (wanted - wanted == T(0)) now = wanted;  // if it is finite
    }
    *scale_out = now;
    *good_out = good_steps;
    *bad_out = bad_steps;
  }

  // Counts a step; returns true, and resets the counter, when `needed` steps are reached.
  PM_HD static bool reaches(int32_t& steps, int32_t needed) {
    steps = steps == INT32_MAX ? steps : steps + 1;
    if (steps != needed) return false;
    steps = 0;
    return true;
  }
};

template <class T>
struct UpdateLossScalingKernel : Kernel {
  std::vector<In<T>> xs;
  In<bool> found, stop;
  In<T> scale;
  In<int32_t> good, bad;
  std::vector<Out<T>> outs;
  Out<T> scale_out;
  Out<int32_t> good_out, bad_out;
  int32_t good_needed, bad_needed;
  T growth, fall;
  bool always_stops;

  explicit UpdateLossScalingKernel(KernelInit& init)
      : xs(in_list<T>(init, "X")), found(init, "FoundInfinite"), stop(init, "StopUpdate", optional_port),
        scale(init, "PrevLossScaling"), good(init, "InGoodSteps"), bad(init, "InBadSteps"),
        outs(out_list<T>(init, "Out")), scale_out(init, "LossScaling"), good_out(init, "OutGoodSteps"),
        bad_out(init, "OutBadSteps"), good_needed(init.attr<int32_t>("incr_every_n_steps")),
        bad_needed(init.attr<int32_t>("decr_every_n_nan_or_inf")),
        growth(static_cast<T>(init.attr<float>("incr_ratio"))), fall(static_cast<T>(init.attr<float>("decr_ratio"))),
        always_stops(init.attr<bool>("stop_update")) {}

  void run(KernelContext& context) override {
    batch_launches(context, [&] { clear(context); });
    for_each_index(context, 1,
                   ScalingStep<T>{found, scalar_or(stop, always_stops), scale.data(), good.data(), bad.data(),
                                  scale_out.data(), good_out.data(), bad_out.data(), good_needed, bad_needed, growth,
                                  fall});
  }

  void clear(KernelContext& context);
};

void require_steps(const InferContext& c, const char* port) {
  require_scalar(c, port);
  require<ShapeError>(c.input(port).dtype == DType::Int32, port, " is ", name_of(c.input(port).dtype),
                      ", it must be int32");
}

void infer_update_loss_scaling(InferContext& c) {
  require_flag(c, "FoundInfinite");
  require_flag(c, "StopUpdate");
  require_scalar(c, "PrevLossScaling");
  require_wide_dtype(c, {"PrevLossScaling"});
  require_steps(c, "InGoodSteps");
  require_steps(c, "InBadSteps");
  infer_each(c, "X", "Out");
  c.set_output("LossScaling", c.input("PrevLossScaling"));
  c.set_output("OutGoodSteps", c.input("InGoodSteps"));
  c.set_output("OutBadSteps", c.input("InBadSteps"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(update_loss_scaling)

namespace paddle_mini {

void define_update_loss_scaling(OpTable& ops) {
  ops.add(OpSchema("update_loss_scaling")
              .doc("If FoundInfinite is true, the step is bad and Out is 0; after decr_every_n_nan_or_inf consecutive "
                   "bad steps LossScaling is multiplied by decr_ratio, but stays at least 1. Otherwise the step is "
                   "good and Out is X; after incr_every_n_steps consecutive good steps LossScaling is multiplied by "
                   "incr_ratio, unless it becomes infinite.")
              .input_list("X", "gradients of any shapes, of one dtype")
              .input("FoundInfinite", "one element, bool: from check_finite_and_unscale")
              .input("PrevLossScaling", "one element; float32 beside X of 16 bits")
              .input("InGoodSteps", "one element, int32: consecutive good steps")
              .input("InBadSteps", "one element, int32: consecutive bad steps")
              .optional_input("StopUpdate", "one element, bool; replaces stop_update")
              .output_list("Out", "shapes of X; usually the variables of X")
              .output("LossScaling", "the same variable as PrevLossScaling")
              .output("OutGoodSteps", "the same variable as InGoodSteps")
              .output("OutBadSteps", "the same variable as InBadSteps")
              .required_attr("incr_every_n_steps", AttrType::Int, "consecutive good steps before the scale increases")
              .required_attr("decr_every_n_nan_or_inf", AttrType::Int,
                             "consecutive bad steps before the scale decreases")
              .required_attr("incr_ratio", AttrType::Float, "factor by which the scale increases")
              .required_attr("decr_ratio", AttrType::Float, "factor by which the scale decreases")
              .attr("stop_update", false, "whether the scale and the counts stay unchanged")
              .infer(infer_update_loss_scaling)
              .no_gradient("gradients have no second derivative here")
              .updates("X", "Out")
              .updates("PrevLossScaling", "LossScaling")
              .updates("InGoodSteps", "OutGoodSteps")
              .updates("InBadSteps", "OutBadSteps")
              .on_gpu()
              .kernels<UpdateLossScalingKernel, float, double>());
}

}  // namespace paddle_mini
