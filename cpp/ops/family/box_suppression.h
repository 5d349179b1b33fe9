// Greedy suppression: of boxes that overlap, the one with the largest score stays.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/op_table.h"

namespace paddle_mini {

// The area of a box left, top, right, bottom; 0 if it ends before it begins. Without `normalized` its ends are pixels inside.
template <class T>
T box_area(const T* box, bool normalized) {
  if (box[2] < box[0] || box[3] < box[1]) return T(0);
  T border = normalized ? T(0) : T(1);
  return (box[2] - box[0] + border) * (box[3] - box[1] + border);
}

// Intersection over union.
template <class T>
T box_overlap(const T* a, const T* b, bool normalized) {
  if (b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1]) return T(0);
  T border = normalized ? T(0) : T(1);
  T width = std::min(a[2], b[2]) - std::max(a[0], b[0]) + border;
  T height = std::min(a[3], b[3]) - std::max(a[1], b[1]) + border, both = width * height;
  return both / (box_area(a, normalized) + box_area(b, normalized) - both);
}

// The indices below `count` that are `wanted`, the largest score first, at most `most` of them unless it is negative.
// Equal scores keep their order; NaN comes last.
template <class Score, class Wanted>
std::vector<int64_t> by_score(int64_t count, int64_t most, Score score, Wanted wanted) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    if (wanted(i)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    auto x = score(a), y = score(b);
    return x > y || (x == x && y != y);
  });
  if (most >= 0 && most < static_cast<int64_t>(order.size())) order.resize(static_cast<size_t>(most));
  return order;
}

// Keeps the boxes that overlap no kept one by more than the threshold. With eta < 1, the threshold shrinks with each kept
// box while it is above 0.5.
template <class Box, class T>
std::vector<int64_t> suppressed(const std::vector<int64_t>& order, Box box, T threshold, T eta, bool normalized) {
  std::vector<int64_t> kept;
  for (int64_t i : order) {
    bool stays = std::all_of(kept.begin(), kept.end(),
                             [&](int64_t other) { return box_overlap(box(i), box(other), normalized) <= threshold; });
    if (!stays) continue;
    kept.push_back(i);
    if (eta < T(1) && threshold > T(0.5)) threshold *= eta;
  }
  return kept;
}

// Calls f(T()) for the type of a tensor's floats.
template <class F>
auto for_float_type(DType dtype, F f) {
  require<ShapeError>(dtype == DType::Float32 || dtype == DType::Float64, "the type of the boxes is ", name_of(dtype),
                      ", it must be float32 or float64");
  return dtype == DType::Float32 ? f(float()) : f(double());
}

// An output of rows in sequences, one for each image.
inline void set_rows_of_images(InferContext& c, const char* port, DType dtype, const Shape& shape,
                               const std::vector<int64_t>& offsets) {
  VarInfo info{VarKind::Tensor, dtype, shape, 1};
  if (!offsets.empty()) info.lod = {offsets};
  c.set_output(port, info);
}

}  // namespace paddle_mini
