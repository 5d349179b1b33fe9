// The windows of pool2d, and how several neighbouring ones are walked at once.
#pragma once

#include "math/pooled_axis.h"
#include "math/vec.h"

namespace paddle_mini {

// Both axes, height then width, from the attributes; an unknown size gives an unknown output.
template <class Context>
std::array<WindowAxis, 2> pooling_axes(const Context& c, const Shape& x) {
  auto numbers = [&c](const char* name) { return c.template attr<std::vector<int32_t>>(name); };
  WindowAttributes window;
  window.set_strides(numbers("strides"));
  window.set_paddings(numbers("paddings"));
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  window.ceil_mode = c.template attr<bool>("ceil_mode");
  if (c.template attr<bool>("global_pooling")) {
    window = WindowAttributes();
    return window.axes(x[2], x[3], std::max<int64_t>(x[2], 1), std::max<int64_t>(x[3], 1));
  }
  std::vector<int32_t> size = numbers("ksize");
  require<ProgramError>(size.size() == 2, "attribute 'ksize' has ", size.size(), " numbers, 2 are needed");
  for (int32_t k : size) require<ProgramError>(k >= 1, "attribute 'ksize' holds ", k, ", it must be at least 1");
  if (!c.template attr<bool>("adaptive")) return window.axes(x[2], x[3], size[0], size[1]);
  std::array<WindowAxis, 2> axes;
  for (int i : {0, 1}) {
    axes[i].size = x[2 + i];
    axes[i].out = size[i];
  }
  return axes;
}

#ifndef PM_GPU
inline constexpr int64_t kFewColumns = 4;

// Geometry of either kernel: images and channels are planes that are pooled one by one.
struct Pooling2d {
  int64_t planes, plane_size, width, stride, taps;
  std::vector<PooledRange> rows, columns;
  int64_t whole_begin = 0, whole_end = 0;  // the columns whose windows lie inside of the image
  bool exclusive;

  Pooling2d(const KernelInit& init, const Shape& x) : planes(x[0] * x[1]), plane_size(x[2] * x[3]), width(x[3]) {
    auto [height_axis, width_axis] = pooling_axes(init, x);
    bool adaptive = init.attr<bool>("adaptive") && !init.attr<bool>("global_pooling");
    rows = pooled_ranges(height_axis, adaptive);
    columns = pooled_ranges(width_axis, adaptive);
    exclusive = init.attr<bool>("exclusive");
    stride = width_axis.stride, taps = width_axis.window;
    if (adaptive || stride > 2) return;  // several columns at once need windows of one size, at most 2 apart
    auto whole = [&](const PooledRange& column) { return column.end - column.begin == taps; };
    while (whole_begin < static_cast<int64_t>(columns.size()) && !whole(columns[whole_begin])) ++whole_begin;
    whole_end = whole_begin;
    while (whole_end < static_cast<int64_t>(columns.size()) && whole(columns[whole_end])) ++whole_end;
    if (whole_end - whole_begin < kFewColumns) whole_end = whole_begin;  // then a window's own rows fill registers
  }

  // What a sum over the window is divided by to be its mean.
  int64_t count(const PooledRange& row, const PooledRange& column) const {
    int64_t inside = (row.end - row.begin) * (column.end - column.begin);
    return std::max<int64_t>(exclusive ? inside : row.padded * column.padded, 1);
  }

  // Calls one(plane's offset, row, column, index of the output) or, for several whole columns from
  // this one on, many(the same, how many). `many` may read and write beyond what it needs, as far as
  // `lanes` columns reach: what lies there is later in order, and never beyond the tensors' ends.
  template <class One, class Many>
  void walk(int64_t lanes, One one, Many many) const {
    int64_t outputs = static_cast<int64_t>(columns.size()), at = 0, end = planes * plane_size;
    int64_t total = planes * static_cast<int64_t>(rows.size()) * outputs;
    for (int64_t p = 0; p < planes; ++p) {
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

// What stands `stride`, 1 or 2, apart from `from` on.
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

// The first `count` lanes; 0 in the others.
template <class T>
Vec<T> first_lanes(Vec<T> values, int64_t count) {
  if (count == Vec<T>::size) return values;
  T numbers[Vec<T>::size];
  for (int i = 0; i < Vec<T>::size; ++i) numbers[i] = static_cast<T>(i);
  return select(Vec<T>::load(numbers) < Vec<T>(static_cast<T>(count)), values, Vec<T>(T(0)));
}
#endif

}  // namespace paddle_mini
