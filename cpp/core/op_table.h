// OpTable: the available operators by type. It is passed as a value; there is no global table.
#pragma once

#include "core/op_spec.h"

namespace paddle_mini {

class OpTable {
 public:
  void add(OpSpec spec);  // throws if check_record() does, or if the type exists
  void check_gradients() const;  // after all are added: checks that gradients exist and have the ports they are given
  const OpSpec* find(const std::string& type) const;
  const OpSpec& at(const std::string& type) const;  // throws ProgramError that suggests the nearest type
  std::vector<std::string> types() const;  // sorted

 private:
  std::map<std::string, OpSpec> specs_;
};

}  // namespace paddle_mini
