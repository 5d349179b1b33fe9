// pow2_decay_with_linear_warmup: a learning rate with linear warmup, then quadratic decay
#include "core/op_table.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class T>
struct Pow2Decay {
  const int64_t* step;
  T* rate_out;
  int64_t* step_out;
  int64_t warmup, total;
  double base, end;

  PM_HD void operator()(int64_t) const {
    int64_t now = *step == INT64_MAX ? *step : *step + 1;
    *rate_out = static_cast<T>(rate_at(now));
    *step_out = now;
  }

  PM_HD double rate_at(int64_t now) const {
    if (now <= warmup && warmup > 0) return static_cast<double>(now) / static_cast<double>(warmup) * base;
    if (now >= total || total == warmup) return end;
    double left = 1 - (static_cast<double>(now) - static_cast<double>(warmup)) / static_cast<double>(total - warmup);
    return (base - end) * (left * left) + end;
  }
};

template <class T>
struct Pow2DecayWithLinearWarmupKernel : Kernel {
  In<int64_t> step;
  Out<T> rate_out;
  Out<int64_t> step_out;
  int64_t warmup, total;
  double base, end;

  explicit Pow2DecayWithLinearWarmupKernel(KernelInit& init)
      : step(init, "Step"), rate_out(init, "LearningRateOut"), step_out(init, "StepOut"),
        warmup(init.attr<int64_t>("warmup_steps")), total(init.attr<int64_t>("total_steps")),
        base(init.attr<float>("base_lr")), end(init.attr<float>("end_lr")) {}

  void run(KernelContext& context) override {
    for_each_index(context, 1, Pow2Decay<T>{step.data(), rate_out.data(), step_out.data(), warmup, total, base, end});
  }
};

void infer_pow2_decay_with_linear_warmup(InferContext& c) {
  require_scalar(c, "LearningRate");
  require_scalar(c, "Step");
  require<ShapeError>(c.input("Step").dtype == DType::Int64, "Step is ", name_of(c.input("Step").dtype),
                      ", it must be int64");
  int64_t warmup = c.attr<int64_t>("warmup_steps"), total = c.attr<int64_t>("total_steps");
  require<ProgramError>(warmup <= total, "attribute 'warmup_steps' is ", warmup,
                        ", it must not be larger than total_steps, ", total);
  c.set_output("LearningRateOut", c.input("LearningRate"));
  c.set_output("StepOut", c.input("Step"));
}

}  // namespace

void define_pow2_decay_with_linear_warmup(OpTable& ops) {
  ops.add(OpSchema("pow2_decay_with_linear_warmup")
              .doc("StepOut = Step + 1. Up to warmup_steps LearningRateOut = base_lr * StepOut / warmup_steps; then, "
                   "with f = 1 - (StepOut - warmup_steps) / (total_steps - warmup_steps), (base_lr - end_lr) f^2 + "
                   "end_lr; from total_steps on end_lr. LearningRate is not read.")
              .input("LearningRate", "one element")
              .input("Step", "one element, int64: steps so far")
              .output("LearningRateOut", "the same variable as LearningRate")
              .output("StepOut", "the same variable as Step")
              .required_attr("warmup_steps", AttrType::Long, "steps in which the rate increases", at_least(0))
              .required_attr("total_steps", AttrType::Long, "steps after which the rate is constant", at_least(0))
              .required_attr("base_lr", AttrType::Float, "highest rate")
              .required_attr("end_lr", AttrType::Float, "rate at the end")
              .infer(infer_pow2_decay_with_linear_warmup)
              .no_gradient("a schedule of the learning rate is not differentiated")
              .updates("LearningRate", "LearningRateOut")
              .updates("Step", "StepOut")
              .on_gpu()
              .kernels<Pow2DecayWithLinearWarmupKernel, float, double>());
}

}  // namespace paddle_mini
