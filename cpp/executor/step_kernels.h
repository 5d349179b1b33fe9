// Kernels that are not an operator's but the plan's own: copies, transfers, and several kernels tile by tile.
#pragma once

#include "core/accelerator.h"
#include "core/kernel.h"
#include "core/takes_back.h"

namespace paddle_mini {

// Where a variable of a plan is: as its device says, which is what transfers take; kernels are given Variables, whose
// data is what they can follow.
struct Location {
  Accelerator* device = nullptr;  // nullptr: the host
  Variable* variable = nullptr;
  void* address = nullptr;

  void bind(void* at) {
    address = at;
    variable->tensor.data = device ? device->address(at) : at;
  }
  void* where() const { return device ? address : variable->tensor.data; }
};

// Copies a variable to another one on the same device, as part of what is computed there.
class CopyKernel : public Kernel {
 public:
  CopyKernel(const Location& from, const Location& to) : from_(from), to_(to) {}
  void run(Device&) override;

 private:
  const Location &from_, &to_;
};

// Brings a variable from one device to another; one of them is the host.
class TransferKernel : public Kernel {
 public:
  TransferKernel(const Location& from, const Location& to) : from_(from), to_(to) {}
  void run(Device&) override;

 private:
  const Location &from_, &to_;
};

// Several operators' kernels in one step.
class SeveralKernels : public Kernel, public TakesBack {
 public:
  virtual void add(std::unique_ptr<Kernel> kernel) { kernels_.push_back(std::move(kernel)); }
  size_t at() const { return at_; }  // the one that is running
  void refuse(const Fault& fault) const override { kernels_[at_]->refuse(fault); }
  void take_back(Device& device) override;

 protected:
  std::vector<std::unique_ptr<Kernel>> kernels_;
  size_t at_ = 0;
};

// Kernels that run tile by tile: all of them over some elements, then over the next (fuse.h).
class FusedTilesKernel : public SeveralKernels {
 public:
  explicit FusedTilesKernel(int64_t elements) : elements_(elements) {}
  void run(Device& device) override { run_tile(device, 0, elements_); }
  void run_tile(Device& device, int64_t begin, int64_t end);
  void add(std::unique_ptr<Kernel> kernel) override;  // a TiledKernel
  void take_back(Device& device) override;

 private:
  void finish_others(Device& device, int64_t begin, int64_t end);
  int64_t elements_;
  size_t begun_ = 0;  // kernels that have run in this run
  std::vector<TiledKernel*> tiled_;
};

// Kernels of a GPU that need nothing of each other, such as an optimizer's for all parameters: their launches become few.
class BatchKernel : public SeveralKernels {
 public:
  void run(Device& device) override;
};

// Some elements of a variable on a device, on their way through staging memory of the host.
struct Piece {
  const Location* from;
  Variable* staged;     // what kernels on the host read the variable from
  char* staging;        // where the piece lies there
  int64_t begin, end;   // elements
};

class PieceTransferKernel : public Kernel {
 public:
  explicit PieceTransferKernel(const Piece& piece) : piece_(piece) {}
  void run(Device&) override;

 private:
  Piece piece_;
};

// What kernels on the host do with a piece.
class PieceKernel : public Kernel {
 public:
  PieceKernel(const Piece& piece, std::shared_ptr<FusedTilesKernel> tiles) : piece_(piece), tiles_(std::move(tiles)) {}
  void run(Device& device) override;

 private:
  Piece piece_;
  std::shared_ptr<FusedTilesKernel> tiles_;
};

}  // namespace paddle_mini
