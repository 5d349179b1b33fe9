// Tensors that are cut along an axis into parts, or put together from them.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Moves bytes between a whole and its parts: each row of the whole, all axes before the one that is cut, is a
// row of the first part, then one of the second, and so on.
class SplitOrConcatKernel : public Kernel {
 public:
  // A part that is nullptr is one that nobody wants.
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

// Parts without the axis: one for each position. Kernels of stack, unstack, unbind and their gradients.
class SlabKernel : public SplitOrConcatKernel {
 public:
  SlabKernel(KernelInit& init, const char* whole, const char* parts, bool join);
};

// The shape of the whole from its parts, which must be alike, with the new axis of as many positions.
VarInfo stacked(const InferContext& c, const char* parts);
// Gives the parts of `whole`, without the axis, to the outputs.
void set_slabs(InferContext& c, const char* whole, const char* parts);

}  // namespace paddle_mini
