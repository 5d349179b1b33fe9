// Kernels that the plan adds to those of the operators: copies, transfers, and groups of kernels in one step.
#pragma once

#include "core/device.h"
#include "core/kernel.h"
#include "core/stored_parts.h"
#include "core/undoable.h"

namespace paddle_mini {

// The location of a variable of a plan. `address` is the device's own address, which transfers use; kernels receive the
// Variable, whose data pointer they can access.
struct Location {
  Device* device = nullptr;  // nullptr: the host
  Variable* variable = nullptr;
  void* address = nullptr;

  void bind(void* at) {
    address = at;
    variable->tensor.data = device ? device->address(at) : at;
  }
  void* where() const { return device ? address : variable->tensor.data; }
};

// Copies a variable to another one on the same device, in the compute queue.
class CopyKernel : public Kernel {
 public:
  CopyKernel(const Location& from, const Location& to) : from_(from), to_(to) {}
  void run(KernelContext&) override;

 private:
  const Location &from_, &to_;
};

// Copies a variable between a device and the host.
class TransferKernel : public Kernel {
 public:
  TransferKernel(const Location& from, const Location& to) : from_(from), to_(to) {}
  void run(KernelContext&) override;

 private:
  const Location &from_, &to_;
};

// The kernels of several operators in one step.
class SeveralKernels : public Kernel, public Undoable {
 public:
  virtual void add(std::unique_ptr<Kernel> kernel) { kernels_.push_back(std::move(kernel)); }
  size_t at() const { return at_; }  // index of the running kernel
  void refuse(const Fault& fault) const override { kernels_[at_]->refuse(fault); }
  void undo(KernelContext& context) override;

 protected:
  std::vector<std::unique_ptr<Kernel>> kernels_;
  size_t at_ = 0;
};

// Kernels that run tile by tile: all of them on one tile, then all on the next (fuse.h).
class FusedTilesKernel : public SeveralKernels {
 public:
  // all: the elements of all kernels of the plan that run tile by tile.
  FusedTilesKernel(int64_t elements, int64_t all) : elements_(elements), all_(all) {}
  void run(KernelContext& context) override { run_tile(context, 0, elements_); }
  void run_tile(KernelContext& context, int64_t begin, int64_t end);
  void add(std::unique_ptr<Kernel> kernel) override;  // must be a TiledKernel
  void undo(KernelContext& context) override;

 private:
  void run_tiles(KernelContext& context, int64_t begin, int64_t end, int64_t tile);
  void finish_others(KernelContext& context, int64_t begin, int64_t end);
  int64_t elements_, all_;
  size_t begun_ = 0;  // number of kernels that have begun in this run
  std::vector<TiledKernel*> tiled_;
  bool independent_ = true;  // tiles may run at the same time
};

// A kernel, and elementwise kernels that run on each part of its output as soon as it is stored (epilogues.h).
class EpilogueKernel : public SeveralKernels, private Epilogue {
 public:
  // in_parts: whether the first kernel is not an ElementwiseKernel, but may store `output` in parts.
  EpilogueKernel(const Tensor& output, int64_t elements, bool in_parts)
      : output_(output), elements_(elements), in_parts_(in_parts) {}
  void run(KernelContext& context) override;
  void add(std::unique_ptr<Kernel> kernel) override;  // all others must be ElementwiseKernels
  // One kernel on all elements, for observers of each operator's values.
  void run_one(KernelContext& context, size_t kernel) { kernels_[at_ = kernel]->run(context); }

 private:
  const void* output() const override { return output_.data; }
  size_t count() const override { return elementwise_.size(); }
  RegisterStep step(size_t kernel) const override;
  void run(const void* part, size_t bytes, size_t first) const override;
  void run_range(int64_t begin, int64_t end, size_t first = 0) const;
  const Tensor& output_;  // the first kernel's
  int64_t elements_;
  bool in_parts_;
  std::vector<ElementwiseKernel*> elementwise_;         // without the first kernel if in_parts_
  std::vector<const RegisterStepKernel*> register_steps_;  // the same kernels; nullptr: never such a step
};

// How many elements one kernel of an epilogue computes before the next one: so many that they stay in the first-level
// cache, or what a test has set in order to get many ranges.
inline constexpr int64_t kEpilogueTile = 4096;
void set_epilogue_tile(int64_t elements);

// Independent kernels of a GPU, such as an optimizer's for all parameters: their launches are merged.
class BatchKernel : public SeveralKernels {
 public:
  void run(KernelContext& context) override;
};

// A range of elements of a device variable that passes through staging memory of the host.
struct StagedChunk {
  const Location* from;
  Variable* staged;     // the variable that host kernels read
  char* staging;        // address of the chunk in the staging memory
  int64_t begin, end;   // elements
};

class ChunkTransferKernel : public Kernel {
 public:
  explicit ChunkTransferKernel(const StagedChunk& chunk) : chunk_(chunk) {}
  void run(KernelContext&) override;

 private:
  StagedChunk chunk_;
};

// Runs host kernels on a chunk.
class StagedChunkKernel : public Kernel {
 public:
  StagedChunkKernel(const StagedChunk& chunk, std::shared_ptr<FusedTilesKernel> tiles)
      : chunk_(chunk), tiles_(std::move(tiles)) {}
  void run(KernelContext& context) override;

 private:
  StagedChunk chunk_;
  std::shared_ptr<FusedTilesKernel> tiles_;
};

}  // namespace paddle_mini
