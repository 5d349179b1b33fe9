// OpTable: the operators there are, by type. A value that is passed, not a global.
#pragma once

#include "core/op_spec.h"

namespace paddle_mini {

class OpTable {
 public:
  void add(OpSpec spec);  // refuses a record that check_record() refuses and a second one of the same type
  void check_gradients() const;  // when all are there: that the gradients are there too, with the ports they are given
  // Begins the record of the gradient of `type`, an operator that is in the table and names the ports of its gradient.
  // Docs of ports, attributes and devices are inherited. Outputs of the operator are required as inputs; P@GRAD
  // is optional as an output if P is, if it is a list, or if there are several. P@GRAD is inferred to be like P; if the
  // gradient has all inputs of the operator, the operator's infer says what its outputs, and their gradients, must be.
  // Doc and kernels are missing. A port or attribute that is named again replaces the inherited one.
  OpSpec gradient_of(const std::string& type) const;
  const OpSpec* find(const std::string& type) const;
  const OpSpec& at(const std::string& type) const;  // ProgramError naming the nearest type
  std::vector<std::string> types() const;  // sorted

 private:
  std::map<std::string, OpSpec> specs_;
};

}  // namespace paddle_mini
