// The first elements of a tensor as text: print, assert.
#pragma once
#include <sstream>

#include "core/tensor.h"
#include "core/throwing_stream.h"

namespace paddle_mini {

using TextOfElements = Throwing<std::ostringstream>;

template <class T>
void write_elements_as(std::ostream& out, const Tensor& tensor, int64_t most) {
  int64_t count = tensor.shape.numel();
  for (int64_t i = 0; i < count && i < most; ++i) out << (i ? " " : "") << +tensor.as<T>()[i];
  if (count > most) out << " ...";
}

inline void write_elements(std::ostream& out, const Tensor& tensor, int64_t most) {
  switch (tensor.dtype) {
    case DType::Float32: return write_elements_as<float>(out, tensor, most);
    case DType::Float64: return write_elements_as<double>(out, tensor, most);
    case DType::Int32: return write_elements_as<int32_t>(out, tensor, most);
    case DType::Int64: return write_elements_as<int64_t>(out, tensor, most);
    case DType::Bool: return write_elements_as<bool>(out, tensor, most);
    case DType::UInt8: return write_elements_as<uint8_t>(out, tensor, most);
    case DType::Int8: return write_elements_as<int8_t>(out, tensor, most);
    case DType::Int16: return write_elements_as<int16_t>(out, tensor, most);
    default: out << "(" << name_of(tensor.dtype) << ")";
  }
}

}  // namespace paddle_mini
