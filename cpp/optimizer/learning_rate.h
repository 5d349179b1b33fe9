// LearningRate: the learning rate of an update as a function of the progress so far.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace paddle_mini {

enum class RatePolicy { Const, Linear, Poly, CaffePoly, Exp, DiscExp, Manual, PassManual, Noam, Cosine };

// proto/optimizer.proto defines the formulas.
struct LearningRate {
  RatePolicy policy = RatePolicy::Const;
  double rate = 1, a = 0, b = 0;  // noam: d_model, warmup_steps; cosine: steps, least
  std::vector<std::pair<double, double>> segments;  // for the manual policies: bound, rate
  double samples_per_update = 1;
  float factor = 1;  // this parameter's

  // The rate after this number of updates, in this pass; without the factor.
  double after(uint64_t updates, int64_t pass) const;

 private:
  double of_segment(double at) const;
};

}  // namespace paddle_mini
