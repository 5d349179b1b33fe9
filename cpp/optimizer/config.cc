// Converts an OptimizerConfig message to OptimizerConfig. Throws ProgramError for any setting that the library would
// ignore.
#include "optimizer/config.h"

#include "core/error.h"
#include "optimizer/config_message.h"

namespace paddle_mini {
namespace {

// The message of each kind and policy, in the order of their enums.
const char* const kKindNames[] = {
    "sgd",  "adadelta", "adagrad",         "adam",  "adamax",      "rmsprop",         "ftrl",
    "lamb", "lars",     "decayed_adagrad", "dpsgd", "proximal_gd", "proximal_adagrad"};
const char* const kPolicyNames[] = {"const_lr",   "linear_lr", "poly_lr",        "caffe_poly_lr", "exp_lr",
                                    "discexp_lr", "manual_lr", "pass_manual_lr", "noam_lr",       "cosine_lr"};

class Fields {
 public:
  explicit Fields(const ConfigMessage& message, const char* where) : message_(message), where_(where) {}

  double any(const char* name) const { return message_.number(name); }
  double least(const char* name, double least) const {
    double value = any(name);
    require<ProgramError>(value >= least, where_, ".", name, " is ", value, ", it must be at least ", least);
    return value;
  }
  double above(const char* name, double bound) const {
    double value = any(name);
    require<ProgramError>(value > bound, where_, ".", name, " is ", value, ", it must be above ", bound);
    return value;
  }
  double part(const char* name) const {  // a fraction in [0, 1)
    double value = least(name, 0);
    require<ProgramError>(value < 1, where_, ".", name, " is ", value, ", it must be below 1");
    return value;
  }

 private:
  const ConfigMessage& message_;
  const char* where_;
};

float rounded(double value) { return static_cast<float>(value); }

// AdamConfig, AdamaxConfig and LambConfig have these fields in common.
void read_betas(const Fields& f, Hyper& h) {
  h.first_power1 = f.part("beta_1");
  h.first_power2 = f.part("beta_2");
  h.beta1 = rounded(h.first_power1);
  h.beta2 = rounded(h.first_power2);
  h.epsilon = rounded(f.least("epsilon", 0));
}

void read_sgd(const ConfigMessage& m, const Fields& f, OptimizerConfig& c) {
  c.hyper.momentum = rounded(f.least("momentum", 0));
  c.hyper.nesterov = m.flag("nesterov");
  require<ProgramError>(!c.hyper.nesterov || c.hyper.momentum > 0, "sgd.nesterov needs a momentum above 0");
  c.l2 = rounded(static_cast<double>(c.l2) + f.least("decay", 0));
}

void read_squares(const Fields& f, const char* rho, OptimizerConfig& c) {
  c.hyper.rho = rounded(f.part(rho));
  c.hyper.epsilon = rounded(f.least("epsilon", 0));
}

void read_lars(const Fields& f, Hyper& h) {
  h.momentum = rounded(f.least("momentum", 0));
  h.coefficient = rounded(f.above("lars_coeff", 0));
  h.inner_decay = rounded(f.least("lars_weight_decay", 0));
  h.epsilon = rounded(f.least("epsilon", 0));
  h.rescale = rounded(f.any("rescale_grad"));
}

void read_dpsgd(const ConfigMessage& m, const Fields& f, Hyper& h) {
  h.clip = rounded(f.above("clip", 0));
  h.batch_size = rounded(f.above("batch_size", 0));
  h.sigma = rounded(f.least("sigma", 0));
  h.seed = static_cast<uint32_t>(m.integer("seed"));
}

void read_penalties(const Fields& f, Hyper& h) {
  h.l1 = rounded(f.least("l1", 0));
  h.l2 = rounded(f.least("l2", 0));
}

void read_kind(const ConfigMessage& m, const char* where, OptimizerConfig& c) {
  Fields f(m, where);
  Hyper& h = c.hyper;
  switch (c.kind) {
    case OptimizerKind::Sgd: return read_sgd(m, f, c);
    case OptimizerKind::Adadelta:
      read_squares(f, "rho", c);
      c.decay = rounded(f.least("decay", 0));
      return;
    case OptimizerKind::Adagrad:
      h.epsilon = rounded(f.least("epsilon", 0));
      h.accumulator = f.least("initial_accumulator_value", 0);
      c.decay = rounded(f.least("decay", 0));
      return;
    case OptimizerKind::Adam:
      read_betas(f, h);
      c.decay = rounded(f.least("decay", 0));
      return;
    case OptimizerKind::Adamax: return read_betas(f, h);
    case OptimizerKind::Rmsprop:
      read_squares(f, "rho", c);
      h.momentum = rounded(f.least("momentum", 0));
      h.centered = m.flag("centered");
      return;
    case OptimizerKind::Ftrl:
      read_penalties(f, h);
      h.power = rounded(f.any("lr_power"));
      require<ProgramError>(h.power <= 0, where, ".lr_power is ", h.power, ", it must be at most 0");
      return;
    case OptimizerKind::Lamb:
      read_betas(f, h);
      h.inner_decay = rounded(f.least("weight_decay", 0));
      h.always_adapt = m.flag("always_adapt");
      return;
    case OptimizerKind::Lars: return read_lars(f, h);
    case OptimizerKind::DecayedAdagrad: return read_squares(f, "decay", c);
    case OptimizerKind::Dpsgd: return read_dpsgd(m, f, h);
    case OptimizerKind::ProximalGd:
      require<ProgramError>(!m.has("initial_accumulator_value"), where, " keeps no accumulator");
      return read_penalties(f, h);
    case OptimizerKind::ProximalAdagrad:
      read_penalties(f, h);
      h.accumulator = f.least("initial_accumulator_value", 0);
      return;
  }
}

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

// Checks the same limits as the attributes of average_weight.
WeightRule read_average(const ConfigMessage& m) {
  Fields f(m, "averaging");
  WeightRule rule;
  rule.scheme = static_cast<WeightScheme>(m.choice("scheme"));
  rule.warmup = static_cast<DecayWarmup>(m.choice("warmup"));
  rule.window_min = m.integer("window_min");
  rule.window_max = m.integer("window_max");
  rule.every = m.integer("every");
  rule.start_step = m.integer("start_step");
  bool counts = rule.window_min >= 1 && rule.window_max >= rule.window_min && rule.every >= 1 && rule.start_step >= 0;
  require<ProgramError>(counts,
                        "averaging: window_min and `every` are at least 1, window_max at least window_min, "
                        "start_step at least 0");
  rule.window_rate = f.above("window_rate", 0);
  rule.decay = f.part("decay");
  rule.exponent = f.least("exponent", 0);
  rule.warmup_length = f.above("warmup_length", 0);
  rule.warmup_rate = f.least("warmup_rate", 0);
  rule.warmup_power = f.least("warmup_power", 0);
  bool at_most_1 = rule.warmup_power <= 1;
  require<ProgramError>(at_most_1, "averaging.warmup_power is ", rule.warmup_power, ", it must be at most 1");
  rule.corrected = m.flag("bias_correction");
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

const char* name_of(OptimizerKind kind) { return kKindNames[static_cast<int>(kind)]; }

OptimizerConfig parse_config(std::string_view bytes) {
  ConfigMessage m = ConfigMessage::parse(bytes);
  OptimizerConfig c;
  int kind = m.choice("optimizer") - 1;
  const char* where = kKindNames[kind];
  c.kind = static_cast<OptimizerKind>(kind);
  refuse_other_messages(m, where, kPolicyNames[m.choice("lr_policy")]);
  Fields f(m, "OptimizerConfig");
  c.learning_rate = read_learning_rate(m);
  c.l1 = rounded(f.least("l1_rate", 0));
  c.l2 = rounded(f.least("l2_rate", 0));
  if (m.has("clip_norm")) c.clip_norm = rounded(f.above("clip_norm", 0));
  if (m.has("clip_value")) c.clip_value = rounded(f.above("clip_value", 0));
  require<ProgramError>(c.clip_norm == 0 || c.clip_value == 0, "clip_norm and clip_value are both given");
  read_kind(m.message(where), where, c);
  c.nan_policy = static_cast<NanPolicy>(m.choice("nan_policy"));
  c.row_policy = static_cast<RowPolicy>(m.choice("row_policy"));
  c.row_width = m.integer("row_width");
  for (const ConfigMessage& average : m.list("averaging")) c.averages.push_back(read_average(average));
  return c;
}

}  // namespace paddle_mini
