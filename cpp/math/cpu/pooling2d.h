// Pooling2d: the windows of pool2d on a CPU, and registers of neighbouring windows.
#pragma once

#include "math/map.h"
#include "math/pooled_axis.h"

namespace paddle_mini {

inline constexpr int64_t kFewColumns = 4;

// Geometry of the forward and gradient kernels: each channel of an image is a plane, and planes are pooled separately.
struct Pooling2d {
  int64_t planes, plane_size, width, stride, taps;
  bool in_squares = false;  // windows are 2 by 2, and each element is in exactly one
  KeptArray<PooledRange> rows, columns;
  int64_t whole_begin = 0, whole_end = 0;  // the columns whose windows lie inside the image
  bool exclusive;

  Pooling2d(const KernelInit& init, const Shape& x) : planes(x[0] * x[1]), plane_size(x[2] * x[3]), width(x[3]) {
    auto [height_axis, width_axis] = pooled_axes<2>(init, {x[2], x[3]});
    bool adaptive = is_adaptive_pooling(init);
    rows = pooled_ranges(height_axis, adaptive);
    columns = pooled_ranges(width_axis, adaptive);
    exclusive = init.attr<bool>("exclusive");
    stride = width_axis.stride, taps = width_axis.window;
    if (adaptive || stride > 2) return;  // vectorizing over columns needs windows of one size, at most 2 apart
    auto whole = [&](const PooledRange& column) { return column.end - column.begin == taps; };
    while (whole_begin < static_cast<int64_t>(columns.size()) && !whole(columns[whole_begin])) ++whole_begin;
    whole_end = whole_begin;
    while (whole_end < static_cast<int64_t>(columns.size()) && whole(columns[whole_end])) ++whole_end;
    in_squares = in_pairs() && height_axis.window == 2 && height_axis.stride == 2 && height_axis.before == 0 &&
                 whole_begin == 0 && 2 * whole_end == width &&
                 static_cast<int64_t>(4 * rows.size() * columns.size()) == plane_size;
    if (whole_end - whole_begin < kFewColumns) whole_end = whole_begin;  // too few: a window's rows are vectorized
  }

  // Whether windows have two columns each, and none in common.
  bool in_pairs() const { return taps == 2 && stride == 2; }

  // The divisor that turns the sum over a window into its mean.
  int64_t count(const PooledRange& row, const PooledRange& column) const {
    int64_t inside = (row.end - row.begin) * (column.end - column.begin);
    return std::max<int64_t>(exclusive ? inside : row.padded * column.padded, 1);
  }

  // Calls one(plane's offset, row, column, index of the output) for a single window or, for several consecutive
  // complete windows that begin at this one, many(the same arguments, count). `many` may read and write
  // `lanes` columns even if `count` is less: the rest are processed later, and all accesses stay inside the tensors.
  // Groups of planes run at the same time; what one of them accesses stays inside of its planes. Before its windows,
  // begin(first plane, count) is called.
  template <class Begin, class One, class Many>
  void for_each_window(KernelContext& context, int64_t lanes, Begin begin_group, One one, Many many) const {
    constexpr int64_t kPlanes = 16;
    const double cost = static_cast<double>(kPlanes) * cost_of_plane(lanes);
    parallel_for(context, {(planes + kPlanes - 1) / kPlanes, cost}, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * kPlanes, last = std::min(first + kPlanes, planes);
        begin_group(first, last - first);
        each_window_of(first, last, lanes, one, many);
      }
    });
  }

  // 0.6 ns for each element of a single window, 2 for each register of several windows.
  double cost_of_plane(int64_t lanes) const {
    double in_rows = 0, in_single = 0;
    for (const PooledRange& row : rows) in_rows += static_cast<double>(row.end - row.begin);
    for (int64_t c = 0; c < static_cast<int64_t>(columns.size()); ++c)
      if (c < whole_begin || c >= whole_end) in_single += static_cast<double>(columns[c].end - columns[c].begin);
    const double registers = static_cast<double>(taps * ((whole_end - whole_begin + lanes - 1) / lanes));
    return in_rows * (0.6 * in_single + 2 * registers);
  }

  template <class One, class Many>
  void each_window_of(int64_t first_plane, int64_t end_plane, int64_t lanes, One one, Many many) const {
    const int64_t outputs = static_cast<int64_t>(columns.size()),
                  in_plane = static_cast<int64_t>(rows.size()) * outputs;
    const int64_t end = end_plane * plane_size, total = end_plane * in_plane;
    int64_t at = first_plane * in_plane;
    for (int64_t p = first_plane; p < end_plane; ++p) {
      for (const PooledRange& row : rows) {
        for (int64_t c = 0; c < outputs;) {
          const PooledRange& column = columns[c];
          int64_t reach = p * plane_size + (row.end - 1) * width + column.begin + taps + 2 * lanes;
          if (c < whole_begin || c >= whole_end || reach > end || at + lanes > total) {
            one(p * plane_size, row, column, at);
            ++c, ++at;
            continue;
          }
          int64_t count = std::min(lanes, whole_end - c);
          many(p * plane_size, row, column, at, count);
          c += count, at += count;
        }
      }
    }
  }
};

// Loads elements that lie `stride` (1 or 2) apart, beginning at `from`.
template <class T>
Vec<T> load_apart(const T* from, int64_t stride) {
  if (stride == 1) return Vec<T>::load(from);
  return every_second(Vec<T>::load(from), Vec<T>::load(from + Vec<T>::size));
}

template <class T>
void add_apart(T* to, int64_t stride, Vec<T> values) {
  if (stride == 1) return (Vec<T>::load(to) + values).store(to);
  (Vec<T>::load(to) + spread_half<0>(values)).store(to);
  (Vec<T>::load(to + Vec<T>::size) + spread_half<1>(values)).store(to + Vec<T>::size);
}

// Passes `count` pairs of neighbours to f(where, values, how many of them), of `to` and the next ones.
template <class T, class F>
void each_of_pairs(T* to, Vec<T> first, Vec<T> second, int64_t count, F f) {
  constexpr int64_t lanes = Vec<T>::size;
  f(to, interleave_half<0>(first, second), std::min(2 * count, lanes));
  if (2 * count > lanes) f(to + lanes, interleave_half<1>(first, second), 2 * count - lanes);
}

// Nothing else is loaded or stored: a load that overlaps a recent store waits for it.
template <class T>
void add_pairs(T* to, Vec<T> first, Vec<T> second, int64_t count) {
  each_of_pairs(to, first, second, count, [](T* at, Vec<T> values, int64_t elements) {
    if (elements == Vec<T>::size) (Vec<T>::load(at) + values).store(at);
    else map_loop::store_part(map_loop::load_part(at, elements) + values, at, elements);
  });
}

template <class T>
void store_pairs(T* to, Vec<T> first, Vec<T> second, int64_t count) {
  each_of_pairs(to, first, second, count, [](T* at, Vec<T> values, int64_t elements) {
    if (elements == Vec<T>::size) values.store(at);
    else map_loop::store_part(values, at, elements);
  });
}

// Keeps the first `count` lanes and sets the others to 0.
template <class T>
Vec<T> first_lanes(Vec<T> values, int64_t count) {
  if (count == Vec<T>::size) return values;
  T numbers[Vec<T>::size];
  for (int i = 0; i < Vec<T>::size; ++i) numbers[i] = static_cast<T>(i);
  return select(Vec<T>::load(numbers) < Vec<T>(static_cast<T>(count)), values, Vec<T>(T(0)));
}

}  // namespace paddle_mini
