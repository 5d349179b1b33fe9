// Parameter files: tensors in PaddlePaddle's byte format, concatenated without names.
//
//   u32 0 · u64 levels · per level {u64 bytes, u64 offsets...} · u32 0 · i32 size · TensorDesc · data
//
// A .pdiparams file holds the persistable variables of a program in the order of their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scope.h"
#include "program/program.h"

namespace paddle_mini {

void append_tensor(const Tensor& tensor, std::string& bytes);

// Reads the tensor at `position` and moves `position` past it. The tensor has its own memory. Throws ProgramError if
// the bytes end early or are inconsistent.
Tensor read_tensor(std::string_view bytes, size_t& position);

// The variables in a program's parameter file: persistable tensors of block 0, without feed and fetch lists, in byte
// order of their names.
std::vector<std::string> parameter_file_order(const ProgramDesc& program);

// Reads the tensors of these variables, which must be the whole file; each must fit its declaration. checksum: the
// expected one of all bytes, from the model file (model_file.h).
std::vector<std::pair<std::string, Tensor>> read_parameters(std::string_view bytes, const ProgramDesc& program,
                                                            const std::vector<std::string>& names,
                                                            std::optional<uint32_t> checksum = std::nullopt);
std::string parameter_bytes(const Scope& scope, const std::vector<std::string>& names);

}  // namespace paddle_mini
