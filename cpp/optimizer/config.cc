// Converts an OptimizerConfig message to OptimizerConfig. Throws ProgramError for any setting that the library would
// ignore.
#include "optimizer/config.h"

#include "math/average_schemes.h"
#include "optimizer/fields.h"

namespace paddle_mini {
namespace {

// The message of each policy, in the order of their enum.
const char* const kPolicyNames[] = {"const_lr",   "linear_lr", "poly_lr",        "caffe_poly_lr", "exp_lr",
                                    "discexp_lr", "manual_lr", "pass_manual_lr", "noam_lr",       "cosine_lr"};

LearningRate read_learning_rate(const ConfigMessage& config) {
  LearningRate lr;
  int number = config.choice("lr_policy");
  const char* where = kPolicyNames[number];
  lr.policy = static_cast<RatePolicy>(number);
  require<ProgramError>(config.has(where), "the configuration has no learning rate: ", where, " is missing");
  ConfigMessage m = config.message(where);
  Fields f(m, where), all(config, "OptimizerConfig");
  lr.rate = f.least("learning_rate", 0);
  lr.samples_per_update = all.above("samples_per_update", 0);
  lr.factor = rounded(all.least("learning_rate_factor", 0));
  switch (lr.policy) {
    case RatePolicy::Const: break;
    case RatePolicy::Linear:
    case RatePolicy::Poly:
      lr.a = f.least("lr_decay_a", 0);
      lr.b = f.least("lr_decay_b", 0);
      break;
    case RatePolicy::CaffePoly:
      lr.a = f.above("lr_decay_a", 0);
      lr.b = f.least("lr_decay_b", 0);
      break;
    case RatePolicy::Exp:
    case RatePolicy::DiscExp:
      lr.a = f.least("lr_decay_a", 0);
      lr.b = f.above("lr_decay_b", 0);
      break;
    case RatePolicy::Noam:
      lr.a = f.above("d_model", 0);
      lr.b = f.above("warmup_steps", 0);
      break;
    case RatePolicy::Cosine:
      lr.a = f.above("steps", 0);
      lr.b = f.least("least", 0);
      break;
    case RatePolicy::Manual:
    case RatePolicy::PassManual:
      for (const ConfigMessage& segment : m.list("segments")) {
        Fields s(segment, where);
        double bound = s.any("bound");
        bool rises = lr.segments.empty() || bound > lr.segments.back().first;
        require<ProgramError>(rises, where, ".segments: the bounds must be strictly ascending");
        lr.segments.emplace_back(bound, s.least("rate", 0));
      }
      require<ProgramError>(!lr.segments.empty(), where, ".segments is empty");
  }
  return lr;
}

// The fields are the attributes of average_weight.
WeightRule read_average(const ConfigMessage& m) {
  WeightRule rule;
  auto require_limits = [](const auto& one, double value) {
    require<ProgramError>(one.limits.hold(value), "averaging.", one.name, " is ", value, ", it must be ",
                          one.limits.str());
  };
  for (const auto& one : kRuleNumbers) require_limits(one, rule.*one.value = m.number(one.name));
  for (const auto& one : kRuleCounts) {
    rule.*one.value = m.integer(one.name);
    require_limits(one, static_cast<double>(rule.*one.value));
  }
  rule.scheme = schemes::All::number_of(m.choice_name("scheme"));
  rule.warmup = static_cast<DecayWarmup>(m.choice("warmup"));
  rule.corrected = m.flag("bias_correction");
  rule.require_window();
  return rule;
}

void refuse_other_messages(const ConfigMessage& config, const char* kind, const char* policy) {
  for (const std::string& name : config.messages()) {
    bool is_policy = name.size() > 3 && name.compare(name.size() - 3, 3, "_lr") == 0;
    const char* chosen = is_policy ? policy : kind;
    const char* choice = is_policy ? "lr_policy" : "optimizer";
    require<ProgramError>(name == chosen, "the configuration has ", name, ", but ", choice, " is ",
                          config.choice_name(choice));
  }
}

}  // namespace

OptimizerConfig parse_config(std::string_view bytes) {
  ConfigMessage m = ConfigMessage::parse(bytes);
  OptimizerConfig c;
  c.kind = find_kind(m.choice("optimizer"));
  require<ProgramError>(c.kind, "this version does not have the optimizer ", m.choice_name("optimizer"));
  const char* where = c.kind->message;
  refuse_other_messages(m, where, kPolicyNames[m.choice("lr_policy")]);
  Fields f(m, "OptimizerConfig");
  c.learning_rate = read_learning_rate(m);
  c.l1 = rounded(f.least("l1_rate", 0));
  c.l2 = rounded(f.least("l2_rate", 0));
  if (m.has("clip_norm")) c.clip_norm = rounded(f.above("clip_norm", 0));
  if (m.has("clip_value")) c.clip_value = rounded(f.above("clip_value", 0));
  require<ProgramError>(c.clip_norm == 0 || c.clip_value == 0, "clip_norm and clip_value are both given");
  ConfigMessage arguments = m.message(where);
  c.kind->read(Fields(arguments, where), c);
  c.nan_policy = static_cast<NanPolicy>(m.choice("nan_policy"));
  c.row_policy = static_cast<RowPolicy>(m.choice("row_policy"));
  c.row_width = m.integer("row_width");
  for (const ConfigMessage& average : m.list("averaging")) c.averages.push_back(read_average(average));
  return c;
}

}  // namespace paddle_mini
