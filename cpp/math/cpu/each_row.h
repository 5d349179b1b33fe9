// each_row: loops over the rows of tensors that step through memory differently, from any row on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "core/shape.h"

namespace paddle_mini {

// Rows with index first <= i < last along dimension `dim` of the outer dimensions; dim -1: all rows.
struct RowSlab {
  int dim = -1;
  int64_t first = 0, last = 0;
};

// Dim has a size and steps(), an array with the step of each operand along this dimension. The dimensions of the rows are
// ordered with the slowest first.
template <class Dim>
int64_t count_rows(const std::vector<Dim>& outer) {
  int64_t rows = 1;
  for (const Dim& dim : outer) rows *= dim.size;
  return rows;
}

// Calls f(row, positions of its first element in the operands) for some rows of the slab: [begin, end), counted within it.
// `row` counts all rows.
template <class Dim, class F>
void each_row(const std::vector<Dim>& outer, const RowSlab& slab, int64_t begin, int64_t end, F f) {
  const int last = static_cast<int>(outer.size()) - 1;
  decltype(std::declval<Dim>().steps()) at{};
  if (last < 0) {  // one row
    if (begin < end) f(begin, at);
    return;
  }
  int64_t index[Shape::kMaxRank], low[Shape::kMaxRank], high[Shape::kMaxRank], row_steps[Shape::kMaxRank];
  int64_t rest = begin, row = 0;
  auto move = [&](int d, int64_t by) {
    auto steps = outer[d].steps();
    for (size_t i = 0; i < at.size(); ++i) at[i] += steps[i] * by;
    row += row_steps[d] * by;
  };
  for (int d = last; d >= 0; --d) {
    row_steps[d] = d == last ? 1 : row_steps[d + 1] * outer[d + 1].size;
    low[d] = d == slab.dim ? slab.first : 0, high[d] = d == slab.dim ? slab.last : outer[d].size;
    int64_t size = std::max<int64_t>(high[d] - low[d], 1);
    index[d] = low[d] + rest % size;
    rest /= size;
    move(d, index[d]);
  }
  for (int64_t i = begin; i < end; ++i) {
    f(row, at);
    for (int d = last; d >= 0; --d) {
      move(d, 1);
      if (++index[d] < high[d]) break;
      move(d, low[d] - high[d]);
      index[d] = low[d];
    }
  }
}

// Adds rows to targets, the operand `which`, so that no two threads add to one element and each element's sum has the
// order of the rows. Calls add(row, positions, begin, end) for the columns [begin, end) of each row. Rows of `width` elements
// are added to as many elements if `by_column`, else to one.
template <class Dim, class F>
void add_rows(KernelContext& context, const std::vector<Dim>& outer, size_t which, bool by_column, int64_t width,
              double cost_of_row, F add) {
  constexpr int64_t kColumns = 64;
  const int64_t rows = count_rows(outer);
  if (by_column && width >= 2 * kColumns) {
    double cost = cost_of_row * static_cast<double>(rows) / static_cast<double>(width);
    return parallel_for(context, {width, cost, kColumns}, [&](int64_t begin, int64_t end) {
      each_row(outer, {}, 0, rows, [&](int64_t row, const auto& at) { add(row, at, begin, end); });
    });
  }
  // By the slowest dimension along which there are targets for all threads.
  int dim = -1;
  for (int d = static_cast<int>(outer.size()) - 1; d >= 0; --d) {
    if (outer[d].steps()[which] != 0 && (dim < 0 || outer[d].size >= context.threads)) dim = d;
  }
  auto whole_row = [&](int64_t row, const auto& at) { add(row, at, 0, width); };
  if (dim < 0) return each_row(outer, {}, 0, rows, whole_row);
  const int64_t rows_of_one = rows / std::max<int64_t>(outer[dim].size, 1);
  const double cost = cost_of_row * static_cast<double>(rows_of_one);
  if (cost_of_row > context.least_loop * context.threads) return each_row(outer, {}, 0, rows, whole_row);
  parallel_for(context, {outer[dim].size, cost}, [&](int64_t first, int64_t last) {
    each_row(outer, {dim, first, last}, 0, rows_of_one * (last - first), whole_row);
  });
}

}  // namespace paddle_mini
