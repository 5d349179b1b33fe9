// map on a CPU, one register of elements at a time.
#pragma once

#include <tuple>

#include "core/parallel.h"
#include "math/bind_scalars.h"
#include "math/cpu/half_conversion.h"

namespace paddle_mini {

namespace map_loop {

#if defined(__AVX512F__) && !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer does not check masked stores
// With masks a row of a few elements costs no more than a full register.
inline Vec<float> load_part(const float* from, int64_t count) {
  return Vec<float>::Packet(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from));
}
inline Vec<double> load_part(const double* from, int64_t count) {
  return Vec<double>::Packet(_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from));
}
inline void store_part(Vec<float> value, float* to, int64_t count) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), value.p);
}
inline void store_part(Vec<double> value, double* to, int64_t count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), value.p);
}
// The lanes [first, first + count); the others are zeros, and their elements need not exist.
inline Vec<float> load_lanes(const float* from, int64_t first, int64_t count) {
  return Vec<float>::Packet(_mm512_maskz_loadu_ps(static_cast<__mmask16>(((1u << count) - 1) << first), from));
}
inline Vec<double> load_lanes(const double* from, int64_t first, int64_t count) {
  return Vec<double>::Packet(_mm512_maskz_loadu_pd(static_cast<__mmask8>(((1u << count) - 1) << first), from));
}
#else
template <class T>
Vec<T> load_lanes(const T* from, int64_t first, int64_t count) {
  if (count == Vec<T>::size) return Vec<T>::load(from);
  T lanes[Vec<T>::size] = {};
  std::copy(from + first, from + first + count, lanes + first);
  return Vec<T>::load(lanes);
}
template <class T, class = std::enable_if_t<!is_half<T>>>
Vec<T> load_part(const T* from, int64_t count) {
  T lanes[Vec<T>::size] = {};
  std::copy(from, from + count, lanes);
  return Vec<T>::load(lanes);
}

template <class T, class = std::enable_if_t<!is_half<T>>>
void store_part(Vec<T> value, T* to, int64_t count) {
  T lanes[Vec<T>::size];
  value.store(lanes);
  std::copy(lanes, lanes + count, to);
}
#endif

// Elements as they are computed: 16-bit floats in float.
template <class T>
Vec<Computed<T>> load(const T* from) {
  if constexpr (is_half<T>) return load_floats(from);
  else return Vec<T>::load(from);
}
template <class T>
void store(Vec<Computed<T>> value, T* to) {
  if constexpr (is_half<T>) store_floats(value, to);
  else value.store(to);
}
template <class Half, class = std::enable_if_t<is_half<Half>>>
Vec<float> load_part(const Half* from, int64_t count) {
  return load_floats(from, count);
}
template <class Half, class = std::enable_if_t<is_half<Half>>>
void store_part(Vec<float> value, Half* to, int64_t count) {
  store_floats(value, to, count);
}

// Ranges start at full registers.
template <class... T>
LoopSize size_of_loop(int64_t n, const T*...) {
  return {n, bytes_cost((0.0 + ... + sizeof(T))), 256};
}
template <class... Outputs, class... Inputs>
LoopSize size_of_loop(int64_t n, std::tuple<Outputs*...>, const Inputs*...) {
  return {n, bytes_cost((0.0 + ... + sizeof(Outputs)) + (0.0 + ... + sizeof(Inputs))), 256};
}

// The functor is passed by value: its members then stay in registers, because stores can't alias them.
template <class T, class F, class... Inputs>
void run(int64_t n, F f, T* out, const Inputs*... in) {
  if constexpr (sizeof...(Inputs) == 0) {
    std::fill_n(out, n, f());
  } else if constexpr (has_vec<Computed<T>> && (std::is_same_v<Computed<T>, Computed<Inputs>> && ...)) {
    constexpr int64_t step = Vec<Computed<T>>::size;
    int64_t i = 0;
    // Unrolled, but stored one by one: loading two registers before the stores reduces memory throughput by 7 %.
#pragma GCC unroll 2
    for (; i + step <= n; i += step) store(f(load(in + i)...), out + i);
    if (i < n) store_part(f(load_part(in + i, n - i)...), out + i, n - i);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
  }
}

template <class T, class F, class... Outputs, class... Inputs>
void run(int64_t n, F f, std::tuple<Outputs*...> out, const T* first, const Inputs*... in) {
  constexpr int64_t step = Vec<T>::size;
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    auto values = f(Vec<T>::load(first + i), Vec<T>::load(in + i)...);
    std::apply([&](auto*... to) { std::apply([&](auto... value) { (value.store(to + i), ...); }, values); }, out);
  }
  if (i == n) return;
  auto values = f(load_part(first + i, n - i), load_part(in + i, n - i)...);
  std::apply([&](auto*... to) { std::apply([&](auto... value) { (store_part(value, to + i, n - i), ...); }, values); },
             out);
}

template <class T>
T* moved(T* array, int64_t by) {
  return array + by;
}
template <class... T>
std::tuple<T*...> moved(std::tuple<T*...> arrays, int64_t by) {
  return std::apply([by](T*... array) { return std::make_tuple((array + by)...); }, arrays);
}

// Out of line: the captures of its loop would move a short loop's pointers from registers to memory.
template <class F, class Out, class... Inputs>
[[gnu::noinline]] void split(KernelContext& context, int64_t n, F f, Out out, const Inputs*... in) {
  parallel_for(context, size_of_loop(n, out, in...),
               [&](int64_t begin, int64_t end) { run(end - begin, f, moved(out, begin), (in + begin)...); });
}

}  // namespace map_loop

// out[i] = f(in[i]...); without inputs f() is evaluated once. Outputs may be the same arrays as inputs. The last,
// partial register is also computed as a full one, so an element's value does not depend on its position, nor on how the
// loop is split.
template <class T, class F, class... Inputs>
void map(KernelContext& context, int64_t n, F functor, T* out, const Inputs*... in) {
  auto f = bind_scalars(functor);
  if (is_short(context, map_loop::size_of_loop(n, out, in...))) map_loop::run(n, f, out, in...);
  else map_loop::split(context, n, f, out, in...);
}

// The same with several outputs: f returns a std::tuple with one value for each output.
template <class T, class F, class... Outputs, class... Inputs>
void map(KernelContext& context, int64_t n, F functor, std::tuple<Outputs*...> out, const T* first,
         const Inputs*... in) {
  auto f = bind_scalars(functor);
  if (is_short(context, map_loop::size_of_loop(n, out, first, in...))) map_loop::run(n, f, out, first, in...);
  else map_loop::split(context, n, f, out, first, in...);
}

namespace map_loop {

// Elements whose sum is of type T.
template <class T>
constexpr int64_t sum_block = 128 * Vec<Computed<T>>::size;

// Sum over i of f(in[i]...) for at most sum_block<T> elements.
template <class T, class F, class... Inputs>
[[gnu::noinline]] double sum(int64_t n, F f, const T* first, const Inputs*... in) {
  using V = Vec<Computed<T>>;
  constexpr int64_t step = V::size;
  int64_t i = 0;
  V sums[2] = {V(0), V(0)};
  for (; i + 2 * step <= n; i += 2 * step) {
    sums[0] = sums[0] + f(load(first + i), load(in + i)...);
    sums[1] = sums[1] + f(load(first + i + step), load(in + i + step)...);
  }
  double part = sum_of_lanes(sums[0] + sums[1]);
  for (; i < n; ++i) part += f(computed(first[i]), computed(in[i])...);
  return part;
}

}  // namespace map_loop

// Sum over i of f(in[i]...): 64 additions per lane of two registers, then the sums of these blocks in double, so that
// the error does not grow with n and does not depend on the register size.
template <class T, class F, class... Inputs>
double map_sum(KernelContext& context, int64_t n, F f, const T* first, const Inputs*... in) {
  constexpr int64_t block = map_loop::sum_block<T>;
  if (n <= block) return map_loop::sum(n, f, first, in...);
  return sum_in_order(context, {(n + block - 1) / block, bytes_cost(sizeof(T) * (1.0 + sizeof...(in))) * block},
                      [&](int64_t i) {
                        const int64_t begin = i * block;
                        return map_loop::sum(std::min(block, n - begin), f, first + begin, (in + begin)...);
                      });
}

}  // namespace paddle_mini
