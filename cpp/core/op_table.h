// OpTable: the operators there are, by type. A value that is passed, not a global.
#pragma once

#include "core/op_spec.h"

namespace paddle_mini {

class OpTable {
 public:
  void add(OpSpec spec);  // refuses a record that check_record() refuses and a second one of the same type
  void check_gradients() const;  // when all are there: that the gradients are there too, with the ports they are given
  const OpSpec* find(const std::string& type) const;
  const OpSpec& at(const std::string& type) const;  // ProgramError naming the nearest type
  std::vector<std::string> types() const;  // sorted

 private:
  std::map<std::string, OpSpec> specs_;
};

}  // namespace paddle_mini
