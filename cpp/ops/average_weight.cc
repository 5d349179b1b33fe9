// average_weight: how much the newest parameters weigh in their average, once a step for all parameters
#include "core/op_table.h"

#include <cmath>

namespace paddle_mini {
namespace {

// What Counters holds.
enum Counter { kUpdates = 0, kNewer = 1, kOlder = 2, kSteps = 3, kCounters = 4 };

// The average is a <- a + w (p - a) with the weight w worked out here, so a scheme is only a sequence of weights.
// With u updates so far, this one counted (Ruppert 1988, Polyak & Juditsky 1992; Kingma & Ba 2015 for the correction):
//   uniform      w = 1 / u
//   exponential  w = (1 - d) / (1 - d^u): an exponential average that starts unbiased; d is decay^every
//   window       w = 1 / n for the n-th parameters of this generation; a generation ends after window_size of them
struct AverageWeightKernel : Kernel {
  In<int64_t> counters;
  Out<int64_t> counters_out;
  Out<double> weight;
  Out<int32_t> roll;
  std::string scheme;
  int64_t window_size, every, start_step;
  double log_decay;

  explicit AverageWeightKernel(KernelInit& init)
      : counters(init, "Counters"), counters_out(init, "CountersOut"), weight(init, "Weight"), roll(init, "Roll"),
        scheme(init.attr<std::string>("scheme")), window_size(init.attr<int64_t>("window_size")),
        every(init.attr<int64_t>("every")), start_step(init.attr<int64_t>("start_step")),
        log_decay(std::log(init.attr<double>("decay")) * static_cast<double>(every)) {}

  void run(Device&) override {
    if (counters_out.data() != counters.data()) std::copy_n(counters.data(), kCounters, counters_out.data());
    int64_t* count = counters_out.data();
    weight[0] = 0;
    roll[0] = 0;
    ++count[kSteps];
    if (count[kSteps] <= start_step || (count[kSteps] - start_step) % every != 0) return;
    ++count[kUpdates];
    if (scheme == "uniform") weight[0] = 1.0 / static_cast<double>(count[kUpdates]);
    else if (scheme == "exponential") weight[0] = exponential(static_cast<double>(count[kUpdates]));
    else window(count);
  }

  // expm1 keeps all digits where decay is close to 1; decay 0 gives log_decay -inf and weight 1.
  double exponential(double updates) const { return std::expm1(log_decay) / std::expm1(updates * log_decay); }

  void window(int64_t* count) {
    ++count[kNewer];
    weight[0] = 1.0 / static_cast<double>(count[kNewer]);
    if (count[kNewer] < window_size) return;
    roll[0] = 1;
    count[kOlder] = count[kNewer];
    count[kNewer] = 0;
  }
};

void infer_average_weight(InferContext& c) {
  const VarInfo& counters = c.input("Counters");
  require<ShapeError>(counters.dtype == DType::Int64, "Counters is ", name_of(counters.dtype), ", it must be int64");
  require<ShapeError>(shapes_agree(counters.shape, Shape{kCounters}), "Counters has shape ", counters.shape.str(),
                      ", it must be [", int{kCounters}, "]");
  double decay = c.attr<double>("decay");
  require<ProgramError>(decay >= 0 && decay < 1, "attribute 'decay' is ", decay, ", it must be at least 0 and below 1");
  c.set_output("CountersOut", DType::Int64, Shape{kCounters});
  c.set_output("Weight", DType::Float64, Shape{1});
  c.set_output("Roll", DType::Int32, Shape{1});
}

}  // namespace

void define_average_weight(OpTable& ops) {
  ops.add(OpSpec("average_weight")
              .doc("The weight of this step's parameters in their average, for parameter_average: counts the step, and "
                   "the update unless it falls before start_step or between two multiples of `every`, where Weight is "
                   "0. After u updates the weight is 1/u (uniform), (1 - d)/(1 - d^u) with d = decay^every "
                   "(exponential), or 1/n for the n-th of at most window_size updates (window), the last of which sets "
                   "Roll.")
              .input("Counters",
                     "[4] int64: updates, those in this generation, those in the previous one, steps; zeros at first")
              .output("CountersOut", "the variable of Counters")
              .output("Weight", "[1] float64, between 0 and 1; 0: nothing is averaged in this step")
              .output("Roll", "[1] int32: 1 where this update ends a generation of the window")
              .attr("scheme", "window", "how the weight falls", one_of({"window", "uniform", "exponential"}))
              .attr("window_size", int64_t{1}, "updates of one generation; of scheme window", at_least(1))
              .attr("decay", 0.0, "weight that the average keeps in one step; of scheme exponential", between(0, 1))
              .attr("every", int64_t{1}, "steps from one update to the next", at_least(1))
              .attr("start_step", int64_t{0}, "steps that are not averaged", at_least(0))
              .infer(infer_average_weight)
              .no_gradient("counts steps")
              .updates("Counters", "CountersOut")
              .kernel_for_any<AverageWeightKernel>());
}

}  // namespace paddle_mini
