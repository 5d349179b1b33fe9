// Sums of products over labelled axes on a GPU: a thread computes an element of the result.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"

namespace paddle_mini {

template <class T>
struct LabelledSum {
  static constexpr int kOperands = 8, kLoops = 24;
  struct Loop {
    int64_t size, to_step, steps[kOperands];
  };

  Loop loops[kLoops];  // loops over the result's labels come first
  int count = 0, remaining = 0, operands = 0;
  const T* in[kOperands];
  T* to;

  PM_HD void move(int64_t (&at)[kOperands], const Loop& loop, int64_t by) const {
    for (int o = 0; o < operands; ++o) at[o] += loop.steps[o] * by;
  }

  PM_HD void operator()(int64_t i) const {
    int64_t at[kOperands] = {}, index[kLoops] = {}, out = 0;
    for (int d = remaining - 1; d >= 0; --d) {
      int64_t here = i % loops[d].size;
      i /= loops[d].size;
      out += here * loops[d].to_step;
      move(at, loops[d], here);
    }
    double total = 0;
    for (int d = count; d >= remaining;) {
      double product = 1;
      for (int o = 0; o < operands; ++o) product *= static_cast<double>(in[o][at[o]]);
      total += product;
      for (d = count - 1; d >= remaining; --d) {
        move(at, loops[d], 1);
        if (++index[d] < loops[d].size) break;
        move(at, loops[d], -loops[d].size);
        index[d] = 0;
      }
    }
    to[out] = static_cast<T>(total);
  }
};

inline void require_loops(size_t operands, size_t labels) {
  bool fits = operands <= LabelledSum<float>::kOperands && labels <= LabelledSum<float>::kLoops;
  require<DeviceError>(fits, "the equation has ", operands, " operands and ", labels, " labels, a GPU takes ",
                       LabelledSum<float>::kOperands, " and ", LabelledSum<float>::kLoops);
}

template <class T>
void LabelledLoops::run(KernelContext& context, const std::vector<const T*>& in, T* to) {
  fill_n(context, to, to_numel_, T(0));
  if (nothing_) return;
  LabelledSum<T> sum;
  sum.count = static_cast<int>(loops_.size());
  sum.remaining = static_cast<int>(kept_);
  sum.operands = static_cast<int>(in.size());
  sum.to = to;
  std::copy(in.begin(), in.end(), sum.in);
  int64_t elements = 1;
  for (size_t i = 0; i < loops_.size(); ++i) {
    sum.loops[i].size = loops_[i].size;
    sum.loops[i].to_step = loops_[i].to_step;
    std::copy(loops_[i].steps.begin(), loops_[i].steps.end(), sum.loops[i].steps);
    if (i < kept_) elements *= loops_[i].size;
  }
  for_each_index(context, elements, sum);
}

}  // namespace paddle_mini
