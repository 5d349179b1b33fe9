// average_weight: how much the newest parameters weigh in their average, once a step for all parameters
#include "math/average_state.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// The average is a <- a + w (p - a) with the weight w worked out here, so a scheme is only a sequence of weights.
// With u updates so far, this one counted, of every k-th step, b the decay of k steps (Ruppert 1988, Polyak & Juditsky
// 1992; Shamir & Zhang 2013; Karras et al. 2024; Kingma & Ba 2015 for the correction; Defazio et al. 2024):
//   uniform      w = 1 / u
//   polynomial   w = (e + 1) / (u + e): the s-th step weighs about s^e
//   power        w = 1 - (1 - 1/u)^(e + 1): the part before s of all weights is (s/u)^(e + 1)
//   exponential  w = (1 - b_u) / (1 - b_1 ... b_u): unbiased from the first update on; without correction 1 - b_u after
//                a first weight of 1
//   window       w = 1 / n for the n-th parameters of this generation
//   constant     w = 1 - b from the first update on, upon what the average was before
//   falling      w = (l + r (u - 1))^-e after a first weight of 1 (Block & Zhang 2025)
//   first        w = 1 once, then 0: the parameters where averaging began
//   rate         w = g_u^2 / (g_1^2 + ... + g_u^2) with the largest learning rate g so far
enum class WeightScheme { Window, Uniform, Polynomial, Power, Exponential, Constant, Falling, First, Rate };
const char* const kWeightSchemes[] = {"window",   "uniform", "polynomial", "power", "exponential",
                                      "constant", "falling", "first",      "rate"};
enum class DecayWarmup { None, Ratio, Power };
const char* const kDecayWarmups[] = {"none", "ratio", "power"};

template <class Choice, size_t n>
Choice choice_of(const char* const (&names)[n], const std::string& name) {
  return static_cast<Choice>(std::find(names, names + n, name) - names);
}

// What the attributes say.
struct WeightRule {
  WeightScheme scheme;
  DecayWarmup warmup;
  int64_t window_min, window_max, every, start_step;
  double window_rate, decay, exponent, warmup_length, warmup_rate, warmup_power;
  bool corrected;

  explicit WeightRule(const KernelInit& init)
      : scheme(choice_of<WeightScheme>(kWeightSchemes, init.attr<std::string>("scheme"))),
        warmup(choice_of<DecayWarmup>(kDecayWarmups, init.attr<std::string>("warmup"))),
        window_min(init.attr<int64_t>("window_min")), window_max(init.attr<int64_t>("window_max")),
        every(init.attr<int64_t>("every")), start_step(init.attr<int64_t>("start_step")),
        window_rate(init.attr<double>("window_rate")), decay(init.attr<double>("decay")),
        exponent(init.attr<double>("exponent")), warmup_length(init.attr<double>("warmup_length")),
        warmup_rate(init.attr<double>("warmup_rate")), warmup_power(init.attr<double>("warmup_power")),
        corrected(init.attr<bool>("bias_correction")) {}
};

// One step. It is one thread's work, wherever counters and state are, so that nobody waits for them.
struct WeightStep {
  WeightRule rule;
  const int64_t* counters;
  const double* state;
  Uniform<bool> updated, finite;
  Uniform<double> learning_rate;
  int64_t* count;
  double *kept, *weight;
  int32_t* roll;

  PM_HD void operator()(int64_t) const {
    for (int i = 0; i < kAverageCounters; ++i) count[i] = counters[i];
    for (int i = 0; i < kAverageState; ++i) kept[i] = state[i];
    *weight = 0;
    *roll = 0;
    if (!updated()) return;
    ++count[kSteps];
    kept[kAge] += 1;
    kept[kOlderAge] += 1;
    if (!finite()) {
      ++count[kSkipped];
      return;
    }
    int64_t step = count[kSteps] - rule.start_step;
    bool counts = step > 0 && step % rule.every == 0;
    if (counts) ++count[kUpdates];
    // Until there is a first update the average is the parameter itself.
    double w = 0;
    if (counts) w = weight_of_update();
    else if (count[kUpdates] == 0 && rule.scheme != WeightScheme::Constant) w = 1;
    *weight = w;
    if (count[kUpdates] > 0) kept[kLogKept] += w == 1 ? kForget : std::log1p(-w);
    note_members(w);
    if (counts && rule.scheme == WeightScheme::Window) end_generation();
  }

  PM_HD double weight_of_update() const {
    double u = static_cast<double>(count[kUpdates]);
    switch (rule.scheme) {
      case WeightScheme::Uniform: return 1 / u;
      case WeightScheme::Polynomial: return (rule.exponent + 1) / (u + rule.exponent);
      case WeightScheme::Power: return -std::expm1((rule.exponent + 1) * std::log1p(-1 / u));
      case WeightScheme::Constant: return -std::expm1(log_decay(u));
      case WeightScheme::First: return u == 1 ? 1.0 : 0.0;
      case WeightScheme::Falling:
        return u == 1 ? 1.0 : std::pow(rule.warmup_length + rule.warmup_rate * (u - 1), -rule.warmup_power);
      case WeightScheme::Rate: return rate_weight();
      case WeightScheme::Window: return 1 / static_cast<double>(++count[kNewer]);
      case WeightScheme::Exponential: break;
    }
    double log = log_decay(u);
    kept[kLogDecay] += log;
    if (rule.corrected) return std::expm1(log) / std::expm1(kept[kLogDecay]);
    return u == 1 ? 1.0 : -std::expm1(log);
  }

  // log b_u; expm1 keeps all digits of 1 - b where b is close to 1. Warming up, a short history is forgotten faster.
  PM_HD double log_decay(double u) const {
    double step = u * static_cast<double>(rule.every), b = rule.decay;
    if (rule.warmup == DecayWarmup::Ratio) b = std::min(b, (1 + step) / (10 + step));
    if (rule.warmup == DecayWarmup::Power) {
      b = std::min(b, 1 - std::pow(1 + step / rule.warmup_length, -rule.warmup_power));
    }
    return std::log(b) * static_cast<double>(rule.every);
  }

  PM_HD double rate_weight() const {
    kept[kRateMost] = std::max(kept[kRateMost], learning_rate());
    double square = kept[kRateMost] * kept[kRateMost];
    kept[kRateSum] += square;
    return kept[kRateSum] > 0 ? square / kept[kRateSum] : 1.0;
  }

  PM_HD void note_members(double w) const {
    kept[kSquares] = (1 - w) * (1 - w) * kept[kSquares] + w * w;
    kept[kAge] *= 1 - w;
  }

  PM_HD void end_generation() const {
    double wanted =
        std::min(static_cast<double>(rule.window_max), static_cast<double>(count[kUpdates]) * rule.window_rate);
    if (count[kNewer] < rule.window_min || static_cast<double>(count[kNewer]) < wanted) return;
    *roll = 1;
    count[kOlder] = count[kNewer];
    count[kNewer] = 0;
    kept[kOlderAge] = kept[kAge];
  }
};

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
        rule(init) {}

  void run(Device& device) override {
    WeightStep step{rule, counters.data(), state.data(), uniform_or(updated, true), uniform_or(finite, true),
                    uniform_or(learning_rate, 1.0), counters_out.data(), state_out.data(), weight.data(), roll.data()};
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
  ops.add(OpSpec("average_weight")
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
              .input("Counters", "[5] int64: updates, those in this generation, those in the previous one, steps, steps "
                                 "that were not finite; zeros at first")
              .input("State", "[7] float64: log of what the average keeps, squares of the weights, mean age of the "
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
