// DepthwiseConvolution: the loops over rows.
#include "math/cpu/depthwise.h"

#include "core/stored_parts.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

constexpr int kRowsTogether = 4;

// Makes the compiler load a register once, and not in each product that reads it.
template <class T>
inline void keep_loaded([[maybe_unused]] Vec<T>& inputs) {
#ifdef __AVX512F__
  asm("" : "+v"(inputs.p));
#endif
}

// Makes the compiler add to one pointer, and not keep one for each row, for which there are too few registers.
template <class T>
inline void keep_as_it_is(T*& pointer) {
  asm("" : "+r"(pointer));
}

template <class T>
inline Vec<T> load_row(const T* from, int64_t count) {
  return count >= Vec<T>::size ? Vec<T>::load(from) : map_loop::load_part(from, count);
}

template <class T>
inline void store_row(Vec<T> values, int64_t count, T* to) {
  if (count >= Vec<T>::size) values.store(to);
  else map_loop::store_part(values, to, count);
}

// Stores outputs of `rows` rows, `count` of each; their first input is at `from`. finish(sums) applies what follows the sums.
template <int window, int stride, int rows, class T, class Finish>
inline void filter_block(const T* from, int64_t pitch, const Vec<T> (&taps)[window * window], int64_t count,
                         int64_t out_pitch, T* out, Finish finish) {
  Vec<T> sums[rows][1];
  const T* next = out + rows * out_pitch;
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    sums[r][0] = Vec<T>(T(0));
    __builtin_prefetch(next, 1);
    next += out_pitch;
    keep_as_it_is(next);
  }
#pragma GCC unroll 12
  for (int y = 0; y < (rows - 1) * stride + window; ++y, from += pitch) {
    keep_as_it_is(from);
#pragma GCC unroll 5
    for (int j = 0; j < window; ++j) {
      Vec<T> inputs = load_tap<stride>(from + j);
      keep_loaded(inputs);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        const int i = y - r * stride;
        if (i >= 0 && i < window) sums[r][0] = multiply_add(taps[i * window + j], inputs, sums[r][0]);
      }
    }
  }
  finish(sums);
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r, out += out_pitch) {
    keep_as_it_is(out);
    store_row(sums[r][0], count, out);
  }
}

}  // namespace

template <class T>
DepthwiseConvolution<T>::DepthwiseConvolution(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order,
                                              int64_t spread)
    : s_(sizes), order_(order), rows_(sizes, spread),
      plane_((s_.height.size + spread - 1) / spread * ((s_.width.size + spread - 1) / spread)),
      padded_(init, rows_.elements()) {}

// The last rows, or columns, of a block are computed twice if their number is not a multiple of the block's.
template <class T>
template <int window, int stride>
void DepthwiseConvolution<T>::filter_rows(const T* padded, int64_t rows, const T* filter,
                                          const Outputs& outputs) const {
  constexpr int64_t lanes = Vec<T>::size;
  const int64_t width = s_.width.out, pitch = rows_.pitch();
  Vec<T> taps[window * window];
#pragma GCC unroll 25
  for (int tap = 0; tap < window * window; ++tap) taps[tap] = Vec<T>(filter[tap * order_.tap]);
  for (int64_t y = 0; y < rows; y += rows < kRowsTogether ? 1 : kRowsTogether) {
    const int64_t top = rows < kRowsTogether ? y : std::min<int64_t>(y, rows - kRowsTogether);
    for (int64_t x = 0; x < width; x += lanes) {
      const int64_t left = std::max<int64_t>(std::min(x, width - lanes), 0);
      const T* from = padded + top * stride * pitch + left * stride;
      T* to = outputs.first + top * width + left;
      auto finish = [&](auto& sums) {
        if (!outputs.steps.taken()) return;
        outputs.steps.apply(sums, outputs.channel, 0, to, width, [&](const T* at, int) { return load_row(at, width); });
      };
      if (rows < kRowsTogether) filter_block<window, stride, 1>(from, pitch, taps, width, width, to, finish);
      else filter_block<window, stride, kRowsTogether>(from, pitch, taps, width, width, to, finish);
    }
  }
}

template <class T>
void DepthwiseConvolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  const int64_t parts = rows_.parts(), at_once = rows_.at_once(), planes = s_.images * s_.groups;
  const double bytes = 4.0 * sizeof(T) * static_cast<double>(at_once * rows_.pitch() * s_.height.stride);
  const LoopSize size{planes * parts, bytes_cost(bytes), 1, padded_.lanes()};
  const LastSteps<T> steps(context, s_.pixels(), s_.groups * s_.out_channels);
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    T* padded = padded_.data(lane);
    StoredParts<T> stored(context, steps.taken());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / parts, y = i % parts * at_once, group = plane % s_.groups;
      const int64_t rows = std::min(at_once, s_.height.out - y);
      rows_.copy(image + plane * plane_, y, rows, padded);
      for (int64_t o = 0; o < s_.out_channels; ++o) {
        const int64_t channel = group * s_.out_channels + o;
        const T* taps = filter + channel * s_.taps() + order_.first;
        T* to = out + (plane * s_.out_channels + o) * s_.pixels() + y * s_.width.out;
        with_window(s_, [&](auto window, auto stride) {
          filter_rows<decltype(window)::value, decltype(stride)::value>(padded, rows, taps, {to, channel, steps});
        });
        stored.add(to, rows * s_.width.out);
      }
    }
  });
}

template class DepthwiseConvolution<float>;
template class DepthwiseConvolution<double>;

}  // namespace paddle_mini
