// A step of a recurrent layer together with the product that it needs, as one kernel: a launch takes longer than the work
// of a small step.
#pragma once

#include "math/gpu/map.h"
#include "math/gpu/rnn_steps.h"
#include "math/number.h"

namespace paddle_mini {

// A block computes the step for a tile of sequences and units. Its threads are groups of kSlices; a group computes the
// sums of 4 sequences and up to 4 columns, a thread of it a slice of each of these sums.
template <class T, class Step, int lanes>
struct RnnFusedStep {
  static constexpr bool syncs = true;
  static constexpr int kSums = Step::kSums, kRows = 4, kUnits = kSums > 1 ? 1 : 4, kColumns = kSums * kUnits;
  static constexpr int kSide = kSums > 1 ? 4 : 2;  // groups in each direction; 2 leave more blocks to a GPU
  static constexpr int kSlices = kThreads / (kSide * kSide);
  static constexpr int kTileRows = kRows * kSide, kTileUnits = kUnits * kSide;
  static constexpr int kResults = kSums * kTileRows * kTileUnits;
  static constexpr int kFolds = kThreads / kResults;  // threads that add the slices of one sum
  static constexpr int kApart = kSlices + 1;  // odd, which avoids bank conflicts

  Step step;
  const T* values;  // [batch, depth]
  const T* matrix;  // [sums * hidden, depth]
  int64_t depth;  // a multiple of `lanes`

  static int64_t blocks(const RnnSizes& size) {
    return (size.batch + kTileRows - 1) / kTileRows * ((size.hidden + kTileUnits - 1) / kTileUnits);
  }

  PM_DEVICE void operator()() const {
    PM_SHARED T slices[kResults * kApart], folds[kFolds * kResults];
    const RnnSizes& size = step.pass.size;
    int64_t across = (size.hidden + kTileUnits - 1) / kTileUnits;
    int64_t row = block_index() / across * kTileRows, first = block_index() % across * kTileUnits;
    int t = thread_index();
    int64_t b = row + t / kTileUnits, unit = first + t % kTileUnits;
    bool stores = t < kTileRows * kTileUnits && b < size.batch && unit < size.hidden;
    typename Step::Values loaded{};
    if (stores) loaded = step.load(b, unit);  // before the product, so that both wait for memory together
    multiply(row, first, slices);
    sync_block();
    fold(slices, folds);
    sync_block();
    if (!stores) return;
    T sums[kSums];
    for (int s = 0; s < kSums; ++s) {
      sums[s] = folds[s * kTileRows * kTileUnits + t];
      for (int f = 1; f < kFolds; ++f) sums[s] += folds[f * kResults + s * kTileRows * kTileUnits + t];
    }
    step.store(b, unit, loaded, sums);
  }

 private:
  using Pack = map_gpu::Pack<T, lanes>;

  PM_DEVICE void multiply(int64_t row, int64_t first, T* slices) const {
    const RnnSizes& size = step.pass.size;
    int slice = thread_index() % kSlices, group = thread_index() / kSlices;
    int down = group / kSide * kRows, right = group % kSide * kUnits;
    const T *a[kRows], *b[kColumns];
    for (int r = 0; r < kRows; ++r) a[r] = values + least(row + down + r, size.batch - 1) * depth;
    for (int c = 0; c < kColumns; ++c) {
      int64_t unit = least(first + right + c % kUnits, size.hidden - 1);
      b[c] = matrix + (c / kUnits * size.hidden + unit) * depth;
    }
    T sums[kRows][kColumns] = {};
#pragma unroll 4
    for (int64_t k = slice * lanes; k < depth; k += kSlices * lanes) {
      Pack x[kRows], y[kColumns];
#pragma unroll
      for (int r = 0; r < kRows; ++r) x[r] = Pack::load(a[r] + k);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) y[c] = Pack::load(b[c] + k);
#pragma unroll
      for (int l = 0; l < lanes; ++l) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int c = 0; c < kColumns; ++c) sums[r][c] = multiply_add(x[r].at[l], y[c].at[l], sums[r][c]);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns; ++c) {
        int result = (c / kUnits * kTileRows + down + r) * kTileUnits + right + c % kUnits;
        slices[result * kApart + slice] = sums[r][c];
      }
    }
  }

  PM_DEVICE void fold(const T* slices, T* folds) const {
    int result = thread_index() % kResults, part = thread_index() / kResults;
    if (part >= kFolds) return;
    T sum = slices[result * kApart + part];
    for (int slice = part + kFolds; slice < kSlices; slice += kFolds) sum += slices[result * kApart + slice];
    folds[part * kResults + result] = sum;
  }

  // Values outside of the tile are read from its last row or unit; their sums are not used.
  PM_DEVICE static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
};

// values: nullptr stands for 0
template <class T, class Step>
void run_fused_step(KernelContext& context, const T* values, const T* matrix, int64_t depth, const Step& step) {
  constexpr int kLanes = 16 / sizeof(T);
  auto run = [&](auto body) { launch(context, body.blocks(step.pass.size), body); };
  bool aligned = depth % kLanes == 0 && reinterpret_cast<uintptr_t>(values) % 16 == 0 &&
                 reinterpret_cast<uintptr_t>(matrix) % 16 == 0;
  if (!values) depth = 0;
  if (aligned) run(RnnFusedStep<T, Step, kLanes>{step, values, matrix, depth});
  else run(RnnFusedStep<T, Step, 1>{step, values, matrix, depth});
}

}  // namespace paddle_mini
