// .npy files, NumPy's format for one array (versions 1 to 3, C order, little endian).
#pragma once

#include <string>

#include "core/tensor.h"

namespace paddle_mini {

Tensor read_npy(const std::string& path);                       // throws for any other content
void write_npy(const std::string& path, const Tensor& tensor);  // writes the file atomically

}  // namespace paddle_mini
