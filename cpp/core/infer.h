// InferContext: what an operator's `infer` reads and fills in: kind, dtype and shape of every port.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/op_desc.h"
#include "core/variable.h"

namespace paddle_mini {

// Reads attributes of an operator whose record has filled in the defaults.
template <class T>
const T& attr_of(const OpDesc& op, const std::string& name) {
  const AttrValue* value = op.attr(name);
  require<ProgramError>(value != nullptr, "attribute '", name, "' is missing");
  const T* typed = std::get_if<T>(value);
  require<ProgramError>(typed != nullptr, "attribute '", name, "' is ", name_of(type_of(*value)));
  return *typed;
}

// While a program is being built dimensions may be -1 (not known yet); before a run all are known.
class InferContext {
 public:
  // `inputs` holds one list for each slot of op.inputs, in its order; so does `values`, when given.
  InferContext(const OpDesc& op, std::vector<std::vector<VarInfo>> inputs,
               std::vector<std::vector<const Variable*>> values = {});

  bool has_input(const char* port) const { return input_count(port) > 0; }
  size_t input_count(const char* port) const;
  const VarInfo& input(const char* port, size_t i = 0) const;  // refuses an absent one
  const Shape& shape(const char* port) const { return input(port).shape; }

  bool has_output(const char* port) const { return output_count(port) > 0; }
  size_t output_count(const char* port) const;
  VarInfo& output(const char* port, size_t i = 0);  // refuses an absent one

  // Fills the output if the program asks for it.
  void set_output(const char* port, DType dtype, const Shape& shape);
  void set_output(const char* port, const VarInfo& info);

  // The value at a port, where an output's shape depends on it; nullptr while it is not known: then the
  // output's shape must have a -1, and the executor asks again when the value is there.
  const Variable* value(const char* port, size_t i = 0) const;
  bool has_values() const { return !values_.empty(); }
  // The shapes are known, but the kernel can't be made before the values are: its constructor reads them.
  void await_values() { awaits_values_ = values_.empty(); }
  bool awaits_values() const { return awaits_values_; }
  // The value as whole numbers (int32 or int64).
  std::optional<std::vector<int64_t>> integers(const char* port, size_t i = 0) const;

  template <class T>
  const T& attr(const char* name) const {
    return attr_of<T>(op_, name);
  }
  DType dtype_attr(const char* name) const;
  Shape shape_attr(const char* name) const;  // of type INTS or LONGS; every dimension is known

  const OpDesc& op() const { return op_; }
  const std::vector<std::vector<VarInfo>>& outputs() const { return outputs_; }

 private:
  const OpDesc& op_;
  std::vector<std::vector<VarInfo>> inputs_;
  std::vector<std::vector<const Variable*>> values_;
  bool awaits_values_ = false;
  std::vector<std::vector<VarInfo>> outputs_;
};

using InferFunction = std::function<void(InferContext&)>;

// Every output is like this input.
InferFunction same_as(const char* port);
// Every output "P@GRAD" is like input "P": what nearly all gradient operators do.
void gradients_like_inputs(InferContext& c);

// One element is one element, whether [1] or []: programs before PaddlePaddle 2.5 know no [].
bool same_shape(const Shape& a, const Shape& b);
// Refuses inputs that differ: "Param has shape [3], Grad has [4]".
void require_same_shape(const InferContext& c, const char* a, const char* b);
void require_same_dtype(const InferContext& c, const char* a, const char* b);
void require_rank(const InferContext& c, const char* port, int rank);
// Refuses inputs that are no plain tensors, such as selected rows.
void require_tensors(const InferContext& c);
void require_rows(const InferContext& c, const char* port);
// Like require_same_shape with one element, [1] or [].
void require_scalar(const InferContext& c, const char* port);
// What IndexIn and NumberIn read: int32 or int64; float32 or float64.
void require_index(const InferContext& c, const char* port);
void require_number(const InferContext& c, const char* port);

}  // namespace paddle_mini
