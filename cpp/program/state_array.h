// An array of a state, as the readers of pickled states and safetensors files find it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace paddle_mini {

// Elements are contiguous, in the byte order of this machine, and not aligned. They are in the bytes of the file, or in
// `kept` where the file has them in another order.
struct StateArray {
  std::string type;  // NumPy's code, such as "f4"; bfloat16 is its bits, "u2"
  std::vector<int64_t> shape;
  std::string_view elements;
  std::shared_ptr<const std::string> kept;
};

constexpr size_t kMostDims = 32;  // the limit of NumPy's arrays

// The size of one element; 0 if the code is not that of a number or a bool.
size_t item_size(std::string_view type);
// The product of the shape, in bytes. SIZE_MAX, as NumPy refuses it, if that of the dimensions that are not 0 is too large.
// Dimensions are at least 0.
size_t bytes_of(const std::vector<int64_t>& shape, size_t item);

std::string text_of(const std::vector<int64_t>& shape);  // "[2, 3]"; a Shape has fewer dimensions than NumPy's arrays

// A copy in memory of its own. Throws ProgramError for an element type that programs don't have.
Tensor tensor_of(const StateArray& array);

// Whether a checksum of paddle_mini begins at `place`. Throws ProgramError if a few bits of the mark differ: a file with a
// damaged mark would otherwise be read as one without a checksum.
bool is_marked(std::string_view file, size_t place, std::string_view mark);

}  // namespace paddle_mini
