// GPU kernels of average_accumulates.
#pragma once

namespace paddle_mini {
namespace {

struct WindowNow {
  const int64_t *updates, *accumulates;
  float window;
  int64_t longest, shortest;

  PM_HD bool ends() const { return window_ends(*updates + 1, *accumulates + 1, window, longest, shortest); }
  PM_HD bool spills() const { return (*updates + 1) % kLongestSum == 0; }
};

template <class T>
struct Accumulate {
  bool ends, spills;
  PM_HD std::tuple<T, T, T> operator()(T param, T sum1, T sum2, T sum3) const {
    if (ends) return {T(0), T(0), (sum1 + param) + sum2};
    if (spills) return {T(0), sum2 + (sum1 + param), sum3};
    return {sum1 + param, sum2, sum3};
  }
};
template <class T>
struct AccumulateRule {
  static constexpr bool batchable = true;
  WindowNow now;
  PM_HD Accumulate<T> bind_scalars() const { return {now.ends(), now.spills()}; }
};

struct CountRule {
  static constexpr bool batchable = true;
  WindowNow now;
  PM_HD std::tuple<int64_t, int64_t, int64_t> operator()(int64_t update, int64_t count, int64_t older) const {
    bool ends = now.ends();
    return {update + 1, ends ? 0 : count + 1, ends ? count + 1 : older};
  }
};

// The counters on the device decide whether the step ends the window, moves sum_1 into sum_2, or does neither.
template <class T>
void AverageAccumulatesKernel<T>::run(KernelContext& context) {
  WindowNow now{updates.data(), accumulates.data(), window, longest, shortest};
  map(context, param.numel(), AccumulateRule<T>{now}, std::tuple(sum1_out.data(), sum2_out.data(), sum3_out.data()),
      param.data(), sum1.data(), sum2.data(), sum3.data());
  map(context, 1, CountRule{now}, std::tuple(updates_out.data(), accumulates_out.data(), old_accumulates_out.data()),
      updates.data(), accumulates.data(), old_accumulates.data());
}

}  // namespace
}  // namespace paddle_mini
