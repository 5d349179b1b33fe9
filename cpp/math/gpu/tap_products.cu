// Kernels of products with taps: tiled matrix products with one operand gathered from the image (implicit GEMM).
#include "math/gpu/tap_offsets.h"

#include "math/gpu/fold.h"
#include "math/for_each_index.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

// C [rows, columns] = A [rows, depth] B [depth, columns], with B gathered from the image. Forward: columns are windows
// and the depth is taps. by_tap, for the filter's gradient: columns are taps and the depth is windows.
template <class T, int each, bool by_tap>
struct TapSquares : TapOffsets<T> {
  static constexpr bool syncs = true;
  static constexpr int kSide = 16 * each, kDepth = 8;

  const T *image, *a;
  T *c, *partial;  // if there are several slices: [slice][group][row][column]
  int64_t columns, depth, slices;

  PM_DEVICE Spot column_spot(int64_t i) const { return by_tap ? this->tap(i) : this->window(i); }
  PM_DEVICE Spot depth_spot(int64_t i) const { return by_tap ? this->window(i) : this->tap(i); }
  PM_DEVICE int64_t a_row() const { return by_tap ? this->out.channel : this->filter_row; }
  PM_DEVICE int64_t a_group() const { return by_tap ? this->out.group : this->filter_group; }
  PM_DEVICE int64_t c_row() const { return by_tap ? this->filter_row : this->out.channel; }
  PM_DEVICE int64_t c_group() const { return by_tap ? this->filter_group : this->out.group; }

  int64_t across() const { return (columns + kSide - 1) / kSide; }
  int64_t down() const { return (this->rows + kSide - 1) / kSide; }
  int64_t tasks() const { return this->groups * slices * down() * across(); }

  PM_DEVICE void operator()() const {
    PM_SHARED Spot at_column[kSide], at_depth[2][kDepth];
    alignas(16) PM_SHARED T left[kDepth][kSide + 4], right[kDepth][kSide + 4];
    int t = thread_index();
    int64_t wide = (columns + kSide - 1) / kSide, high = (this->rows + kSide - 1) / kSide;
    int64_t share = (depth + slices * kDepth - 1) / (slices * kDepth) * kDepth;
    for (int64_t task = block_index(); task < this->groups * slices * high * wide; task += block_count()) {
      int64_t column = task % wide * kSide, row = task / wide % high * kSide;
      int64_t slice = task / (wide * high) % slices, group = task / (wide * high) / slices;
      int64_t begin = slice * share, end = begin + share < depth ? begin + share : depth;
      if (t < kSide) at_column[t] = column_spot(column + t);
      if (t < kDepth) at_depth[0][t] = begin + t < end ? depth_spot(begin + t) : this->nowhere();
      T sums[each][each] = {};
      int now = 0;
      for (int64_t l = begin; l < end; l += kDepth, now ^= 1) {
        sync_block();
        load(at_depth[now], l, end, group, row, left);
        gather(at_depth[now], at_column, group, right);
        int64_t next = l + kDepth + t;
        if (t < kDepth) at_depth[now ^ 1][t] = next < end ? depth_spot(next) : this->nowhere();
        sync_block();
        multiply(left, right, sums);
      }
      sync_block();
      store(at_column, slice, group, row, column, sums);
      sync_block();
    }
  }

  PM_DEVICE void load(const Spot* at_depth, int64_t l, int64_t end, int64_t group, int64_t row,
                      T (&left)[kDepth][kSide + 4]) const {
    const T* from = a + group * a_group() + row * a_row();
    int64_t high = this->rows - row;
    for (int e = thread_index(); e < kSide * kDepth; e += kThreads) {
      int k = e % kDepth, i = e / kDepth;
      left[k][i] = i < high && l + k < end ? from[i * a_row() + at_depth[k].other] : T(0);
    }
  }

  // Adjacent threads load adjacent windows.
  PM_DEVICE void gather(const Spot* at_depth, const Spot* at_column, int64_t group,
                        T (&right)[kDepth][kSide + 4]) const {
    const T* from = image + group * this->in.group;
    for (int e = thread_index(); e < kSide * kDepth; e += kThreads) {
      int k = by_tap ? e % kDepth : e / kSide, j = by_tap ? e / kDepth : e % kSide;
      right[k][j] = this->meeting(from, at_depth[k], at_column[j]);
    }
  }

  // Index in the tile of a thread's i-th element: runs of 4.
  PM_DEVICE static int element(int thread, int i) { return i / 4 * 64 + thread * 4 + i % 4; }

  PM_DEVICE void multiply(const T (&left)[kDepth][kSide + 4], const T (&right)[kDepth][kSide + 4],
                          T (&sums)[each][each]) const {
    int x = thread_index() % 16, y = thread_index() / 16;
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      T one[each], other[each];
#pragma unroll
      for (int i = 0; i < each; ++i) one[i] = left[k][element(y, i)], other[i] = right[k][element(x, i)];
#pragma unroll
      for (int i = 0; i < each; ++i) {
#pragma unroll
        for (int j = 0; j < each; ++j) sums[i][j] = multiply_add(one[i], other[j], sums[i][j]);
      }
    }
  }

  PM_DEVICE void store(const Spot* at_column, int64_t slice, int64_t group, int64_t row, int64_t column,
                       const T (&sums)[each][each]) const {
    int x = thread_index() % 16, y = thread_index() / 16;
#pragma unroll
    for (int i = 0; i < each; ++i) {
#pragma unroll
      for (int j = 0; j < each; ++j) {
        int64_t r = row + element(y, i), at = column + element(x, j);
        if (r >= this->rows || at >= columns) continue;
        if (slices == 1) c[group * c_group() + r * c_row() + at_column[element(x, j)].other] = sums[i][j];
        else partial[((slice * this->groups + group) * this->rows + r) * columns + at] = sums[i][j];
      }
    }
  }
};

// Combines the slices.
template <class Squares, class T>
struct TapSlices {
  Squares s;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t all = s.groups * s.rows * s.columns;
    T total = s.partial[i];
    for (int64_t slice = 1; slice < s.slices; ++slice) total += s.partial[slice * all + i];
    int64_t row = i / s.columns % s.rows, group = i / s.columns / s.rows;
    s.c[group * s.c_group() + row * s.c_row() + s.column_spot(i % s.columns).other] = total;
  }
};

// One thread per element of the result, for groups with so few rows that tiles would be mostly empty.
template <class T>
struct TapSingles : TapOffsets<T> {
  const T *image, *filter;
  T* result;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t all = this->images * this->window_count, row = i / all % this->rows, group = i / all / this->rows;
    Spot window = this->window(i % all);
    const T* from = image + group * this->in.group + window.in;
    const T* factors = filter + group * this->filter_group + row * this->filter_row;
    T total = 0;
    for (int64_t c = 0; c < this->channels; ++c, from += this->in.channel, factors += this->filter_channel) {
      total = add_channel(window, from, factors, total);
    }
    result[group * this->out.group + row * this->out.channel + window.other] = total;
  }

  PM_DEVICE T add_channel(const Spot& window, const T* from, const T* factors, T total) const {
    const TapAxis &depth = this->axes[0], &height = this->axes[1], &width = this->axes[2];
    for (int64_t k = 0; k < depth.taps; ++k) {
      int64_t z = k * depth.tap_step;
      for (int64_t i = 0; i < height.taps; ++i) {
        int64_t y = i * height.tap_step, line = this->place(z, y, 0);
        const T* factor = factors +
                          ((depth.filter_first + k * depth.filter_step) * height.filter + height.filter_first +
                           i * height.filter_step) *
                              width.filter +
                          width.filter_first;
        bool inside = z + window.z >= 0 && z + window.z < depth.in && y + window.y >= 0 && y + window.y < height.in;
        for (int64_t j = 0; j < width.taps; ++j, factor += width.filter_step) {
          int64_t x = j * width.tap_step;
          bool there = inside && x + window.x >= 0 && x + window.x < width.in;
          total = multiply_add(*factor, there ? from[line + x * this->in.pixel] : T(0), total);
        }
      }
    }
    return total;
  }
};

template <class T>
struct MeetingProduct {
  const T *image, *gradient;
  int64_t size[3], first[3];

  // Offsets: in the result's gradient, in the image, and the position along each axis.
  PM_DEVICE T operator()(const int64_t (&at)[5]) const {
    int64_t z = at[2] + first[0], y = at[3] + first[1], x = at[4] + first[2];
    bool inside = z >= 0 && z < size[0] && y >= 0 && y < size[1] && x >= 0 && x < size[2];
    return gradient[at[0]] * (inside ? image[at[1]] : T(0));
  }
};
template <class T>
struct PutTap {
  T* gradient;
  PM_DEVICE void operator()(int64_t i, double sum) const { gradient[i] = static_cast<T>(sum); }
};

constexpr int64_t kFewRows = 8;

template <class T, int each, bool by_tap>
void run_squares(KernelContext& context, const TapProducts<T>& products, const T* image, const T* a, T* c) {
  TapOffsets<T> spots(products);
  int64_t windows = products.images * spots.window_count, taps = products.channels * spots.tap_count;
  using Squares = TapSquares<T, each, by_tap>;
  Squares squares{spots, image, a, c, nullptr, by_tap ? taps : windows, by_tap ? windows : taps, 1};
  int64_t results = products.groups * products.rows * squares.columns;
  auto room = static_cast<int64_t>(kWorkspace / sizeof(T));
  while (squares.tasks() < 512 && squares.depth > squares.slices * 256 && 2 * squares.slices * results <= room) {
    squares.slices *= 2;
  }
  if (squares.slices > 1) squares.partial = static_cast<T*>(workspace(context));
  launch(context, std::min(squares.tasks(), kMostBlocks), squares);
  if (squares.slices > 1) for_each_index(context, results, TapSlices<Squares, T>{squares});
}

template <class T, bool by_tap>
void choose_squares(KernelContext& context, const TapProducts<T>& products, const T* image, const T* a, T* c) {
  bool large = products.rows > 64 && sizeof(T) == 4;
  if constexpr (sizeof(T) == 4) {
    if (large) return run_squares<T, 8, by_tap>(context, products, image, a, c);
  }
  run_squares<T, 4, by_tap>(context, products, image, a, c);
}

}  // namespace

template <class T>
void TapProducts<T>::run(KernelContext& context, const T* image, const T* filter, T* result) const {
  int64_t results = images * groups * rows * windows();
  if (results == 0) return;
  if (rows >= kFewRows) return choose_squares<T, false>(context, *this, image, filter, result);
  for_each_index(context, results, TapSingles<T>{TapOffsets<T>(*this), image, filter, result});
}

template <class T>
void TapProducts<T>::filter_gradient(KernelContext& context, const T* image, const T* result_gradient,
                                     T* gradient) const {
  if (groups * rows * channels * taps() == 0) return;
  if (rows >= kFewRows) return choose_squares<T, true>(context, *this, image, result_gradient, gradient);
  StridedIndex<5> remaining, folded;  // the filter's elements in order; windows
  MeetingProduct<T> product{image, result_gradient, {}, {}};
  int64_t in_step = in.pixel, out_step = out.pixel;
  for (int d = 2; d >= 0; --d) {
    const TapAxis& axis = axes[d];
    int64_t tap = axis.tap_step, next = axis.stride;
    remaining.add(axis.taps, {0, tap * in_step, d == 0 ? tap : 0, d == 1 ? tap : 0, d == 2 ? tap : 0});
    folded.add(axis.windows, {out_step, next * in_step, d == 0 ? next : 0, d == 1 ? next : 0, d == 2 ? next : 0});
    product.size[d] = axis.in, product.first[d] = axis.first;
    product.image += axis.first * in_step;
    in_step *= axis.in, out_step *= axis.out;
  }
  remaining.add(channels, {0, in.channel, 0, 0, 0});
  remaining.add(rows, {out.channel, 0, 0, 0, 0});
  remaining.add(groups, {out.group, in.group, 0, 0, 0});
  folded.add(images, {out.image, in.image, 0, 0, 0});
  fold(context, remaining, folded, 0.0, product, Plus{}, PutTap<T>{gradient});
}

template struct TapProducts<float>;
template struct TapProducts<double>;

}  // namespace paddle_mini
