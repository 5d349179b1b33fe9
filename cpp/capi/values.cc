// Copies values into memory that is kept, or refers to memory of a scope.
#include "capi/values.h"

#include <cstring>

namespace paddle_mini::capi {

Values::Use::Use(Values& values) : values_(values) {
  bool was_used = values.used_.exchange(true, std::memory_order_acquire);
  require<ScopeInUse>(!was_used, "another call uses this pm_values");
}

const Values::Value& Values::at(size_t i) const {
  require<ArgumentError>(i < count_, "the index of the value is ", i, ", it must be below ", count_);
  return values_[i];
}

bool Values::is_here(const Tensor& tensor) const {
  for (size_t v = 0; v < count_; ++v) {
    for (size_t i = 0; i < values_[v].element_count; ++i) {
      const Element& one = values_[v].elements[i];
      const auto* begin = static_cast<const char*>(one.data);
      const auto* at = static_cast<const char*>(tensor.data);
      if (begin && at >= begin && at < begin + static_cast<size_t>(one.shape.numel()) * size_of(one.dtype)) return true;
    }
  }
  return false;
}

Values::Value& Values::next() {
  if (count_ == values_.size()) values_.emplace_back();
  Value& value = values_[count_++];
  value.kind = VarKind::Tensor;
  value.element_count = 0;
  value.rows.clear();
  value.height = 0;
  value.is_text = false;
  return value;
}

Values::Element& Values::element(Value& value, size_t i) {
  if (i >= value.elements.size()) value.elements.resize(i + 1);
  value.element_count = i + 1;
  Element& element = value.elements[i];
  element.data = nullptr;
  element.held.reset();
  return element;
}

void* Values::room(Element& element, size_t bytes) {
  if (!element.own || element.own_bytes < bytes) {
    element.own.reset();
    element.own = allocate(bytes);
    element.own_bytes = bytes;
  }
  element.data = element.own.get();
  return element.own.get();
}

void Values::describe(const Tensor& tensor, Element& element) {
  element.dtype = tensor.dtype;
  element.shape = tensor.shape;
  element.lod = tensor.lod;
}

void Values::copy(const Tensor& tensor, Element& element) {
  describe(tensor, element);
  if (!tensor.data) return;
  Tensor host = on_host(tensor);
  void* to = room(element, host.bytes());
  if (host.bytes()) std::memcpy(to, host.data, host.bytes());
}

void Values::copy(const Variable& variable, Value& value) {
  value.kind = variable.kind;
  if (holds_tensor(variable.kind)) {
    copy(variable.tensor, element(value, 0));
    if (variable.is_rows()) value.rows = variable.rows;
    value.height = variable.height;
    return;
  }
  require<OpError>(variable.kind == VarKind::TensorArray, "a variable that is ", name_of(variable.kind),
                   " can't be fetched");
  for (size_t i = 0; i < variable.array.size(); ++i) copy(variable.array[i], element(value, i));
}

void Values::copy(size_t count, const Variable& (*at)(const void* context, size_t i), const void* context) {
  count_ = 0;
  try {
    for (size_t i = 0; i < count; ++i) copy(at(context, i), next());
  } catch (...) {
    count_ = 0;
    throw;
  }
}

void Values::share(Scope& scope, const std::vector<std::string>& names) {
  count_ = 0;
  try {
    for (const std::string& name : names) {
      const Variable* variable = scope.find(name);
      require<OpError>(variable && variable->has_value(), "'", printable(name), "' is not in the scope");
      Value& value = next();
      if (variable->kind != VarKind::Tensor || variable->tensor.device) {
        copy(*variable, value);
        continue;
      }
      Element& one = element(value, 0);
      describe(variable->tensor, one);
      one.held = scope.share(variable->tensor);
      one.data = one.held.get();
    }
  } catch (...) {
    count_ = 0;
    throw;
  }
}

void Values::set_texts(const std::vector<std::string>& texts) {
  count_ = 0;
  try {
    for (const std::string& text : texts) {
      Value& value = next();
      Element& one = element(value, 0);
      one.dtype = DType::UInt8;
      one.shape = Shape{static_cast<int64_t>(text.size()) + 1};
      one.lod.clear();
      std::memcpy(room(one, text.size() + 1), text.c_str(), text.size() + 1);
      value.is_text = true;
    }
  } catch (...) {
    count_ = 0;
    throw;
  }
}

pm_tensor Values::get(size_t i, size_t index) {
  at(i);
  Value& value = values_[i];
  require<ArgumentError>(index < value.element_count, "value ", i, " has ", value.element_count,
                         " elements, not element ", index);
  Element& one = value.elements[index];
  one.levels.clear();
  for (const auto& level : one.lod) one.levels.push_back({level.data(), level.size()});
  pm_tensor tensor{};
  tensor.data = one.data;
  tensor.dtype = static_cast<int32_t>(one.dtype);
  tensor.rank = one.shape.rank();
  for (int axis = 0; axis < tensor.rank; ++axis) tensor.shape[axis] = one.shape[axis];
  if (one.data) tensor.bytes = static_cast<size_t>(one.shape.numel()) * size_of(one.dtype);
  tensor.lod = one.levels.data();
  tensor.lod_levels = one.levels.size();
  if (value.kind == VarKind::SelectedRows) {
    tensor.rows = value.rows.data();
    tensor.row_count = value.rows.size();
    tensor.height = value.height;
  }
  return tensor;
}

const char* Values::text(size_t i) const {
  require<ArgumentError>(at(i).is_text, "value ", i, " is not a text");
  return static_cast<const char*>(at(i).elements[0].data);
}

}  // namespace paddle_mini::capi
