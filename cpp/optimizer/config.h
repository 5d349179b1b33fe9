// OptimizerConfig: what proto/optimizer.proto says, checked, as the library uses it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "math/average_rule.h"
#include "optimizer/learning_rate.h"

namespace paddle_mini {

// Numbers of the formulas, as precise as the attributes of the operators, so that both give the same bits. Where a
// formula has no such number it is 0.
struct Hyper {
  float momentum = 0, beta1 = 0, beta2 = 0, epsilon = 0, rho = 0, l1 = 0, l2 = 0, power = 0;
  float coefficient = 0, rescale = 0, inner_decay = 0;  // of Lars; the last also of Lamb
  float clip = 0, batch_size = 0, sigma = 0;            // of Dpsgd
  bool nesterov = false, centered = false, always_adapt = false;
  uint32_t seed = 0;
  double first_power1 = 1, first_power2 = 1;  // beta1, beta2 as they were given
  double accumulator = 0;                     // what the squares begin with
};

class Fields;
struct OptimizerConfig;

// One row of the table of optimizers (kinds.h).
struct OptimizerKind {
  int number;           // in enum Optimizer of optimizer.proto
  const char* message;  // the field of OptimizerConfig that has its arguments
  int index;            // in the tables of loops
  bool takes_norms;
  int (*arrays)(const Hyper&);
  bool (*measures)(const Hyper&);
  void (*read)(const Fields&, OptimizerConfig&);
};
// nullptr where there is none.
const OptimizerKind* find_kind(int64_t number);

enum class NanPolicy { Apply, Refuse, Skip };
enum class RowPolicy { Lazy, LikeZeros };

struct OptimizerConfig {
  const OptimizerKind* kind = nullptr;
  Hyper hyper;
  LearningRate learning_rate;
  float clip_norm = 0, clip_value = 0;  // 0: not clipped
  float l1 = 0, l2 = 0;                 // added to the gradient
  float decay = 0;                      // beside the gradient
  NanPolicy nan_policy = NanPolicy::Apply;
  RowPolicy row_policy = RowPolicy::Lazy;
  int64_t row_width = 0;  // 0: what the first call with rows has
  std::vector<WeightRule> averages;
};

// ProgramError, saying which field, when it can't be obeyed.
OptimizerConfig parse_config(std::string_view bytes);

}  // namespace paddle_mini
