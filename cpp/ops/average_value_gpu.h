// GPU kernels of average_value.
#pragma once

namespace paddle_mini {
namespace {

// The mean of both generations. P is the element type of Param.
template <class T>
struct ValueNow {
  bool none;  // true before the first update
  T share;    // weight of the previous generation

  PM_HD T mean(T now, T before) const {
    return share == T(0) ? now : share == T(1) ? before : now + share * (before - now);
  }
  template <class P>
  PM_HD P operator()(P param, T now, T before) const {
    return none ? param : convert_element<P>(mean(now, before));
  }
  template <class P>
  PM_HD P operator()(P param, T now) const {
    return none ? param : convert_element<P>(now);
  }
};

template <class T>
struct ValueRule {
  static constexpr bool batchable = true;
  const int64_t* counters;
  bool has_previous;

  PM_HD ValueNow<T> bind_scalars() const {
    double newer = static_cast<double>(counters[kNewer]), older = static_cast<double>(counters[kOlder]);
    T share = has_previous && older > 0 ? static_cast<T>(older / (newer + older)) : T(0);
    return {counters[kUpdates] == 0, share};
  }
};

template <class T>
struct BlockValueNow {
  BlockValue<T> value;
  template <class P>
  PM_HD P operator()(P param, T now, T block, T before) const {
    return value.none ? param : convert_element<P>(value(convert_element<T>(param), now, block, before));
  }
  template <class P>
  PM_HD P operator()(P param, T now, T block) const {
    return (*this)(param, now, block, T(0));
  }
};

template <class T>
struct BlockValueRule {
  static constexpr bool batchable = true;
  const int64_t* counters;
  const double* sums;
  bool has_previous;
  PM_HD BlockValueNow<T> bind_scalars() const { return {BlockValue<T>(counters, sums, has_previous)}; }
};

// Computes an element of a row with its averages brought up to date, since no gradient has named the row after its
// stamp (average_state.h).
template <class T>
struct RowValue {
  ValueRule<T> rule;
  const T *param, *average, *block, *previous;
  const double *state, *stamps;
  T* out;
  int64_t width;

  PM_HD void operator()(int64_t at) const {
    ValueNow<T> value = rule.bind_scalars();
    if (value.none) {
      out[at] = param[at];
      return;
    }
    RowClock clock(rule.counters, state, rule.has_previous);
    double stamp = stamps[at / width];
    if (block) {
      BlockValue<T> precise(rule.counters, clock, stamp, rule.has_previous);
      out[at] = precise(param[at], average[at], block[at], rule.has_previous ? previous[at] : T(0));
      return;
    }
    T p = param[at], now = average[at], older = rule.has_previous ? previous[at] : T(0);
    if (rule.has_previous && clock.rolled(stamp)) older = towards(clock.decay_of_previous(stamp), now, p);
    now = towards(clock.decay(stamp), now, p);
    out[at] = value.share == T(0) ? now : now + value.share * (older - now);
  }

  PM_HD static T towards(double decay, T average, T p) {
    if (decay == 1 || !(p - p == T(0))) return average;
    return p + static_cast<T>(decay) * (average - p);
  }
};

template <class T>
struct AverageValueKernel : Kernel {
  const Tensor &param, &out;
  In<T> average, block, previous;
  In<int64_t> counters;
  In<double> sums, state, stamps;

  explicit AverageValueKernel(KernelInit& init)
      : param(init.input("Param")->tensor), out(init.output("Out")->tensor), average(init, "Average"),
        block(init, "Block", optional_port), previous(init, "Previous", optional_port), counters(init, "Counters"),
        sums(init, "Sums", optional_port), state(init, "State", optional_port),
        stamps(init, "RowStamps", optional_port) {}

  void run(KernelContext& context) override {
    if (stamps) run_rows(context);
    else if (param.dtype == DType::Float16) run_from<Float16>(context);
    else if (param.dtype == DType::BFloat16) run_from<BFloat16>(context);
    else run_from<T>(context);
  }

  template <class P>
  void run_from(KernelContext& context) {
    if (block) return run_blocks<P>(context);
    ValueRule<T> rule{counters.data(), static_cast<bool>(previous)};
    const P* from = static_cast<const P*>(param.data);
    P* to = static_cast<P*>(out.data);
    if (previous) map(context, average.numel(), rule, to, from, average.data(), previous.data());
    else map(context, average.numel(), rule, to, from, average.data());
  }

  template <class P>
  void run_blocks(KernelContext& context) {
    BlockValueRule<T> rule{counters.data(), sums.data(), static_cast<bool>(previous)};
    const P* from = static_cast<const P*>(param.data);
    P* to = static_cast<P*>(out.data);
    int64_t n = average.numel();
    if (previous) map(context, n, rule, to, from, average.data(), block.data(), previous.data());
    else map(context, n, rule, to, from, average.data(), block.data());
  }

  void run_rows(KernelContext& context) {
    const T *from = static_cast<const T*>(param.data), *older = previous ? previous.data() : nullptr;
    int64_t n = average.numel();
    RowValue<T> value{{counters.data(), static_cast<bool>(previous)},
                      from,
                      average.data(),
                      block ? block.data() : nullptr,
                      older,
                      state.data(),
                      stamps.data(),
                      static_cast<T*>(out.data),
                      n ? n / stamps.numel() : 1};
    for_each_index(context, n, value);
  }
};

}  // namespace
}  // namespace paddle_mini
