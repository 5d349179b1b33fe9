// average_weight: the weight of the newest parameters in their average, computed once a step for all parameters
#include "math/average_weight.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// Reads the rule from anything that has attributes.
template <class Source>
WeightRule rule_of(const Source& source) {
  WeightRule rule;
  rule.scheme = schemes::All::number_of(source.template attr<std::string>("scheme"));
  std::string warmup = source.template attr<std::string>("warmup");
  rule.warmup = static_cast<DecayWarmup>(std::find(kDecayWarmups, std::end(kDecayWarmups), warmup) - kDecayWarmups);
  for (const auto& one : kRuleNumbers) rule.*one.value = source.template attr<double>(one.name);
  for (const auto& one : kRuleCounts) rule.*one.value = source.template attr<int64_t>(one.name);
  rule.corrected = source.template attr<bool>("bias_correction");
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

  void run(KernelContext& context) override {
    WeightStep step{rule,
                    counters.data(),
                    state.data(),
                    scalar_or(updated, true),
                    scalar_or(finite, true),
                    scalar_or(learning_rate, 1.0),
                    counters_out.data(),
                    state_out.data(),
                    weight.data(),
                    roll.data()};
    for_each_index(context, 1, step);
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
  rule_of(c).require_window();
  c.set_output("CountersOut", DType::Int64, Shape{kAverageCounters});
  c.set_output("StateOut", DType::Float64, Shape{kAverageState});
  c.set_output("Weight", DType::Float64, Shape{1});
  c.set_output("Roll", DType::Int32, Shape{1});
}

template <class T>
void add_attr(OpSchema& schema, const RuleAttr<T>& one) {
  schema.attr(
      one.name, WeightRule().*one.value, one.doc, [limits = one.limits](const std::string& name, const AttrValue& v) {
        double value = static_cast<double>(std::get<T>(v));
        require<ProgramError>(limits.hold(value), "attribute '", name, "' is ", value, ", it must be ", limits.str());
      });
}

std::string weights() {
  std::string all;
  for (size_t i = 0; i < std::size(schemes::All::names); ++i) {
    all += text(i ? "; " : "", schemes::All::docs[i], " (", schemes::All::names[i], ")");
  }
  return all;
}

}  // namespace

void define_average_weight(OpTable& ops) {
  OpSchema schema("average_weight");
  schema
      .doc(
          "Weight = the weight of this step's parameters in their average, for parameter_average. The operator counts "
          "the step. It also counts an update, unless the step is before start_step or between two multiples of "
          "`every`, where Weight is 0. Before the first update Weight is 1, so that the average is the parameter "
          "(scheme constant: 0). For each scheme, the weight after u updates is " +
          weights() + ".")
      .input("Counters",
             "[5] int64: updates, updates in this generation, updates in the previous one, steps, steps that were not "
             "finite; zeros at first")
      .input("State",
             "[7] float64: log of the average's decay, sum of squared weights, mean age of the newer and of the "
             "previous generation, log of all decays, largest rate, sum of squared rates; zeros at first")
      .optional_input("Updated", "one element, bool: false where this run changes no parameter; nothing is counted")
      .optional_input("Finite", "one element, bool: false where a parameter is not finite; the step is skipped")
      .optional_input("LearningRate", "one element; for scheme rate")
      .output("CountersOut", "like Counters")
      .output("StateOut", "like State")
      .output("Weight", "[1] float64, between 0 and 1; 0: nothing is averaged in this step")
      .output("Roll", "[1] int32: 1 where this update ends a generation of the window")
      .attr("scheme", "window", "how the weight decreases",
            one_of({std::begin(schemes::All::names), std::end(schemes::All::names)}))
      .attr("bias_correction", true,
            "whether exponential weights are divided by their sum, instead of a first weight of 1")
      .attr("warmup", "none",
            "the upper bound of the decay at step t: ratio, (1 + t)/(10 + t); power, 1 - (1 + t/length)^-power",
            one_of({std::begin(kDecayWarmups), std::end(kDecayWarmups)}))
      .infer(infer_average_weight)
      .no_gradient("counts steps")
      .updates("Counters", "CountersOut")
      .updates("State", "StateOut")
      .on_gpu()
      .kernel_for_any<AverageWeightKernel>();
  for (const auto& one : kRuleNumbers) add_attr(schema, one);
  for (const auto& one : kRuleCounts) add_attr(schema, one);
  ops.add(std::move(schema));
}

}  // namespace paddle_mini
