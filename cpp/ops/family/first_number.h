// One element of any numeric type as another type, for operators whose numbers are tensors: linspace, logspace.
#pragma once

#include <limits>

#include "core/infer.h"
#include "core/target.h"

namespace paddle_mini {

// Saturates values that an integer type can't represent; NaN becomes 0.
template <class T, class S>
PM_HD T nearest_held(S value) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<S>) {
    if (value != value) return 0;
    if (value <= static_cast<S>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (value >= static_cast<S>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

// Reads one element of any numeric type as T.
template <class T>
PM_HD T first_as(const void* data, DType dtype) {
  if (dtype == DType::Float32) return nearest_held<T>(*static_cast<const float*>(data));
  if (dtype == DType::Float64) return nearest_held<T>(*static_cast<const double*>(data));
  if (dtype == DType::Int32) return nearest_held<T>(*static_cast<const int32_t*>(data));
  return nearest_held<T>(*static_cast<const int64_t*>(data));
}

// Checks ports with one number each, and returns the number of elements that Num asks for, -1 if it is not known.
inline int64_t checked_count(const InferContext& c, std::initializer_list<const char*> ports) {
  for (const char* port : ports) {
    require_scalar(c, port);
    DType dtype = c.input(port).dtype;
    bool fits = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 || dtype == DType::Int64;
    require<ShapeError>(fits, port, " is ", name_of(dtype), ", it must be float32, float64, int32 or int64");
  }
  require_scalar(c, "Num");
  std::optional<std::vector<int64_t>> count = c.integers("Num");
  if (!count) return -1;
  require<OpError>((*count)[0] > 0, "Num is ", (*count)[0], ", it must be positive");
  require<OpError>((*count)[0] < int64_t{1} << 48, "Num is ", (*count)[0], ", which is too large");
  return (*count)[0];
}

}  // namespace paddle_mini
