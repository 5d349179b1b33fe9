// Parameter files: tensors in PaddlePaddle's byte format, one after the other, without names.
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

// Reads the tensor that begins at `position` and moves `position` behind it. The tensor has memory
// of its own. ProgramError when the bytes end early or contradict themselves.
Tensor read_tensor(std::string_view bytes, size_t& position);

// The variables that a program's parameter file holds: persistable tensors of block 0 in byte order
// of their names; feed and fetch lists are none.
std::vector<std::string> parameter_file_order(const ProgramDesc& program);

// Tensors for these variables, all of the file and nothing more; each must fit its declaration. checksum: of all bytes, as
// the model that they were saved with says (model_file.h).
std::vector<std::pair<std::string, Tensor>> read_parameters(std::string_view bytes, const ProgramDesc& program,
                                                            const std::vector<std::string>& names,
                                                            std::optional<uint32_t> checksum = std::nullopt);
std::string parameter_bytes(const Scope& scope, const std::vector<std::string>& names);

}  // namespace paddle_mini
