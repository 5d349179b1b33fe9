// FilterGradient: the packed operands, and the loops that multiply them.
#include "math/cpu/filter_gradient.h"

#include "math/cpu/register_blocks.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

constexpr int64_t kDepth = 128;  // pixels of a segment: a panel of them stays in the L1 cache
// A part's columns and sums stay in the L2 cache; each part packs the segments of its operands.
constexpr int64_t kPartTaps = 288, kPartOuts = 512;

// Between the rows of columns; also what full registers store after the last pixel.
template <class T>
constexpr int64_t kPitch = kDepth + Vec<T>::size;

template <class T>
constexpr int64_t kLine = 64 / sizeof(T);  // elements of a cache line

// sums [rows, registers] = (or += if `add`) columns [rows, count] panel [count, registers]
template <int rows, int registers, class T>
void multiply(int64_t count, const T* columns, const T* panel, bool add, T* sums) {
  constexpr int lanes = Vec<T>::size;
  Vec<T> all[rows][registers];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) all[i][r] = Vec<T>(T(0));
  }
  for (int64_t k = 0; k < count; ++k, ++columns, panel += registers * lanes) {
    Vec<T> outs[registers];
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) outs[r] = Vec<T>::load(panel + r * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Vec<T> input(columns[i * kPitch<T>]);
#pragma GCC unroll 2
      for (int r = 0; r < registers; ++r) all[i][r] = multiply_add(input, outs[r], all[i][r]);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) {
      T* to = sums + (i * registers + r) * lanes;
      (add ? Vec<T>::load(to) + all[i][r] : all[i][r]).store(to);
    }
  }
}

// Registers are stored in full, because what follows is written later.
template <class T>
void clear(T* to, int64_t count) {
  for (int64_t i = 0; i < count; i += Vec<T>::size) Vec<T>(T(0)).store(to + i);
}

// `stride`, at least 2, apart.
template <class T>
void copy_elements(const T* from, int64_t stride, int64_t count, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  int64_t i = 0;
  if (stride == 2) {
    for (; i + lanes < count; i += lanes) {
      every_second(Vec<T>::load(from + 2 * i), Vec<T>::load(from + 2 * i + lanes)).store(to + i);
    }
    const int64_t left = 2 * (count - i) - 1;
    if (left <= 0) return;
    const Vec<T> first = left >= lanes ? Vec<T>::load(from + 2 * i) : map_loop::load_part(from + 2 * i, left);
    const Vec<T> second = left > lanes ? map_loop::load_part(from + 2 * i + lanes, left - lanes) : Vec<T>(T(0));
    every_second(first, second).store(to + i);
  } else {
    for (; i < count; ++i) to[i] = from[i * stride];
  }
}

// to = from' for a square of registers of which only so many rows and columns exist; the others are zeros.
template <class T>
void transpose_part(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to, int64_t to_step) {
  constexpr int64_t lanes = Vec<T>::size;
  if (rows >= lanes && columns >= lanes) return transpose_square(from, from_step, to, to_step);
  alignas(64) T part[lanes * lanes];
  for (int64_t i = 0; i < lanes; ++i) {
    const bool is_full = i < rows && columns >= lanes;
    const Vec<T> row = is_full    ? Vec<T>::load(from + i * from_step)
                       : i < rows ? map_loop::load_part(from + i * from_step, columns)
                                  : Vec<T>(T(0));
    row.store(part + i * lanes);
  }
  transpose_square(part, lanes, to, to_step);
}

}  // namespace

// With few output channels most lanes would be idle.
template <class T>
bool FilterGradient<T>::fits(const ConvolutionSizes& s) {
  return 4 * s.out_channels >= 3 * kLanes && s.images * s.pixels() > 0 && s.in_channels > 0;
}

template <class T>
FilterGradient<T>::FilterGradient(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes.in_one_row()), columns_(init, 0), panel_(init, (kDepth + kLanes) * kWidth), sums_(init, 0) {
  channels_ = std::clamp<int64_t>(kPartTaps / window(), 1, s_.in_channels);
  channels_ = parts_of(s_.in_channels, parts_of(s_.in_channels, channels_));
  outs_ = parts_of(s_.out_channels, parts_of(s_.out_channels, kPartOuts));
  outs_ = parts_of(outs_, kWidth) * kWidth;
  columns_.resize(channels_ * window() * kPitch<T>);
  sums_.resize(channels_ * window() * outs_);
}

// The inputs of `tap` of the outputs of a row from x on, as far as the row goes; describe() cuts it.
template <class T>
typename FilterGradient<T>::Copy FilterGradient<T>::copy_of(int64_t image, int64_t y, int64_t x, int64_t tap) const {
  const WindowAxis &h = s_.height, &w = s_.width;
  const int64_t row = h.first(y) + tap / w.window * h.dilation, j = tap % w.window;
  const bool is_inside = row >= 0 && row < h.size;
  const int64_t begin = std::max(w.begin_of(j), x), end = is_inside ? std::max(w.end_of(j), begin) : begin;
  const int64_t column = w.first(begin) + j * w.dilation;
  return {image * s_.image_size() + row * w.size + column, 0, begin - x, end - begin, 0};
}

// The pixels [pixel, pixel + count) of all images.
template <class T>
void FilterGradient<T>::describe(int64_t pixel, int64_t count, Segment& segment) const {
  segment.pieces.clear();
  segment.copies.clear();
  const int64_t plane = s_.pixels(), width = s_.width.out;
  for (int64_t at = 0; at < count;) {
    const int64_t first = (pixel + at) % plane, here = std::min(count - at, plane - first);
    segment.pieces.push_back({(pixel + at) / plane, first, at, here});
    at += here;
  }
  for (int64_t tap = 0; tap < window(); ++tap) {
    for (const Piece& piece : segment.pieces) {
      for (int64_t i = 0; i < piece.count;) {
        const int64_t p = piece.pixel + i, x = p % width;
        const int64_t here = std::min({piece.count - i, width - x, s_.width.stride == 1 ? kLanes : kDepth});
        Copy copy = copy_of(piece.image, p / width, x, tap);
        copy.at = piece.at + i;
        copy.zeros = std::min(copy.zeros, here);
        copy.count = std::min(copy.count, here - copy.zeros);
        copy.zeros_after = here - copy.zeros - copy.count;
        segment.copies.push_back(copy);
        i += here;
      }
    }
  }
  segment.rows = segment.copies.size() / static_cast<size_t>(window());
}

// columns [taps of the part's channels, pixels]
template <class T>
void FilterGradient<T>::pack_columns(const Segment& segment, const Part& part, const T* image, T* to) const {
  const T* plane = image + (part.group * s_.in_channels + part.channel) * s_.plane();
  for (int64_t c = 0; c < part.channels; ++c, plane += s_.plane()) {
    const Copy* copy = segment.copies.data();
    for (int64_t tap = 0; tap < window(); ++tap, to += kPitch<T>) {
      for (const Copy* end = copy + segment.rows; copy < end; ++copy) {
        const T* from = plane + copy->from;
        if (tap == 0) {
          for (int64_t i = 0; i < copy->count; i += kLine<T>) __builtin_prefetch(from + i + kDepth);
        }
        T* at = to + copy->at;
        if (s_.width.stride == 1) {
          map_loop::load_lanes(from - copy->zeros, copy->zeros, copy->count).store(at);
          continue;
        }
        clear(at, copy->zeros);
        copy_elements(from, s_.width.stride, copy->count, at + copy->zeros);
        clear(at + copy->zeros + copy->count, copy->zeros_after);
      }
    }
  }
}

// panel [pixels, one or two registers of channels]
template <class T>
void FilterGradient<T>::pack_outs(const Segment& segment, int64_t channels, const T* out_gradient, T* panel) const {
  const int64_t width = channels > kLanes ? kWidth : kLanes;
  for (const Piece& piece : segment.pieces) {
    const T* from = out_gradient + piece.image * s_.out_size() + piece.pixel;
    for (int64_t p = 0; p < piece.count; p += kLanes) {
      for (int64_t first = 0; first < width; first += kLanes) {
        for (int64_t o = first; o < std::min(channels, first + kLanes); ++o) {
          __builtin_prefetch(from + o * s_.pixels() + p + kDepth);
        }
        transpose_part(from + first * s_.pixels() + p, s_.pixels(), std::min(channels - first, kLanes),
                       std::min(piece.count - p, kLanes), panel + (piece.at + p) * width + first, width);
      }
    }
  }
}

// sums [panels, taps of the part, width of the panel]
template <class T>
void FilterGradient<T>::add_segment(const Segment& segment, int64_t count, bool add, const Part& part,
                                    const T* out_gradient, const Memory& memory) const {
  const int64_t taps = part.channels * window();
  for (int64_t first = 0; first < part.outs; first += kWidth) {
    const int64_t channels = std::min(part.outs - first, kWidth), width = channels > kLanes ? kWidth : kLanes;
    pack_outs(segment, channels, out_gradient + (part.group * s_.out_channels + part.out + first) * s_.pixels(),
              memory.panel);
    T* sums = memory.sums + first * taps;
    each_block(taps, kMostRows<T>, [&](int64_t tap, int rows) {
      with_constant<kMostRows<T>>(rows, [&](auto constant) {
        constexpr int n = decltype(constant)::value;
        const T* columns = memory.columns + tap * kPitch<T>;
        if (width == kWidth) multiply<n, 2>(count, columns, memory.panel, add, sums + tap * width);
        else multiply<n, 1>(count, columns, memory.panel, add, sums + tap * width);
      });
    });
  }
}

template <class T>
void FilterGradient<T>::store_part(const Part& part, const T* sums, T* filter_gradient) const {
  const int64_t taps = part.channels * window();
  alignas(64) T turned[kLanes * kLanes];
  for (int64_t first = 0; first < part.outs; first += kLanes) {
    const int64_t panel = first / kWidth * kWidth, width = part.outs - panel > kLanes ? kWidth : kLanes;
    const T* from = sums + panel * taps + (first - panel);
    const int64_t outs = std::min(part.outs - first, kLanes);
    T* to = filter_gradient + (part.group * s_.out_channels + part.out + first) * s_.taps() + part.channel * window();
    for (int64_t tap = 0; tap < taps; tap += kLanes) {
      const int64_t here = std::min(taps - tap, kLanes);
      if (here == kLanes && outs == kLanes) {
        transpose_square(from + tap * width, width, to + tap, s_.taps());
        continue;
      }
      transpose_part(from + tap * width, width, here, kLanes, turned, kLanes);
      for (int64_t o = 0; o < outs; ++o) std::copy_n(turned + o * kLanes, here, to + o * s_.taps() + tap);
    }
  }
}

// Split by groups, output channels and channels; by more of the output channels if these are too few for all threads.
template <class T>
void FilterGradient<T>::run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient) {
  const int64_t steps = parts_of(s_.in_channels, channels_), pixels = s_.images * s_.pixels();
  const int64_t coarse = s_.groups * steps, panels = parts_of(s_.out_channels, kWidth);
  const int64_t slices = std::max(parts_of(s_.out_channels, outs_), slices_per_item(coarse, context.threads, panels));
  const double flops = 2.0 * static_cast<double>(pixels * s_.taps()) * static_cast<double>(s_.out_channels);
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(steps * slices)), 1, columns_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    const Memory memory{columns_.data(lane), panel_.data(lane), sums_.data(lane)};
    Segment segment;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = i % slices, channel = i / slices % steps * channels_;
      const int64_t out = panels * slice / slices * kWidth;
      const int64_t end_out = std::min(panels * (slice + 1) / slices * kWidth, s_.out_channels);
      const Part part{i / slices / steps, channel, std::min(channels_, s_.in_channels - channel), out, end_out - out};
      for (int64_t pixel = 0; pixel < pixels; pixel += kDepth) {
        const int64_t count = std::min(pixels - pixel, kDepth);
        describe(pixel, count, segment);
        pack_columns(segment, part, image, memory.columns);
        add_segment(segment, count, pixel > 0, part, out_gradient, memory);
      }
      store_part(part, memory.sums, filter_gradient);
    }
  });
}

template class FilterGradient<float>;
template class FilterGradient<double>;

}  // namespace paddle_mini
