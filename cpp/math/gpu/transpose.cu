// Transposition on a GPU: tiles of 32 by 32 elements are transposed in shared memory, so that both reads and writes are
// coalesced.
#include "math/transpose.h"

#include "math/complex.h"

#include "math/gpu/strided_index.h"

namespace paddle_mini {
namespace {

// The last axis stays last.
template <class T>
struct Gather {
  StridedIndex<1> index_map;
  const T* in;
  T* out;

  PM_DEVICE void operator()() const {
    for (int64_t i = block_index() * kThreads + thread_index(); i < index_map.count; i += block_count() * kThreads) {
      int64_t at[1] = {};
      index_map.move(i, at);
      out[i] = in[at[0]];
    }
  }
};

template <class T>
struct TransposeTiles {
  static constexpr bool syncs = true;
  static constexpr int kSide = 32;
  StridedIndex<2> outer;  // offsets of each matrix of tiles in the input and in the result
  int64_t rows, columns, in_step, out_step;
  const T* in;
  T* out;

  PM_DEVICE void operator()() const {
    PM_SHARED T square[kSide][kSide + 1];  // the odd row size avoids bank conflicts
    int x = thread_index() % kSide, y = thread_index() / kSide;
    int64_t down = (rows + kSide - 1) / kSide, across = (columns + kSide - 1) / kSide;
    for (int64_t task = block_index(); task < outer.count * down * across; task += block_count()) {
      int64_t at[2] = {};
      outer.move(task / (down * across), at);
      int64_t row = task / across % down * kSide, column = task % across * kSide;
      for (int k = y; k < kSide; k += kThreads / kSide) {
        if (row + x < rows && column + k < columns) square[k][x] = in[at[0] + row + x + (column + k) * in_step];
      }
      sync_block();
      for (int k = y; k < kSide; k += kThreads / kSide) {
        if (row + k < rows && column + x < columns) out[at[1] + column + x + (row + k) * out_step] = square[x][k];
      }
      sync_block();
    }
  }
};

}  // namespace

template <class T>
void Transpose::run_as(KernelContext& context, const T* in, T* out) const {
  if (last_stays_) {
    StridedIndex<1> index_map;
    index_map.add(along_out_.size, {along_out_.in_step});
    for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) index_map.add(dim->size, {dim->in_step});
    return launch(context, blocks_for(numel_), Gather<T>{index_map, in, out});
  }
  StridedIndex<2> outer;
  for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) outer.add(dim->size, {dim->in_step, dim->out_step});
  TransposeTiles<T> tiles{outer, along_in_.size, along_out_.size, along_out_.in_step, along_in_.out_step, in, out};
  int64_t squares = (tiles.rows + 31) / 32 * ((tiles.columns + 31) / 32) * outer.count;
  launch(context, std::min(squares, kMostBlocks), tiles);
}

template void Transpose::run_as(KernelContext&, const uint8_t*, uint8_t*) const;
template void Transpose::run_as(KernelContext&, const uint16_t*, uint16_t*) const;
template void Transpose::run_as(KernelContext&, const uint32_t*, uint32_t*) const;
template void Transpose::run_as(KernelContext&, const uint64_t*, uint64_t*) const;
template void Transpose::run_as(KernelContext&, const Complex<double>*, Complex<double>*) const;

}  // namespace paddle_mini
