// Split and concatenation of tensors along an axis.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Copies bytes between a tensor and its parts. A row (an index over the axes before the split axis) of the whole
// consists of a row of the first part, then one of the second, and so on.
class SplitOrConcatKernel : public Kernel {
 public:
  // A part that is nullptr is an unused output.
  SplitOrConcatKernel(Variable* whole, std::vector<Variable*> parts, std::vector<int64_t> part_numels, int64_t rows,
                      bool join)
      : whole_(whole), parts_(std::move(parts)), numels_(std::move(part_numels)), rows_(rows), join_(join) {}
  void run(KernelContext& context) override;

 private:
  Variable* whole_;
  std::vector<Variable*> parts_;
  std::vector<int64_t> numels_;  // elements of each part in one row
  int64_t rows_;
  bool join_;
};

std::vector<Variable*> inputs_of(const KernelInit& init, const char* port);
std::vector<Variable*> outputs_of(const KernelInit& init, const char* port);

// The parts lack the axis: one part for each position. Kernels of stack, unstack, unbind and their gradients.
class SlabKernel : public SplitOrConcatKernel {
 public:
  SlabKernel(KernelInit& init, const char* whole, const char* parts, bool join);
};

// The shape of the stacked tensor: its parts must have equal shapes, and the size of the new axis is their number.
VarInfo stacked(const InferContext& c, const char* parts);
// Describes the outputs as slabs of `whole` without the axis.
void set_slabs(InferContext& c, const char* whole, const char* parts);

}  // namespace paddle_mini
