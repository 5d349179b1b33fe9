// average_weight: how much the newest parameters weigh in their average, once a step for all parameters
#include "math/average_weight.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

template <class Choice, size_t n>
Choice choice_of(const char* const (&names)[n], const std::string& name) {
  return static_cast<Choice>(std::find(names, names + n, name) - names);
}

WeightRule rule_of(const KernelInit& init) {
  WeightRule rule;
  rule.scheme = choice_of<WeightScheme>(kWeightSchemes, init.attr<std::string>("scheme"));
  rule.warmup = choice_of<DecayWarmup>(kDecayWarmups, init.attr<std::string>("warmup"));
  rule.window_min = init.attr<int64_t>("window_min");
  rule.window_max = init.attr<int64_t>("window_max");
  rule.every = init.attr<int64_t>("every");
  rule.start_step = init.attr<int64_t>("start_step");
  rule.window_rate = init.attr<double>("window_rate");
  rule.decay = init.attr<double>("decay");
  rule.exponent = init.attr<double>("exponent");
  rule.warmup_length = init.attr<double>("warmup_length");
  rule.warmup_rate = init.attr<double>("warmup_rate");
  rule.warmup_power = init.attr<double>("warmup_power");
  rule.corrected = init.attr<bool>("bias_correction");
  return rule;
}

struct AverageWeightKernel : Kernel {
  In<int64_t> counters;
  In<double> state;
  In<bool> updated, finite;
  NumberIn learning_rate;
  Out<int64_t> counters_out;
  Out<double> state_out, weight;
  Out<int32_t> roll;
  WeightRule rule;

  explicit AverageWeightKernel(KernelInit& init)
      : counters(init, "Counters"), state(init, "State"), updated(init, "Updated", optional_port),
        finite(init, "Finite", optional_port), learning_rate(init, "LearningRate", optional_port),
        counters_out(init, "CountersOut"), state_out(init, "StateOut"), weight(init, "Weight"), roll(init, "Roll"),
        rule(rule_of(init)) {}

  void run(Device& device) override {
    WeightStep step{rule,
                    counters.data(),
                    state.data(),
                    uniform_or(updated, true),
                    uniform_or(finite, true),
                    uniform_or(learning_rate, 1.0),
                    counters_out.data(),
                    state_out.data(),
                    weight.data(),
                    roll.data()};
    for_each_index(device, 1, step);
  }
};

void infer_average_weight(InferContext& c) {
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  require_vector(c, "State", DType::Float64, kAverageState);
  for (const char* port : {"Updated", "Finite"}) {
    if (!c.has_input(port)) continue;
    require_scalar(c, port);
    DType dtype = c.input(port).dtype;
    require<ShapeError>(dtype == DType::Bool, port, " is ", name_of(dtype), ", it must be bool");
  }
  if (c.has_input("LearningRate")) {
    require_scalar(c, "LearningRate");
    require_number(c, "LearningRate");
  }
  double decay = c.attr<double>("decay");
  require<ProgramError>(decay >= 0 && decay < 1, "attribute 'decay' is ", decay, ", it must be at least 0 and below 1");
  for (const char* name : {"window_rate", "warmup_length"}) {
    double value = c.attr<double>(name);
    require<ProgramError>(value > 0, "attribute '", name, "' is ", value, ", it must be above 0");
  }
  int64_t least = c.attr<int64_t>("window_min"), most = c.attr<int64_t>("window_max");
  require<ProgramError>(least <= most, "attribute 'window_min' is ", least, ", more than window_max ", most);
  c.set_output("CountersOut", DType::Int64, Shape{kAverageCounters});
  c.set_output("StateOut", DType::Float64, Shape{kAverageState});
  c.set_output("Weight", DType::Float64, Shape{1});
  c.set_output("Roll", DType::Int32, Shape{1});
}

}  // namespace

void define_average_weight(OpTable& ops) {
  ops.add(
      OpSpec("average_weight")
          .doc("The weight of this step's parameters in their average, for parameter_average: counts the step, and "
               "the update unless it falls before start_step or between two multiples of `every`, where Weight is "
               "0; until there is a first update it is 1, so that the average is the parameter. After u updates the "
               "weight is 1/u (uniform), (e + 1)/(u + e) (polynomial), 1 - (1 - 1/u)^(e + 1) (power) with the "
               "exponent e; (1 - b)/(1 - b_1 ... b_u) with b = decay^every (exponential), 1 - b (constant); "
               "(l + r (u - 1))^-e after a first weight of 1 with the length l, rate r and power e of the warm-up "
               "(falling); 1 once, then 0 (first); g^2 over "
               "the sum of all g^2 with the largest LearningRate g so far (rate); or 1/n for the n-th update of a "
               "generation (window), which ends with n >= window_min and n >= min(window_max, window_rate u), and "
               "sets Roll.")
          .input("Counters",
                 "[5] int64: updates, those in this generation, those in the previous one, steps, steps "
                 "that were not finite; zeros at first")
          .input("State",
                 "[7] float64: log of what the average keeps, squares of the weights, mean age of the "
                 "newer and of the previous generation, log of all decays, largest rate, squares of the "
                 "rates; zeros at first")
          .optional_input("Updated", "one element, bool: false where this run changes no parameter; nothing is counted")
          .optional_input("Finite", "one element, bool: false where a parameter is not finite; the step is skipped")
          .optional_input("LearningRate", "one element; of scheme rate")
          .output("CountersOut", "like Counters")
          .output("StateOut", "like State")
          .output("Weight", "[1] float64, between 0 and 1; 0: nothing is averaged in this step")
          .output("Roll", "[1] int32: 1 where this update ends a generation of the window")
          .attr("scheme", "window", "how the weight falls",
                one_of({std::begin(kWeightSchemes), std::end(kWeightSchemes)}))
          .attr("window_rate", 1.0, "size of a generation as part of all updates; of scheme window")
          .attr("window_min", int64_t{1}, "least updates of a generation", at_least(1))
          .attr("window_max", int64_t{1}, "updates that always end a generation that has window_min", at_least(1))
          .attr("decay", 0.0, "part that the average keeps in one step; of schemes exponential and constant",
                between(0, 1))
          .attr("exponent", 0.0, "e of schemes polynomial and power", at_least(0))
          .attr("bias_correction", true, "whether exponential weights add up to 1 without the first one being 1")
          .attr("warmup", "none",
                "what bounds the decay at step t: ratio, (1 + t)/(10 + t); power, 1 - (1 + t/length)^-power",
                one_of({std::begin(kDecayWarmups), std::end(kDecayWarmups)}))
          .attr("warmup_length", 1.0, "length of warmup power and of scheme falling, in steps")
          .attr("warmup_rate", 1.0, "rate of scheme falling", at_least(0))
          .attr("warmup_power", 2.0 / 3, "power of warmup power and of scheme falling", between(0, 1))
          .attr("every", int64_t{1}, "steps from one update to the next", at_least(1))
          .attr("start_step", int64_t{0}, "steps that are not averaged", at_least(0))
          .infer(infer_average_weight)
          .no_gradient("counts steps")
          .updates("Counters", "CountersOut")
          .updates("State", "StateOut")
          .on_gpu()
          .kernel_for_any<AverageWeightKernel>());
}

}  // namespace paddle_mini
