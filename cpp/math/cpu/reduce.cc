// Sums over axes and their gradients on a CPU, row by row of the innermost merged axes.
#include "math/reduce.h"

#include "math/complex.h"
#include "math/copy.h"
#include "math/cpu/each_row.h"

namespace paddle_mini {

template <class T>
void Reduction::sum(KernelContext& context, T scale, const T* x, T* out) const {
  const int64_t n = inner_.size;
  fill_n(context, out, out_numel_, T(0));
  auto self = [](auto a) { return a; };
  auto plus = [](auto total, auto a) { return total + a; };
  double cost = bytes_cost(sizeof(T)) * static_cast<double>(n);
  auto add = [&](int64_t row, const auto& at, int64_t begin, int64_t end) {
    const T* from = x + row * n;
    T* to = out + at[0];
    if (!inner_.reduced) {
      map(context, end - begin, plus, to + begin, static_cast<const T*>(to + begin), from + begin);
    } else if constexpr (has_vec<T>) {
      *to += static_cast<T>(map_sum(context, n, self, from));
    } else {
      for (int64_t i = 0; i < n; ++i) *to += from[i];
    }
  };
  add_rows(context, outer_, 0, !inner_.reduced, n, cost, add);
  if (scale != T(1))
    map(context, out_numel_, [scale](auto a) { return a * decltype(a)(scale); }, out, static_cast<const T*>(out));
}

template <class T>
void Reduction::spread(KernelContext& context, T scale, const T* y, T* out) const {
  const int64_t n = inner_.size;
  auto scaled = [scale](auto a) { return a * decltype(a)(scale); };
  parallel_rows(context, rows(), bytes_cost(2 * sizeof(T)) * static_cast<double>(n), [&](int64_t begin, int64_t end) {
    each_row(outer_, {}, begin, end, [&](int64_t row, const auto& at) {
      if (inner_.reduced) fill_n(context, out + row * n, n, static_cast<T>(y[at[0]] * scale));
      else map(context, n, scaled, out + row * n, y + at[0]);
    });
  });
}

template void Reduction::sum<float>(KernelContext&, float, const float*, float*) const;
template void Reduction::sum<double>(KernelContext&, double, const double*, double*) const;
template void Reduction::sum<int32_t>(KernelContext&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::sum<int64_t>(KernelContext&, int64_t, const int64_t*, int64_t*) const;
template void Reduction::sum<Complex<float>>(KernelContext&, Complex<float>, const Complex<float>*,
                                             Complex<float>*) const;
template void Reduction::sum<Complex<double>>(KernelContext&, Complex<double>, const Complex<double>*,
                                              Complex<double>*) const;
template void Reduction::spread<float>(KernelContext&, float, const float*, float*) const;
template void Reduction::spread<double>(KernelContext&, double, const double*, double*) const;
template void Reduction::spread<int32_t>(KernelContext&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::spread<int64_t>(KernelContext&, int64_t, const int64_t*, int64_t*) const;
template void Reduction::spread<Complex<float>>(KernelContext&, Complex<float>, const Complex<float>*,
                                                Complex<float>*) const;
template void Reduction::spread<Complex<double>>(KernelContext&, Complex<double>, const Complex<double>*,
                                                 Complex<double>*) const;

}  // namespace paddle_mini
