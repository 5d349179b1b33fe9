// A step of an average in blocks (math/average_blocks.h) on a GPU.
#pragma once

#include <tuple>

#include "core/kernel.h"
#include "math/average_blocks.h"
#include "math/convert_element.h"
#include "math/gpu/report_fault.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

namespace block_average_gpu {

// Values common to all elements, computed once by the thread that updates the sums.
template <class T>
struct Shared {
  BlockStep<T> step;
  double shift, part;  // factors of the average before the step
  double weight;       // weight of the newest parameters in the average
  bool rolls;
};

template <class T>
struct SharedRule {
  static constexpr bool batchable = true, goes_ahead = true;  // it reads the weight and the sums only
  ScalarArg<double> weight;
  ScalarArg<int32_t> roll;
  const double* sums;
  double* sums_out;
  Shared<T>* to;

  // The map writes the first sum, so launches of several parameters can be batched; others are written directly.
  PM_HD double operator()(double) const {
    double w = weight();
    BlockMean<T> before(sums);
    Shared<T> all{block_step<T>(sums, w), before.shift, before.part, w, roll() != 0 && w != 0};
    double first = all.rolls ? sums[0] : all.step.sums[0];
    for (int i = 1; i < kAverageSums; ++i) sums_out[i] = all.rolls ? sums[i] : all.step.sums[i];
    *to = all;
    return first;
  }
};

template <class T>
struct Element {
  Shared<T> all;
  const T* averages;
  bool checks;
  Fault* fault;
  unsigned long long at_step;

  // Returns the new average, block and previous average. A value that is not finite is replaced by the average, which
  // the step then leaves unchanged.
  template <class P>
  PM_DEVICE std::tuple<T, T, T> operator()(T average, T block, T previous, P param) const {
    const BlockStep<T>& step = all.step;
    if (step.move == Move::None) return {average, block, previous};
    T p = convert_element<T>(param);
    double mean = mean_of(average, block);
    if (checks && !(p - p == T(0))) {
      report_fault(fault, at_step, 0, 0);
      p = static_cast<T>(mean);
    }
    if (all.rolls) {
      double moved = mean + all.weight * (static_cast<double>(p) - mean);
      return {average, previous, step.move == Move::Begin ? p : static_cast<T>(moved)};
    }
    if (step.move == Move::Begin) return {p, T(0), previous};
    if (step.move == Move::Add) return {average, AddToBlock<T>{step.weight}(block, p), previous};
    auto [to, rest] = EndBlock<T>(step)(average, block, p);
    return {to, rest, previous};
  }
  template <class P>
  PM_DEVICE std::tuple<T, T> operator()(T average, T block, P param) const {
    auto [to, rest, previous] = (*this)(average, block, T(0), param);
    return {to, rest};
  }

  // Most steps only add to the block: they need neither the average nor its previous value, which stay as they are.
  static constexpr size_t short_output = 1;
  PM_DEVICE bool is_short() const { return all.step.move == Move::Add && !all.rolls; }
  template <class P>
  PM_DEVICE T run_short(int64_t at, T block, P param) const {
    T p = convert_element<T>(param);
    if (checks && !(p - p == T(0))) {
      report_fault(fault, at_step, 0, 0);
      p = static_cast<T>(mean_of(averages[at], block));
    }
    return AddToBlock<T>{all.step.weight}(block, p);
  }
  PM_DEVICE double mean_of(T average, T block) const {
    double a = static_cast<double>(average);
    return a + (all.shift * a + static_cast<double>(block)) * all.part;
  }
};

template <class T>
struct ElementRule {
  static constexpr bool batchable = true;
  const Shared<T>* all;
  const T* averages;
  bool checks;
  Fault* fault;
  unsigned long long at_step;
  PM_HD Element<T> bind_scalars() const { return {*all, averages, checks, fault, at_step}; }
};

}  // namespace block_average_gpu

}  // namespace paddle_mini
