// Loops of Broadcast on a CPU.
#pragma once

#include "math/copy.h"
#include "math/cpu/each_row.h"
#include "math/map.h"

namespace paddle_mini {

// Calls f(part) for the elements [begin, end) of the result.
template <class F>
void Broadcast::each_part(int64_t begin, int64_t end, F f) const {
  const int64_t n = inner_.size;
  if (begin == end) return;
  auto part_of = [&](int64_t row, const std::array<int64_t, 2>& at) {
    const int64_t left = std::max<int64_t>(begin - row * n, 0), right = std::min(end - row * n, n);
    f(Part{right - left, at[0] + left * inner_.x_step, at[1] + left * inner_.y_step, row * n + left});
  };
  const int64_t first = begin / n, last = (end - 1) / n + 1;
  if (outer_.size() > 1) return each_row(outer_, {}, first, last, part_of);
  const auto steps = outer_.empty() ? std::array<int64_t, 2>{} : outer_[0].steps();
  for (int64_t row = first; row < last; ++row) part_of(row, {row * steps[0], row * steps[1]});
}

// As a loop over three or four arrays.
template <class T>
LoopSize size_of_broadcast(int64_t elements, int64_t row, int arrays) {
  constexpr int64_t kUnit = 256;  // ranges begin with short rows
  return {elements, bytes_cost(arrays * sizeof(T)), std::clamp<int64_t>(row, 1, kUnit)};
}

template <class T, class F>
void Broadcast::map(KernelContext& context, F f, const T* x, const T* y, T* out) const {
  parallel_for(context, size_of_broadcast<T>(numel_, inner_.size, 3),
               [&](int64_t begin, int64_t end) { map_range(begin, end, f, x, y, out); });
}

// Out of line: kernels have it in a loop and as a function of ranges.
template <class T, class F>
[[gnu::noinline]] void Broadcast::map_range(int64_t begin, int64_t end, F f, const T* x, const T* y, T* out) const {
  each_part(begin, end, [&](const Part& part) { map_part(part, f, x + part.x_at, y + part.y_at, out + part.at); });
}

// In one part X and Y change or are constant.
template <class T, class F, class To>
void Broadcast::map_part(const Part& part, F f, const T* x, const T* y, To* out) const {
  if (inner_.x_step && inner_.y_step) {
    map_loop::run(part.count, f, out, x, y);
  } else if (inner_.x_step) {
    auto constant = computed(*y);
    map_loop::run(part.count, [f, constant](auto a) { return f(a, decltype(a)(constant)); }, out, x);
  } else {
    auto constant = computed(*x);
    map_loop::run(part.count, [f, constant](auto b) { return f(decltype(b)(constant), b); }, out, y);
  }
}

template <class T, class F, class To>
void Broadcast::map_part(const Part& part, F f, const T* x, const T* y, const T* gradient, To* to) const {
  if (inner_.x_step && inner_.y_step) {
    map_loop::run(part.count, f, to, x, y, gradient);
  } else if (inner_.x_step) {
    auto constant = computed(*y);
    map_loop::run(
        part.count, [f, constant](auto a, auto g) { return f(a, decltype(a)(constant), g); }, to, x, gradient);
  } else {
    auto constant = computed(*x);
    map_loop::run(
        part.count, [f, constant](auto b, auto g) { return f(decltype(b)(constant), b, g); }, to, y, gradient);
  }
}

// Sums are of float, double and complex numbers (math/cpu/broadcast_sums.cc), so the code of F is a loop over a part.
template <class T, bool ToX, class F, class To>
void Broadcast::sum_to(KernelContext& context, F f, const T* x, const T* y, const T* gradient, To* to,
                       int64_t to_numel) const {
  using C = Computed<T>;
  auto compute = [&](const Part& part, auto* out) {
    map_part(part, f, x + part.x_at, y + part.y_at, gradient + part.at, out);
  };
  if (to_numel == numel_) {
    return parallel_for(context, size_of_broadcast<T>(numel_, inner_.size, 4), [&](int64_t begin, int64_t end) {
      each_part(begin, end, [&](const Part& part) { compute(part, to + part.at); });
    });
  }
  if constexpr (std::is_same_v<To, C>) {
    if constexpr (std::is_same_v<F, PassGradient> && std::is_same_v<T, C>) {
      auto there = [](const void* loop, const Part& part, C*) { return static_cast<const C*>(loop) + part.at; };
      add_parts<C>(context, ToX, {gradient, there}, to);
    } else {
      auto computed_part = [](const void* loop, const Part& part, C* buffer) {
        (*static_cast<const decltype(compute)*>(loop))(part, buffer);
        return static_cast<const C*>(buffer);
      };
      add_parts<C>(context, ToX, {&compute, computed_part}, to);
    }
  } else {
    fail<ProgramError>("sums of 16-bit floats are float32");
  }
}

}  // namespace paddle_mini
