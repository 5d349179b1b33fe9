// Sparse gradients: rows that occur several times become one, their sum; rows come out sorted.
#pragma once

#include <utility>
#include <vector>

#include "math/map.h"

namespace paddle_mini {

// One list of rows with their values: rows[i] belongs to values[i * width] and the elements after it.
template <class T>
struct RowValues {
  const std::vector<int64_t>* rows;
  const T* values;
};

// Keeps its memory between calls, so a step that meets no more rows than an earlier one allocates nothing.
class RowMerge {
 public:
  RowMerge() = default;
  explicit RowMerge(int64_t most_rows);

  // Sums what belongs to one row, in the order of the lists and within them, so that the result is
  // the same every time. out[i * width] and on is the sum for rows()[i]; `out` needs room for all
  // rows given, and is none of the lists' values.
  template <class T>
  void run(KernelContext& context, const std::vector<RowValues<T>>& lists, int64_t width, T* out);

  const std::vector<int64_t>& rows() const { return rows_; }  // sorted, each once

 private:
  void sort();

  struct Entry {
    int64_t row;
    int32_t list;
    int64_t position;
  };
  std::vector<Entry> entries_, spare_;
  std::vector<int64_t> rows_;
};

extern template void RowMerge::run<float>(KernelContext&, const std::vector<RowValues<float>>&, int64_t, float*);
extern template void RowMerge::run<double>(KernelContext&, const std::vector<RowValues<double>>&, int64_t, double*);

}  // namespace paddle_mini
