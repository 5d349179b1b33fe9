// Attention: softmax(scale Q K' + masks) V for many matrices, without the matrix of all scores.
#pragma once

#include <vector>

#include "core/parallel.h"

namespace paddle_mini {

// Where the matrices of an operand lie: those of each of `heads` adjacent matrices are head_step apart, and batches of them
// batch_step; rows of a matrix are row_step apart.
struct AttentionOperand {
  int64_t first = 0, batch_step = 0, head_step = 0, row_step = 0;
  int64_t at(int64_t matrix, int64_t heads) const {
    return first + matrix / heads * batch_step + matrix % heads * head_step;
  }
};

struct AttentionSizes {
  int64_t matrices = 0, heads = 1, queries = 0, keys = 0;
  int64_t width = 0, value_width = 0;  // columns of Q and K, and of V
  bool keys_by_column = false;         // whether K is stored [width, keys]
  float scale = 1, weight_factor = 1;  // multiply the scores before masks are added, and the weights
  AttentionOperand q, k, v, out;
};

// Scores to add: those of query i and key j of a matrix are at offsets[matrix] + i row_step + j column_step.
struct AttentionMask {
  std::vector<int64_t> offsets;
  int64_t row_step = 0, column_step = 0;
};

// K and V of a matrix are packed once into panels of registers. For a block of rows of Q, the scores, their softmax (of
// whole rows, so that there is no running maximum) and the product with V are computed one after the other while they are
// in the cache.
template <class T>
class Attention {
 public:
  Attention(KernelInit& init, const AttentionSizes& sizes, std::vector<AttentionMask> masks);

  void run(KernelContext& context, const T* q, const T* k, const T* v, const std::vector<const T*>& masks,
           T* out) const;

 private:
  void pack_keys(const T* k, T* panels) const;
  void pack_values(const T* v, T* panels) const;
  void run_rows(int64_t matrix, int64_t first, int64_t count, const T* q, const T* key_panels, const T* value_panels,
                const std::vector<const T*>& masks, T* scores, T* out) const;
  T masked_max(int64_t matrix, int64_t row, const std::vector<const T*>& masks, T* scores) const;

  AttentionSizes s_;
  std::vector<AttentionMask> masks_;
  int64_t rows_at_once_ = 1;
  LaneScratch<T> memory_;  // panels of K, panels of V, scores, a factor for each row of scores
};

extern template class Attention<float>;
extern template class Attention<double>;

}  // namespace paddle_mini
