// Checks of what callers pass: pointers, names and arrays.
#pragma once

#include <string>
#include <vector>

#include "capi/handles.h"
#include "capi/paddle_mini.h"
#include "core/variable.h"

namespace paddle_mini::capi {

template <class V>
V& there(V* pointer, const char* what) {
  require<ArgumentError>(pointer, what, " is NULL");
  return *pointer;
}

std::string text_of(const char* text, const char* what);
std::vector<std::string> names_of(const char* const* names, size_t count, const char* what);

// A view of the caller's array, or a copy where kernels can't use it: with strides, or not aligned. `name` is for messages.
Tensor tensor_of(const pm_tensor& given, const std::string& name);
// Views of `count` arrays with these names.
std::vector<Tensor> tensors_of(const pm_tensor* given, size_t count, const std::vector<std::string>& names);
// A variable with its own memory, for a scope: a tensor or selected rows.
Variable variable_of(const pm_tensor& given, const std::string& name);

}  // namespace paddle_mini::capi
