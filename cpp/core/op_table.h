// OpTable: the available operators by type. It is passed as a value; there is no global table.
#pragma once

#include "core/op_schema.h"

namespace paddle_mini {

class OpTable {
 public:
  // Throws if check_schema() does, or if the type exists. Cold, so that g++ compiles for size, and in less time, what calls
  // it: the functions that define operators, which run once.
  [[gnu::cold]] void add(const OpSchema& schema);
  void check_gradients() const;  // after all are added: checks that gradients exist and have the ports they are given
  // Begins the schema of the gradient of `type`, an operator of the table that names the ports of its gradient. It inherits
  // docs of ports, attributes and devices. Outputs of the operator are required inputs; P@GRAD is an optional output if P
  // is optional, if it is a list, or if there are several. P@GRAD is inferred to be like P; if the gradient has all inputs
  // of the operator, the operator's infer checks its outputs and their gradients. It accepts the integers
  // and bool for which the operator has kernels; those without a kernel of the gradient are computed in a wider type. Doc
  // and kernels are missing. A port or attribute that is stated again replaces the inherited one.
  OpSchema gradient_of(const std::string& type) const;
  const OpSchema* find(const std::string& type) const;
  const OpSchema& at(const std::string& type) const;  // throws ProgramError that suggests the nearest type
  std::vector<std::string> types() const;  // sorted
  // Whether kernels may use the CPU's instructions for products of bfloat16; set before operators are added.
  bool multiplies_bfloat16() const { return multiplies_bfloat16_; }
  void set_multiplies_bfloat16() { multiplies_bfloat16_ = true; }
  // How many float32 a register of the kernels holds; set where they are compiled.
  int float_lanes() const { return float_lanes_; }
  void set_float_lanes(int lanes) { float_lanes_ = lanes; }

 private:
  bool multiplies_bfloat16_ = false;
  int float_lanes_ = 1;
  std::map<std::string, OpSchema> schemas_;
};

}  // namespace paddle_mini
