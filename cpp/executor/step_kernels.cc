// Implements copies, transfers and kernels that run tile by tile.
#include "executor/step_kernels.h"

#include <algorithm>
#include <cstring>

namespace paddle_mini {

void CopyKernel::run(Device&) {
  if (from_.variable->is_rows()) to_.variable->set_rows(from_.variable->rows);
  size_t bytes = to_.variable->tensor.bytes();
  if (to_.device) to_.device->within(to_.where(), from_.where(), bytes);
  else std::memcpy(to_.where(), from_.where(), bytes);
}

void TransferKernel::run(Device&) {
  if (from_.variable->is_rows()) to_.variable->set_rows(from_.variable->rows);
  size_t bytes = to_.variable->tensor.bytes();
  if (to_.device) to_.device->to_device(to_.where(), from_.where(), bytes);
  else from_.device->to_host(to_.where(), from_.where(), bytes);
}

void SeveralKernels::take_back(Device& device) {
  for (auto kernel = kernels_.rbegin(); kernel != kernels_.rend(); ++kernel) {
    if (auto* step = dynamic_cast<TakesBack*>(kernel->get())) step->take_back(device);
  }
}

void FusedTilesKernel::add(std::unique_ptr<Kernel> kernel) {
  auto tiled = dynamic_cast<TiledKernel*>(kernel.get());
  require<ProgramError>(tiled, "the operator's record is tiled, but its kernel is not a TiledKernel");
  tiled_.push_back(tiled);
  SeveralKernels::add(std::move(kernel));
}

void FusedTilesKernel::run_tile(Device& device, int64_t begin, int64_t end) {
  // Arrays in memory need small tiles: the hardware prefetcher follows each stream for a few lines, and at most six
  // streams. Arrays in cache need few calls, so large tiles.
  int64_t tile = elements_ > 1 << 16 ? 256 : 2048;
  if (begin == 0) begun_ = 0;
  for (int64_t at = begin; at < end; at += tile) {
    int64_t next = std::min(at + tile, end);
    for (at_ = 0; at_ < tiled_.size(); ++at_) {
      begun_ = std::max(begun_, at_ + 1);
      try {
        tiled_[at_]->run_tile(device, at, next);
      } catch (...) {
        if (next == elements_) finish_others(device, at, next);
        throw;
      }
    }
  }
}

// Kernels that have not begun still hold the state of the previous run, so they are skipped.
void FusedTilesKernel::take_back(Device& device) {
  for (size_t i = begun_; i-- > 0;) {
    if (auto* step = dynamic_cast<TakesBack*>(kernels_[i].get())) step->take_back(device);
  }
}

// A kernel may report an error of an earlier tile in its last tile. The kernels after it must then complete their step.
void FusedTilesKernel::finish_others(Device& device, int64_t begin, int64_t end) {
  for (size_t other = at_ + 1; other < tiled_.size(); ++other) {
    begun_ = std::max(begun_, other + 1);
    try {
      tiled_[other]->run_tile(device, begin, end);
    } catch (const Error&) {  // the first error is rethrown
    }
  }
}

void BatchKernel::run(Device& device) {
  device.begin_batch();
  try {
    for (at_ = 0; at_ < kernels_.size(); ++at_) kernels_[at_]->run(device);
    at_ = 0;
    device.end_batch();
  } catch (...) {
    device.in_batch = false;
    device.waiting.clear();
    throw;
  }
}

void PieceTransferKernel::run(Device&) {
  size_t size = size_of(piece_.staged->tensor.dtype);
  auto from = static_cast<const char*>(piece_.from->where()) + static_cast<size_t>(piece_.begin) * size;
  piece_.from->device->to_host(piece_.staging, from, static_cast<size_t>(piece_.end - piece_.begin) * size);
}

// Kernels index elements from the start of the variable.
void PieceKernel::run(Device& device) {
  Tensor& tensor = piece_.staged->tensor;
  tensor.data = piece_.staging - static_cast<size_t>(piece_.begin) * size_of(tensor.dtype);
  tiles_->run_tile(device, piece_.begin, piece_.end);
}

}  // namespace paddle_mini
