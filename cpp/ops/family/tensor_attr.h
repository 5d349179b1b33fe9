// Attributes that a program may provide as tensors, whose values are known only at run time.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <vector>

#include "core/kernel.h"
#include "core/op_schema.h"

namespace paddle_mini {

// Sources of integers. `tensor` contains all of them; each tensor of `list` contains one. `tensor` has precedence over
// `list`, and `list` over the attribute. nullptr: the operator has no such port.
struct TensorAttr {
  const char* attr;  // its type is INT, LONG, INTS or LONGS
  const char* tensor;
  const char* list = nullptr;
  // Positions may exceed a tensor's size, so they are clamped to the attribute's type. Otherwise that throws.
  bool positions = false;
};

// A few of them, without memory of its own: files of operators have constants of this type, and where the constants of a
// library can't allocate, the loader of libraries ends the process.
class TensorAttrs {
 public:
  constexpr TensorAttrs() = default;
  constexpr TensorAttrs(std::initializer_list<TensorAttr> attrs) {
    for (const TensorAttr& attr : attrs) attrs_.at(count_++) = attr;
  }
  constexpr size_t size() const { return count_; }
  constexpr const TensorAttr& operator[](size_t i) const { return attrs_[i]; }
  constexpr const TensorAttr* begin() const { return attrs_.data(); }
  constexpr const TensorAttr* end() const { return attrs_.data() + count_; }

 private:
  std::array<TensorAttr, 4> attrs_{};
  size_t count_ = 0;
};

// The numbers from the tensors. given is false if the attribute provides them; known is false if values are missing.
struct TensorNumbers {
  bool given = false, known = true;
  std::vector<int64_t> values;
};
TensorNumbers tensor_numbers(const InferContext& c, const TensorAttr& attr);
TensorNumbers tensor_numbers(const KernelInit& init, const TensorAttr& attr);

// The operator with the numbers written to its attributes. In `infer`: empty while the values are not known; infer is
// then called again when they are.
std::optional<OpDesc> settled(InferContext& c, const TensorAttrs& attrs);
OpDesc settled(const KernelInit& init, const TensorAttrs& attrs);

// The number of integers; -1 if unknown.
int64_t number_count(const InferContext& c, const TensorAttr& attr);
// The shape before the numbers are known: -1 for each dimension, or, for a list, the attribute's value where it is
// positive.
Shape open_shape(const InferContext& c, const TensorAttr& attr);
Shape open_shape(int64_t rank);  // all dimensions are -1
// The shape from an attribute with dimensions; open_shape while its values are not known.
Shape settled_shape(InferContext& c, const TensorAttr& attr);

// The optional ports of the attributes, for a forward or a gradient schema.
OpSchema with_tensor_ports(OpSchema schema, const TensorAttrs& attrs);
// `inputs` and the ports of the attributes: the inputs of a gradient operator.
std::vector<std::string> with_ports(std::vector<std::string> inputs, const TensorAttrs& attrs);

}  // namespace paddle_mini
