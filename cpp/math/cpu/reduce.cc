// Sums over axes and their gradients on a CPU, row by row of the innermost merged axes.
#include "math/reduce.h"

#include "math/map.h"

namespace paddle_mini {

template <class F>
void Reduction::each_row(F f) const {
  int64_t rows = inner_.size ? numel_ / inner_.size : 0;
  int64_t index[Shape::kMaxRank] = {};
  int64_t out = 0;
  for (int64_t row = 0; row < rows; ++row) {
    f(row * inner_.size, out);
    for (int d = static_cast<int>(outer_.size()) - 1; d >= 0; --d) {
      out += outer_[d].out_step;
      if (++index[d] < outer_[d].size) break;
      out -= outer_[d].out_step * outer_[d].size;
      index[d] = 0;
    }
  }
}

template <class T>
void Reduction::sum(KernelContext& context, T scale, const T* x, T* out) const {
  int64_t n = inner_.size;
  std::fill(out, out + out_numel_, T(0));
  each_row([&](int64_t in, int64_t to) {
    if (inner_.reduced) {
      if constexpr (has_vec<T>) out[to] += static_cast<T>(map_sum(context, n, [](auto a) { return a; }, x + in));
      else
        for (int64_t i = 0; i < n; ++i) out[to] += x[in + i];
    } else {
      map(context, n, [](auto total, auto a) { return total + a; }, out + to, static_cast<const T*>(out + to), x + in);
    }
  });
  if (scale != T(1))
    map(context, out_numel_, [scale](auto a) { return a * decltype(a)(scale); }, out, static_cast<const T*>(out));
}

template <class T>
void Reduction::spread(KernelContext& context, T scale, const T* y, T* out) const {
  int64_t n = inner_.size;
  each_row([&](int64_t to, int64_t from) {
    if (inner_.reduced) std::fill(out + to, out + to + n, static_cast<T>(y[from] * scale));
    else map(context, n, [scale](auto a) { return a * decltype(a)(scale); }, out + to, y + from);
  });
}

template void Reduction::sum<float>(KernelContext&, float, const float*, float*) const;
template void Reduction::sum<double>(KernelContext&, double, const double*, double*) const;
template void Reduction::sum<int32_t>(KernelContext&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::sum<int64_t>(KernelContext&, int64_t, const int64_t*, int64_t*) const;
template void Reduction::spread<float>(KernelContext&, float, const float*, float*) const;
template void Reduction::spread<double>(KernelContext&, double, const double*, double*) const;
template void Reduction::spread<int32_t>(KernelContext&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::spread<int64_t>(KernelContext&, int64_t, const int64_t*, int64_t*) const;

}  // namespace paddle_mini
