// InferContext: the view that an operator's `infer` reads inputs from and writes kind, dtype and shape of outputs to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/op_desc.h"
#include "core/variable.h"

namespace paddle_mini {

// Reads an attribute of an operator whose defaults are filled in.
template <class T>
const T& attr_of(const OpDesc& op, const std::string& name) {
  const AttrValue* value = op.attr(name);
  require<ProgramError>(value != nullptr, "attribute '", name, "' is missing");
  const T* typed = std::get_if<T>(value);
  require<ProgramError>(typed != nullptr, "attribute '", name, "' is ", name_of(type_of(*value)));
  return *typed;
}

// While a program is being built dimensions may be -1 (not known yet); before a run all are known.
// It has many methods because an operator's `infer` gets nothing else: ports, attributes, values and results are here.
class InferContext {
 public:
  // `inputs`, and `values` if given, hold one list for each slot of op.inputs, in its order.
  InferContext(const OpDesc& op, std::vector<std::vector<VarInfo>> inputs,
               std::vector<std::vector<const Variable*>> values = {});

  bool has_input(const char* port) const { return input_count(port) > 0; }
  size_t input_count(const char* port) const;
  const VarInfo& input(const char* port, size_t i = 0) const;  // throws if it is absent
  const Shape& shape(const char* port) const { return input(port).shape; }

  bool has_output(const char* port) const { return output_count(port) > 0; }
  size_t output_count(const char* port) const;
  VarInfo& output(const char* port, size_t i = 0);  // throws if it is absent

  // Sets the output if the program has it.
  void set_output(const char* port, DType dtype, const Shape& shape);
  void set_output(const char* port, const VarInfo& info);

  // The value at a port, for outputs whose shape depends on it; nullptr while it is unknown. Then the output's shape
  // must contain -1, and the executor runs `infer` again when the value exists.
  const Variable* value(const char* port, size_t i = 0) const;
  bool has_values() const { return !values_.empty(); }
  // For kernels whose constructor reads values: the shapes are known, but the kernel can't be built yet.
  void await_values() { awaits_values_ = values_.empty(); }
  bool awaits_values() const { return awaits_values_; }
  // The value as integers (int32 or int64).
  std::optional<std::vector<int64_t>> integers(const char* port, size_t i = 0) const;

  template <class T>
  const T& attr(const char* name) const {
    return attr_of<T>(op_, name);
  }
  DType dtype_attr(const char* name) const;
  Shape shape_attr(const char* name) const;  // for attributes of type INTS or LONGS; all dimensions are known

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

// Every output has the kind, dtype and shape of this input.
InferFunction same_as(const char* port);
// Every output "P@GRAD" is like input "P": the rule of nearly all gradient operators.
void gradients_like_inputs(InferContext& c);

// Treats [1] and [] as equal: programs from before PaddlePaddle 2.5 write a single element as [1].
bool same_shape(const Shape& a, const Shape& b);
// Throws ShapeError if the inputs differ: "Param has shape [3], Grad has [4]".
void require_same_shape(const InferContext& c, const char* a, const char* b);
void require_same_dtype(const InferContext& c, const char* a, const char* b);
void require_rank(const InferContext& c, const char* port, int rank);
// Throws ShapeError if an input is not a plain tensor, for example selected rows.
void require_tensors(const InferContext& c);
void require_rows(const InferContext& c, const char* port);
// Throws ShapeError unless the input has one element, [1] or [].
void require_scalar(const InferContext& c, const char* port);
// The dtypes of IndexIn (int32 or int64) and NumberIn (float32 or float64).
void require_index(const InferContext& c, const char* port);
void require_number(const InferContext& c, const char* port);

}  // namespace paddle_mini
