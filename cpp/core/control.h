// Control operators: they run blocks, select variables and maintain arrays of tensors.
#pragma once

#include "core/frame.h"
#include "core/infer.h"
#include "core/place.h"

namespace paddle_mini {

struct KernelContext;

// The executor's interface for a running control operator. It has many methods because kernel libraries don't include the
// executor.
class ControlRun {
 public:
  ControlRun(const OpDesc& op, Frame& frame) : op(op), frame(frame) {}
  virtual ~ControlRun() = default;

  const OpDesc& op;
  Frame& frame;  // the frame of the block that contains the operator

  // Runs every operator of a block once. Afterwards `inside` holds the block's values, and the enclosing frames hold
  // what the block wrote to variables of other blocks.
  virtual void run_block(int block, Frame& inside) = 0;
  // Whether a gradient block reads the values that this block leaves in its frame.
  virtual bool has_gradient(int block) const = 0;
  // Names of the variables that an operator of the block both reads and writes.
  virtual std::vector<std::string> changed_in_place(int block) const = 0;
  virtual bool is_persistable(const std::string& name) const = 0;
  // The declared element type of a dense tensor to which an operator of this block, or of its gradient, gives an equal
  // in shape (fill_any_like); nothing for other variables.
  virtual std::optional<DType> dtype_to_fill_like(const std::string& name) const = 0;
  virtual Variable* find(Frame& from, const std::string& name) = 0;  // nullptr if it has no value
  // Sets the value of a name: in the scope if it is persistable, else in the frame that has the name or whose block
  // declares it.
  virtual void set(Frame& from, const std::string& name, Variable value) = 0;
  virtual KernelContext& context() = 0;
  // Parameter files: a sequence of tensors. Throws OpError if the executor may not access files.
  virtual void write_tensors(const std::string& path, const std::vector<const Variable*>& tensors) = 0;
  virtual std::vector<Tensor> read_tensors(const std::string& path) = 0;

  template <class T>
  const T& attr(const char* name) const {
    return attr_of<T>(op, name);
  }
  int block_attr(const char* name) const { return attr<BlockIndex>(name).index; }

  bool has_output(const char* port, size_t i = 0) const;
  bool has_input(const char* port) const { return !op.input(port).empty(); }
  // The value at a port. Throws OpError if it has none.
  Variable& input(const char* port, size_t i = 0);
  Variable* find_input(const char* port, size_t i = 0);
  // A value that later writes do not change: tensors of the scope are copied, all others are shared.
  Variable share_input(const char* port, size_t i = 0);
  int64_t integer(const char* port);  // the value of a tensor with one integer
  bool truth(const char* port);       // the value of a tensor with one bool
  void set_output(const char* port, size_t i, Variable value);
};

using ControlFunction = void (*)(ControlRun&);

Tensor copy_of(const Tensor& tensor);  // has its own memory on the host
Variable copy_of(const Variable& variable);
Variable tensor_variable(Tensor tensor);

}  // namespace paddle_mini
