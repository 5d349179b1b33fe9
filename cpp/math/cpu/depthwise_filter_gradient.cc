// DepthwiseFilterGradient: the loops over images and rows.
#include "math/cpu/depthwise_filter_gradient.h"

#include "math/map.h"

namespace paddle_mini {
namespace {

constexpr int64_t kMostTaps = 25;
constexpr int64_t kAhead = 1 << 9;  // gradients that are prefetched before they are read

}  // namespace

template <class T>
DepthwiseFilterGradient<T>::DepthwiseFilterGradient(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes), rows_(sizes), padded_(init, rows_.elements()) {}

// In the last register of a row, the mask clears lanes that are not outputs: 0 times infinity would not be 0.
template <class T>
template <int window, int stride>
void DepthwiseFilterGradient<T>::add_rows(const T* padded, int64_t rows, const T* out_gradient, Vec<T>* sums) const {
  constexpr int64_t lanes = Vec<T>::size;
  constexpr int taps = window * window;
  const int64_t width = s_.width.out, pitch = rows_.pitch();
  Vec<T> here[taps];
#pragma GCC unroll 25
  for (int tap = 0; tap < taps; ++tap) here[tap] = Vec<T>(T(0));
  auto add = [&](const T* from, Vec<T> gradient, auto choose) {
#pragma GCC unroll 5
    for (int i = 0; i < window; ++i) {
#pragma GCC unroll 5
      for (int j = 0; j < window; ++j) {
        Vec<T>& sum = here[i * window + j];
        sum = multiply_add(gradient, choose(load_tap<stride>(from + i * pitch + j)), sum);
      }
    }
  };
  alignas(64) T ones[lanes] = {};
  const int64_t whole = width / lanes * lanes;
  std::fill_n(ones, width - whole, T(1));
  const Mask<T> is_output = Vec<T>::load(ones) > Vec<T>(T(0));
  for (int64_t y = 0; y < rows; ++y, padded += stride * pitch, out_gradient += width) {
    for (int64_t x = 0; x < whole; x += lanes) {
      __builtin_prefetch(out_gradient + x + kAhead);
      add(padded + x * stride, Vec<T>::load(out_gradient + x), [](Vec<T> inputs) { return inputs; });
    }
    if (whole == width) continue;
    add(padded + whole * stride, map_loop::load_part(out_gradient + whole, width - whole),
        [&](Vec<T> inputs) { return select(is_output, inputs, Vec<T>(T(0))); });
  }
#pragma GCC unroll 25
  for (int tap = 0; tap < taps; ++tap) sums[tap] = sums[tap] + here[tap];
}

template <class T>
void DepthwiseFilterGradient<T>::run(KernelContext& context, const T* image, const T* out_gradient,
                                     T* filter_gradient) {
  const int64_t at_once = rows_.at_once(), height = s_.height.out, outs = s_.out_channels, taps = s_.taps();
  const double bytes = 4.0 * sizeof(T) * static_cast<double>(s_.images * (s_.plane() + outs * s_.pixels()));
  parallel_for(context, {s_.groups, bytes_cost(bytes), 1, padded_.lanes()}, [&](int64_t begin, int64_t end, int lane) {
    T* padded = padded_.data(lane);
    for (int64_t group = begin; group < end; ++group) {
      Vec<T> sums[2][kMostTaps];
      for (auto& each : sums) std::fill_n(each, kMostTaps, Vec<T>(T(0)));
      for (int64_t plane = group; plane < s_.images * s_.groups; plane += s_.groups) {
        for (int64_t y = 0; y < height; y += at_once) {
          const int64_t rows = std::min(at_once, height - y);
          rows_.copy(image + plane * s_.plane(), y, rows, padded);
          for (int64_t o = 0; o < outs; ++o) {
            const T* gradient = out_gradient + (plane * outs + o) * s_.pixels() + y * s_.width.out;
            with_window(s_, [&](auto window, auto stride) {
              add_rows<decltype(window)::value, decltype(stride)::value>(padded, rows, gradient, sums[o]);
            });
          }
        }
      }
      for (int64_t o = 0; o < outs; ++o) {
        T* to = filter_gradient + (group * outs + o) * taps;
        for (int64_t tap = 0; tap < taps; ++tap) to[tap] = sum_of_lanes(sums[o][tap]);
      }
    }
  });
}

template class DepthwiseFilterGradient<float>;
template class DepthwiseFilterGradient<double>;

}  // namespace paddle_mini
