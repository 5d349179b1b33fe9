// DepthwiseConvolution: the copy with padding, and the loops over rows.
#include "math/cpu/depthwise.h"

#include "core/stored_parts.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

constexpr int64_t kPaddedElements =
    1 << 11;  // rows that are copied at once, so few that copies and sums of different rows overlap
constexpr int kRowsTogether = 4;
constexpr int64_t kAhead = 1 << 9;  // elements that are prefetched before they are copied: planes lie in slow memory

// The inputs of neighbouring outputs for one tap.
template <int stride, class T>
inline Vec<T> load_tap(const T* from) {
  if constexpr (stride == 1) return Vec<T>::load(from);
  else return every_second(Vec<T>::load(from), Vec<T>::load(from + Vec<T>::size));
}

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

// At least one register, as compilers make a call of a loop.
template <class T>
inline void clear_elements(T* to, int64_t count) {
  Vec<T>(T(0)).store(to);
  for (int64_t i = Vec<T>::size; i < count; i += Vec<T>::size) Vec<T>(T(0)).store(to + i);
}

}  // namespace

template <class T>
bool DepthwiseConvolution<T>::fits(const ConvolutionSizes& s) {
  const WindowAxis &h = s.height, &w = s.width;
  const bool square = h.window == w.window && h.stride == w.stride && h.dilation == 1 && w.dilation == 1;
  return s.in_channels == 1 && s.out_channels <= 2 && square && (h.window == 3 || h.window == 5) &&
         (h.stride == 1 || h.stride == 2) && w.out > 0 && h.out > 0;
}

template <class T>
DepthwiseConvolution<T>::DepthwiseConvolution(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes), pitch_((s_.width.out - 1) * s_.width.stride + s_.width.window), rows_at_once_(0), padded_(init, 0) {
  if (!fits(s_)) return;
  const int64_t fitting = kPaddedElements / (pitch_ * s_.height.stride) / kRowsTogether * kRowsTogether;
  rows_at_once_ = std::min(std::max<int64_t>(fitting, kRowsTogether), s_.height.out);
  const int64_t rows = (rows_at_once_ - 1) * s_.height.stride + s_.height.window;
  padded_.resize(rows * pitch_ + 4 * Vec<T>::size);  // loads and stores of full registers exceed the last row
}

// The inputs of `rows` rows of outputs from y on. A register may exceed a row, because the next row is written later; what
// follows a row is the padding on its right, and that on the left of the next one.
template <class T>
void DepthwiseConvolution<T>::copy_padded(const T* plane, int64_t y, int64_t rows, T* to) const {
  constexpr int64_t lanes = Vec<T>::size;
  const int64_t before = std::min(s_.width.before, pitch_);
  const int64_t columns = std::clamp<int64_t>(pitch_ - s_.width.before, 0, s_.width.size);
  const int64_t first = s_.height.first(y), end = first + (rows - 1) * s_.height.stride + s_.height.window;
  clear_elements(to, before);
  to += before;
  for (int64_t row = first; row < end; ++row, to += pitch_) {
    const int64_t gap = pitch_ - columns - (row + 1 < end ? 0 : before);
    if (row < 0 || row >= s_.height.size) {
      clear_elements(to, columns + gap);
      continue;
    }
    const T* from = plane + row * s_.width.size;
    int64_t x = 0;
    for (; x + lanes <= columns; x += lanes) {
      __builtin_prefetch(from + x + kAhead);
      Vec<T>::load(from + x).store(to + x);
    }
    if (x < columns) map_loop::load_part(from + x, columns - x).store(to + x), x += lanes;
    if (x < columns + gap) clear_elements(to + columns, gap);
  }
}

// The last rows, or columns, of a block are computed twice if their number is not a multiple of the block's.
template <class T>
template <int window, int stride>
void DepthwiseConvolution<T>::filter_rows(const T* padded, int64_t rows, const T* filter,
                                          const Outputs& outputs) const {
  constexpr int64_t lanes = Vec<T>::size;
  const int64_t width = s_.width.out, pitch = pitch_;
  Vec<T> taps[window * window];
#pragma GCC unroll 25
  for (int tap = 0; tap < window * window; ++tap) taps[tap] = Vec<T>(filter[tap]);
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
void DepthwiseConvolution<T>::filter_part(const T* padded, int64_t rows, const T* filter,
                                          const Outputs& outputs) const {
  const bool by_one = s_.height.stride == 1;
  if (s_.height.window == 3) {
    if (by_one) filter_rows<3, 1>(padded, rows, filter, outputs);
    else filter_rows<3, 2>(padded, rows, filter, outputs);
  } else {
    if (by_one) filter_rows<5, 1>(padded, rows, filter, outputs);
    else filter_rows<5, 2>(padded, rows, filter, outputs);
  }
}

template <class T>
void DepthwiseConvolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  const int64_t parts = (s_.height.out + rows_at_once_ - 1) / rows_at_once_, planes = s_.images * s_.groups;
  const double bytes = 4.0 * sizeof(T) * static_cast<double>(rows_at_once_ * pitch_ * s_.height.stride);
  const LoopSize size{planes * parts, bytes_cost(bytes), 1, padded_.lanes()};
  const LastSteps<T> steps(context, s_.pixels(), s_.groups * s_.out_channels);
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    T* padded = padded_.data(lane);
    StoredParts<T> stored(context, steps.taken());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / parts, y = i % parts * rows_at_once_, group = plane % s_.groups;
      const int64_t rows = std::min(rows_at_once_, s_.height.out - y);
      copy_padded(image + plane * s_.plane(), y, rows, padded);
      for (int64_t o = 0; o < s_.out_channels; ++o) {
        const int64_t channel = group * s_.out_channels + o;
        T* to = out + (plane * s_.out_channels + o) * s_.pixels() + y * s_.width.out;
        filter_part(padded, rows, filter + channel * s_.taps(), {to, channel, steps});
        stored.add(to, rows * s_.width.out);
      }
    }
  });
}

template class DepthwiseConvolution<float>;
template class DepthwiseConvolution<double>;

}  // namespace paddle_mini
