// Implements copies, transfers and kernels that run tile by tile.
#include "executor/step_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/interruption.h"
#include "core/parallel.h"

namespace paddle_mini {
namespace {

std::atomic<int64_t> epilogue_tile{kEpilogueTile};

}  // namespace

void set_epilogue_tile(int64_t elements) { epilogue_tile = std::max<int64_t>(elements, 1); }

void CopyKernel::run(KernelContext&) {
  if (from_.variable->is_rows()) to_.variable->set_rows(from_.variable->rows);
  size_t bytes = to_.variable->tensor.bytes();
  if (to_.device) to_.device->within(to_.where(), from_.where(), bytes);
  else std::memcpy(to_.where(), from_.where(), bytes);
}

void TransferKernel::run(KernelContext&) {
  if (from_.variable->is_rows()) to_.variable->set_rows(from_.variable->rows);
  size_t bytes = to_.variable->tensor.bytes();
  if (to_.device) to_.device->to_device(to_.where(), from_.where(), bytes);
  else from_.device->to_host(to_.where(), from_.where(), bytes);
}

void SeveralKernels::undo(KernelContext& context) {
  for (auto kernel = kernels_.rbegin(); kernel != kernels_.rend(); ++kernel) {
    if (auto* step = dynamic_cast<Undoable*>(kernel->get())) step->undo(context);
  }
}

void FusedTilesKernel::add(std::unique_ptr<Kernel> kernel) {
  auto tiled = dynamic_cast<TiledKernel*>(kernel.get());
  require<ProgramError>(tiled, "the operator's schema is tiled, but its kernel is not a TiledKernel");
  tiled_.push_back(tiled);
  independent_ &= tiled->has_independent_tiles();
  SeveralKernels::add(std::move(kernel));
}

void FusedTilesKernel::run_tile(KernelContext& context, int64_t begin, int64_t end) {
  // Arrays in memory need small tiles: the hardware prefetcher follows each stream for a few lines, and at most six
  // streams. Arrays in cache need few calls, so large tiles. Between two runs of a kernel those of all others pass the cache.
  constexpr int64_t kInCache = 1 << 18, kFew = 2048;
  const int64_t tile = all_ > kInCache && elements_ > kFew ? 256 : 2048;
  if (begin == 0) begun_ = 0;
  if (!independent_ || end - begin <= 4 * tile) return run_tiles(context, begin, end, tile);
  // The first and the last tile have work that is done once.
  int64_t first = begin + tile, tiles = (end - first - 1) / tile;
  run_tiles(context, begin, first, tile);
  double cost = static_cast<double>(tiled_.size()) * bytes_cost(static_cast<double>(tile) * 16);
  Interruptible never(nullptr);  // undo() needs all tiles
  parallel_for(context, {tiles, cost}, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      int64_t at = first + i * tile;
      for (TiledKernel* kernel : tiled_) kernel->run_tile(context, at, at + tile);
    }
  });
  run_tiles(context, first + tiles * tile, end, tile);
}

void FusedTilesKernel::run_tiles(KernelContext& context, int64_t begin, int64_t end, int64_t tile) {
  for (int64_t at = begin; at < end; at += tile) {
    int64_t next = std::min(at + tile, end);
    for (at_ = 0; at_ < tiled_.size(); ++at_) {
      begun_ = std::max(begun_, at_ + 1);
      try {
        tiled_[at_]->run_tile(context, at, next);
      } catch (...) {
        if (next == elements_) finish_others(context, at, next);
        throw;
      }
    }
  }
}

// Kernels that have not begun still hold the state of the previous run, so they are skipped.
void FusedTilesKernel::undo(KernelContext& context) {
  for (size_t i = begun_; i-- > 0;) {
    if (auto* step = dynamic_cast<Undoable*>(kernels_[i].get())) step->undo(context);
  }
}

// A kernel may report an error of an earlier tile in its last tile. The kernels after it must then complete their step.
void FusedTilesKernel::finish_others(KernelContext& context, int64_t begin, int64_t end) {
  for (size_t other = at_ + 1; other < tiled_.size(); ++other) {
    begun_ = std::max(begun_, other + 1);
    try {
      tiled_[other]->run_tile(context, begin, end);
    } catch (const Error&) {  // the first error is rethrown
    }
  }
}

void EpilogueKernel::add(std::unique_ptr<Kernel> kernel) {
  if (!in_parts_ || !kernels_.empty()) {
    elementwise_.push_back(dynamic_cast<ElementwiseKernel*>(kernel.get()));
    require<ProgramError>(elementwise_.back(),
                          "the operator's schema is elementwise, but its kernel is not an ElementwiseKernel");
    register_steps_.push_back(dynamic_cast<RegisterStepKernel*>(kernel.get()));
  }
  SeveralKernels::add(std::move(kernel));
}

void EpilogueKernel::run(KernelContext& context) {
  at_ = 0;
  if (in_parts_ && kernels_[0]->stores_parts()) {
    context.epilogue = this;
    try {
      kernels_[0]->run(context);
    } catch (...) {
      context.epilogue = nullptr;
      throw;
    }
    context.epilogue = nullptr;
    return;
  }
  if (in_parts_) kernels_[0]->run(context);
  const double cost = bytes_cost(16) * static_cast<double>(elementwise_.size());
  parallel_for(context, {elements_, cost, 256}, [&](int64_t begin, int64_t end) { run_range(begin, end); });
}

RegisterStep EpilogueKernel::step(size_t kernel) const {
  const RegisterStepKernel* step = register_steps_[kernel];
  return step ? step->register_step(output_.data) : RegisterStep{};
}

void EpilogueKernel::run(const void* part, size_t bytes, size_t first) const {
  const size_t size = size_of(output_.dtype);
  const auto offset = static_cast<const char*>(part) - static_cast<const char*>(output_.data);
  const auto begin = static_cast<int64_t>(static_cast<size_t>(offset) / size);
  run_range(begin, begin + static_cast<int64_t>(bytes / size), first);
}

void EpilogueKernel::run_range(int64_t begin, int64_t end, size_t first) const {
  const int64_t tile = epilogue_tile.load(std::memory_order_relaxed);
  for (int64_t at = begin; at < end; at += tile) {
    for (size_t i = first; i < elementwise_.size(); ++i) elementwise_[i]->run_range(at, std::min(at + tile, end));
  }
}

void BatchKernel::run(KernelContext& context) {
  context.begin_batch();
  try {
    for (at_ = 0; at_ < kernels_.size(); ++at_) kernels_[at_]->run(context);
    at_ = 0;
    context.end_batch();
  } catch (...) {
    context.in_batch = false;
    context.pending.clear();
    throw;
  }
}

void ChunkTransferKernel::run(KernelContext&) {
  size_t size = size_of(chunk_.staged->tensor.dtype);
  auto from = static_cast<const char*>(chunk_.from->where()) + static_cast<size_t>(chunk_.begin) * size;
  chunk_.from->device->to_host(chunk_.staging, from, static_cast<size_t>(chunk_.end - chunk_.begin) * size);
}

// Kernels index elements from the start of the variable.
void StagedChunkKernel::run(KernelContext& context) {
  Tensor& tensor = chunk_.staged->tensor;
  tensor.data = chunk_.staging - static_cast<size_t>(chunk_.begin) * size_of(tensor.dtype);
  tiles_->run_tile(context, chunk_.begin, chunk_.end);
}

}  // namespace paddle_mini
