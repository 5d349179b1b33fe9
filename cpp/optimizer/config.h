// OptimizerConfig: the checked settings of proto/optimizer.proto in the form that the library uses.
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
  float coefficient = 0, rescale = 0, inner_decay = 0;  // for Lars; inner_decay also for Lamb
  float clip = 0, batch_size = 0, sigma = 0;            // for Dpsgd
  bool nesterov = false, centered = false, always_adapt = false;
  uint32_t seed = 0;
  double first_power1 = 1, first_power2 = 1;  // beta1 and beta2 in the given precision
  double accumulator = 0;                     // initial value of the squares
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
  float clip_norm = 0, clip_value = 0;  // 0: no clipping
  float l1 = 0, l2 = 0;                 // added to the gradient
  float decay = 0;                      // decoupled weight decay
  NanPolicy nan_policy = NanPolicy::Apply;
  RowPolicy row_policy = RowPolicy::Lazy;
  int64_t row_width = 0;  // 0: taken from the first call with rows
  std::vector<WeightRule> averages;
};

// Throws ProgramError naming the field if the bytes are not a valid configuration.
OptimizerConfig parse_config(std::string_view bytes);

}  // namespace paddle_mini
