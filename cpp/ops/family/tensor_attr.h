// Attributes that a program may give as tensors instead: their numbers are known only while it runs.
#pragma once

#include <optional>
#include <vector>

#include "core/kernel.h"
#include "core/op_schema.h"

namespace paddle_mini {

// Where whole numbers may come from. `tensor` holds all of them, each tensor of `list` one; where both are
// given the tensor counts, and where neither is the attribute. nullptr: the operator has no such port.
struct TensorAttr {
  const char* attr;  // of type INT, LONG, INTS or LONGS
  const char* tensor;
  const char* list = nullptr;
  // Positions may lie far beyond a tensor: they are cut to what the attribute's type holds. Else refused.
  bool positions = false;
};
using TensorAttrs = std::vector<TensorAttr>;

// The numbers of the tensors at hand. Not given: they are in the attribute. Not known: no values yet.
struct TensorNumbers {
  bool given = false, known = true;
  std::vector<int64_t> values;
};
TensorNumbers tensor_numbers(const InferContext& c, const TensorAttr& attr);
TensorNumbers tensor_numbers(const KernelInit& init, const TensorAttr& attr);

// The operator as if the program had written the numbers into its attributes. In `infer`: nothing while they
// are not there; the operator then waits for them.
std::optional<OpDesc> settled(InferContext& c, const TensorAttrs& attrs);
OpDesc settled(const KernelInit& init, const TensorAttrs& attrs);

// How many numbers there are; -1: not known yet.
int64_t number_count(const InferContext& c, const TensorAttr& attr);
// The shape that such numbers say before they are there: -1, but for those beside a list that the attribute
// has, where they are positive.
Shape open_shape(const InferContext& c, const TensorAttr& attr);
Shape open_shape(int64_t rank);  // of -1
// The shape that an attribute of dimensions, settled or not, says.
Shape settled_shape(InferContext& c, const TensorAttr& attr);

// The optional ports of the attributes, for a forward or a gradient schema.
OpSchema with_tensor_ports(OpSchema schema, const TensorAttrs& attrs);
// `inputs` and the ports of the attributes: what a gradient operator gets.
std::vector<std::string> with_ports(std::vector<std::string> inputs, const TensorAttrs& attrs);

}  // namespace paddle_mini
