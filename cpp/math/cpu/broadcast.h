// Loops of Broadcast on a CPU.
#pragma once

#include "math/copy.h"
#include "math/cpu/each_row.h"
#include "math/map.h"

namespace paddle_mini {

template <class T, class F>
void Broadcast::map(KernelContext& context, F f, const T* x, const T* y, T* out) const {
  constexpr int64_t kUnit = 256;  // ranges begin with short rows
  const LoopSize size{numel_, bytes_cost(3.0 * sizeof(T)), std::clamp<int64_t>(inner_.size, 1, kUnit)};
  parallel_for(context, size, [&](int64_t begin, int64_t end) { map_range(begin, end, f, x, y, out); });
}

template <class T, class F>
void Broadcast::map_range(int64_t begin, int64_t end, F f, const T* x, const T* y, T* out) const {
  const int64_t n = inner_.size;
  if (begin == end) return;
  auto map_part = [&](int64_t row, const std::array<int64_t, 2>& at) {
    const int64_t left = std::max<int64_t>(begin - row * n, 0), right = std::min(end - row * n, n);
    map_row(right - left, f, x + at[0] + left * inner_.x_step, y + at[1] + left * inner_.y_step, out + row * n + left);
  };
  const int64_t first = begin / n, last = (end - 1) / n + 1;
  if (outer_.size() > 1) return each_row(outer_, {}, first, last, map_part);
  const auto steps = outer_.empty() ? std::array<int64_t, 2>{} : outer_[0].steps();
  for (int64_t row = first; row < last; ++row) map_part(row, {row * steps[0], row * steps[1]});
}

template <class T, class F>
void Broadcast::map_row(int64_t n, F f, const T* x, const T* y, T* out) const {
  if (inner_.x_step && inner_.y_step) {
    map_loop::run(n, f, out, x, y);
  } else if (inner_.x_step) {
    auto constant = computed(*y);
    map_loop::run(n, [f, constant](auto a) { return f(a, decltype(a)(constant)); }, out, x);
  } else {
    auto constant = computed(*x);
    map_loop::run(n, [f, constant](auto b) { return f(decltype(b)(constant), b); }, out, y);
  }
}

template <class T, bool ToX, class F, class To>
void Broadcast::sum_to(KernelContext& context, F f, const T* x, const T* y, const T* gradient, To* to,
                       int64_t to_numel) const {
  const bool adds = to_numel != numel_, by_column = ToX ? inner_.x_step != 0 : inner_.y_step != 0;
  const double cost = bytes_cost(3.0 * sizeof(T)) * static_cast<double>(inner_.size);
  auto add = [&](int64_t row, const auto& at, int64_t begin, int64_t end) {
    add_row<T, ToX, F, To>(context, f, adds, {x + at[0], y + at[1], gradient + row * inner_.size, to + at[ToX ? 0 : 1]},
                           begin, end);
  };
  if (adds) {
    fill_n(context, to, to_numel, To{});
    return add_rows(context, outer_, ToX ? 0 : 1, by_column, inner_.size, cost, add);
  }
  parallel_rows(context, rows(), cost, [&](int64_t begin, int64_t end) {
    each_row(outer_, {}, begin, end, [&](int64_t row, const auto& at) { add(row, at, 0, inner_.size); });
  });
}

// Adds the columns [begin, end) of a row to its target, or stores them there if no other row has the same one.
template <class T, bool ToX, class F, class To>
void Broadcast::add_row(KernelContext& context, F f, bool adds, const GradientRow<T, To>& row, int64_t begin,
                        int64_t end) const {
  const int64_t n = end - begin;
  const T *x = row.x + begin * inner_.x_step, *y = row.y + begin * inner_.y_step, *g = row.gradient + begin;
  auto store = [&](auto value, const auto*... in) {
    To* to = row.to + begin;
    auto added = [value](auto total, auto... a) { return total + value(a...); };
    if (adds) paddle_mini::map(context, n, added, to, static_cast<const To*>(to), in...);
    else paddle_mini::map(context, n, value, to, in...);
  };
  auto total_of = [&](auto value, const auto*... in) {
    if constexpr (has_vec<Computed<T>>) {
      return static_cast<Computed<T>>(map_sum(context, n, value, in...));
    } else {
      T total = T(0);
      for (int64_t i = 0; i < n; ++i) total += value(in[i]...);
      return total;
    }
  };
  auto add_to_one = [&](auto total) {
    if constexpr (is_half<To>) from_float(total, *row.to);  // which is not a sum: those are float
    else *row.to += total;
  };
  if (inner_.x_step && inner_.y_step) {
    store(f, x, y, g);
  } else if (inner_.x_step) {
    auto with_y = [f, c = computed(*y)](auto a, auto d) { return f(a, decltype(a)(c), d); };
    if constexpr (ToX) store(with_y, x, g);
    else add_to_one(total_of(with_y, x, g));
  } else {
    auto with_x = [f, c = computed(*x)](auto b, auto d) { return f(decltype(b)(c), b, d); };
    if constexpr (ToX) add_to_one(total_of(with_x, y, g));
    else store(with_x, y, g);
  }
}

}  // namespace paddle_mini
