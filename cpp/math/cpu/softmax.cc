// Softmax on a CPU: row by row along the last axis; along another axis in blocks of columns that stay in cache.
#include "math/softmax.h"

#include "math/cpu/exp_rows.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
constexpr double kBytes = 8.0 * sizeof(T);  // exp costs as much as loading some elements

}  // namespace

template <class T>
void Softmax::run(KernelContext& context, const T* x, T* out, T* scratch) const {
  const int64_t size = lines_.length, inner = lines_.inner;
  if (size == 0) return;
  if (inner == 1) {
    return parallel_for(
        context, {lines_.outer, bytes_cost(kBytes<T>) * static_cast<double>(size)}, [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const T* from = x + row * size;
            T *to = out + row * size, top = row_max(from, size);
            T factor = static_cast<T>(1 / exp_sum(size, from, to, [top](auto v) { return v - decltype(v)(top); }));
            map(context, size, [factor](auto v) { return v * decltype(v)(factor); }, to, static_cast<const T*>(to));
          }
        });
  }
  for (int64_t block = 0; block < lines_.outer; ++block, x += size * inner, out += size * inner) {
    for (int64_t at = 0; at < inner; at += kTile) {
      run_columns(context, x + at, out + at, scratch, std::min(kTile, inner - at));
    }
  }
}

template <class T>
void Softmax::run_columns(KernelContext& context, const T* x, T* out, T* scratch, int64_t n) const {
  const int64_t size = lines_.length, inner = lines_.inner;
  auto exp_of_rest = [](auto v, auto m) { return exp_below(v - m); };
  auto add = [](auto a, auto b) { return a + b; };
  auto divide = [](auto a, auto b) { return a / b; };
  T *largest = scratch, *total = scratch + n;
  column_max(context, size, inner, n, x, largest);
  std::fill_n(total, n, T(0));
  for (int64_t i = 0; i < size; ++i) {
    T* to = out + i * inner;
    map(context, n, exp_of_rest, to, x + i * inner, static_cast<const T*>(largest));
    map(context, n, add, total, static_cast<const T*>(total), static_cast<const T*>(to));
  }
  for (int64_t i = 0; i < size; ++i) {
    T* to = out + i * inner;
    map(context, n, divide, to, static_cast<const T*>(to), static_cast<const T*>(total));
  }
}

template <class T>
void Softmax::gradient(KernelContext& context, const T* out, const T* gradient, T* x_gradient, T* scratch) const {
  const int64_t size = lines_.length, inner = lines_.inner;
  if (inner == 1) {
    return parallel_for(context, {lines_.outer, bytes_cost(5 * sizeof(T)) * static_cast<double>(size)},
                        [&](int64_t begin, int64_t end) {
                          for (int64_t at = begin * size; at < end * size; at += size) {
                            T dot = static_cast<T>(
                                map_sum(context, size, [](auto y, auto g) { return y * g; }, out + at, gradient + at));
                            auto below = [dot](auto y, auto g) { return y * (g - decltype(g)(dot)); };
                            map(context, size, below, x_gradient + at, out + at, gradient + at);
                          }
                        });
  }
  for (int64_t block = 0; block < lines_.outer; ++block) {
    for (int64_t at = 0; at < inner; at += kTile) {
      gradient_columns(context, out + at, gradient + at, x_gradient + at, scratch, std::min(kTile, inner - at));
    }
    out += size * inner, gradient += size * inner, x_gradient += size * inner;
  }
}

template <class T>
void Softmax::gradient_columns(KernelContext& context, const T* out, const T* gradient, T* x_gradient, T* dot,
                               int64_t n) const {
  const int64_t size = lines_.length, inner = lines_.inner;
  auto add_product = [](auto s, auto y, auto g) { return s + y * g; };
  auto below = [](auto y, auto g, auto s) { return y * (g - s); };
  std::fill_n(dot, n, T(0));
  for (int64_t i = 0; i < size; ++i) {
    map(context, n, add_product, dot, static_cast<const T*>(dot), out + i * inner, gradient + i * inner);
  }
  for (int64_t i = 0; i < size; ++i) {
    int64_t at = i * inner;
    map(context, n, below, x_gradient + at, out + at, gradient + at, static_cast<const T*>(dot));
  }
}

template void Softmax::run<float>(KernelContext&, const float*, float*, float*) const;
template void Softmax::run<double>(KernelContext&, const double*, double*, double*) const;
template void Softmax::gradient<float>(KernelContext&, const float*, const float*, float*, float*) const;
template void Softmax::gradient<double>(KernelContext&, const double*, const double*, double*, double*) const;

}  // namespace paddle_mini
