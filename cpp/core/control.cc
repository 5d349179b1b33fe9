// Access to the ports of a running control operator.
#include "core/control.h"

#include <cstring>

namespace paddle_mini {

bool ControlRun::has_output(const char* port, size_t i) const {
  const auto& names = op.output(port);
  return i < names.size() && names[i] != kEmptyName;
}

Variable* ControlRun::find_input(const char* port, size_t i) {
  const auto& names = op.input(port);
  if (i >= names.size() || names[i] == kEmptyName) return nullptr;
  Variable* held = find(frame, names[i]);
  return held && held->has_value() ? held : nullptr;
}

Variable& ControlRun::input(const char* port, size_t i) {
  const auto& names = op.input(port);
  require<ProgramError>(i < names.size() && names[i] != kEmptyName, "input ", port, " is missing");
  Variable* held = find_input(port, i);
  require<OpError>(held, port, " '", names[i], "' has no value: no operator that ran has made it, and it is not fed");
  return *held;
}

Variable ControlRun::share_input(const char* port, size_t i) {
  const Variable& held = input(port, i);
  return is_persistable(op.input(port)[i]) ? copy_of(held) : held;
}

int64_t ControlRun::integer(const char* port) {
  const Tensor& tensor = input(port).tensor;
  bool whole = tensor.dtype == DType::Int64 || tensor.dtype == DType::Int32;
  require<OpError>(whole && tensor.shape.numel() == 1, port, " is ", input(port).info().str(),
                   ", one integer is needed");
  return tensor.dtype == DType::Int64 ? *tensor.as<int64_t>() : *tensor.as<int32_t>();
}

bool ControlRun::truth(const char* port) {
  const Tensor& tensor = input(port).tensor;
  require<OpError>(tensor.dtype == DType::Bool && tensor.shape.numel() == 1, port, " is ", input(port).info().str(),
                   ", one bool is needed");
  return *tensor.as<bool>();
}

void ControlRun::set_output(const char* port, size_t i, Variable value) {
  if (has_output(port, i)) set(frame, op.output(port)[i], std::move(value));
}

Tensor copy_of(const Tensor& tensor) {
  if (!tensor.data) return tensor;
  Tensor copy = new_tensor(tensor.dtype, tensor.shape);
  copy.lod = tensor.lod;
  copy_bytes(tensor, copy);
  return copy;
}

Variable copy_of(const Variable& variable) {
  Variable copy = variable;
  copy.tensor = copy_of(variable.tensor);
  return copy;
}

Variable tensor_variable(Tensor tensor) {
  Variable variable;
  variable.tensor = std::move(tensor);
  return variable;
}

}  // namespace paddle_mini
