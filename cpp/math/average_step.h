// Averaging steps on one element, for the averaging operators and for the C library (cpp/optimizer).
#pragma once

#include <tuple>

#include "core/target.h"

namespace paddle_mini {

// Subtracts, multiplies and adds with separate rounding, so every device gives the same bits.
template <class T>
struct Lerp {
  T weight;
  template <class V>
  PM_HD V operator()(V average, V param) const {
    return average + V(weight) * (param - average);
  }
};

// Compensated update (Kahan 1965): the next step subtracts the rounding error of this one.
template <class T>
struct CompensatedLerp {
  T weight;
  template <class V>
  PM_HD std::tuple<V, V> operator()(V average, V residue, V param) const {
    V step = V(weight) * (param - average) - residue, sum = average + step;
    return {sum, (sum - average) - step};
  }
};

// Inverts a step of weight w < 1: the average and residue before it, up to rounding.
template <class T>
inline std::tuple<T, T> before_compensated_step(double w, T average, T residue, T param) {
  double mean = static_cast<double>(average) - static_cast<double>(residue);
  double before = mean + (mean - static_cast<double>(param)) * (w / (1 - w));
  T rounded = static_cast<T>(before);
  return {rounded, static_cast<T>(static_cast<double>(rounded) - before)};
}

}  // namespace paddle_mini
