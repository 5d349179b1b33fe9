// Sizes and element types of the arrays in states, and the marks of their checksums.
#include "program/state_array.h"

#include <cstring>

namespace paddle_mini {
namespace {

constexpr struct {
  std::string_view code;
  size_t size;
  int dtype;  // DType, or -1: programs have none
} kStateTypes[] = {{"b1", 1, static_cast<int>(DType::Bool)},
                   {"i1", 1, static_cast<int>(DType::Int8)},
                   {"i2", 2, static_cast<int>(DType::Int16)},
                   {"i4", 4, static_cast<int>(DType::Int32)},
                   {"i8", 8, static_cast<int>(DType::Int64)},
                   {"u1", 1, static_cast<int>(DType::UInt8)},
                   {"u2", 2, static_cast<int>(DType::BFloat16)},
                   {"u4", 4, -1},
                   {"u8", 8, -1},
                   {"f2", 2, static_cast<int>(DType::Float16)},
                   {"f4", 4, static_cast<int>(DType::Float32)},
                   {"f8", 8, static_cast<int>(DType::Float64)},
                   {"c8", 8, static_cast<int>(DType::Complex64)},
                   {"c16", 16, static_cast<int>(DType::Complex128)}};

}  // namespace

size_t item_size(std::string_view type) {
  for (const auto& known : kStateTypes)
    if (known.code == type) return known.size;
  return 0;
}

size_t bytes_of(const std::vector<int64_t>& shape, size_t item) {
  auto bytes = static_cast<int64_t>(item);
  bool is_empty = false;
  for (int64_t dim : shape) {
    is_empty |= dim == 0;
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes)) return SIZE_MAX;
  }
  return is_empty ? 0 : static_cast<size_t>(bytes);
}

std::string text_of(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (int64_t dim : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

Tensor tensor_of(const StateArray& array) {
  for (const auto& known : kStateTypes) {
    if (known.code != array.type || known.dtype < 0) continue;
    Tensor tensor = new_tensor(static_cast<DType>(known.dtype), Shape(array.shape));
    if (!array.elements.empty()) std::memcpy(tensor.data, array.elements.data(), array.elements.size());
    require_bools(tensor, "");
    return tensor;
  }
  fail<ProgramError>("it has elements of NumPy's type '", array.type, "', which programs don't have");
}

bool is_marked(std::string_view file, size_t place, std::string_view mark) {
  if (file.size() < place + mark.size()) return false;
  size_t different = 0;
  for (size_t i = 0; i < mark.size(); ++i)
    different += static_cast<size_t>(__builtin_popcount(static_cast<unsigned char>(file[place + i] ^ mark[i])));
  require<ProgramError>(different == 0 || different > mark.size(), "it is damaged where its checksum begins");
  return different == 0;
}

}  // namespace paddle_mini
