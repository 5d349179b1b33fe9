// ProgramDesc as plain structs, and the only door between them and bytes (codec.cc).
// Field by field what proto/framework.proto says; `unknown` keeps fields of later versions as they came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/op_desc.h"
#include "core/variable.h"

namespace paddle_mini {

struct VarDesc {
  std::string name;
  int32_t kind = static_cast<int32_t>(VarKind::Tensor);  // VarType.Type as written
  int32_t dtype = 5;                                     // VarType.Type of the elements
  std::vector<int64_t> dims;
  int32_t lod_level = 0;
  bool has_tensor = false;  // kind, dtype and dims came with a tensor desc
  bool persistable = false;
  bool need_check_feed = false;
  std::optional<bool> is_parameter;
  std::optional<bool> stop_gradient;
  std::string unknown;
};

struct BlockDesc {
  int32_t idx = 0;
  int32_t parent_idx = -1;
  int32_t forward_block_idx = -1;
  std::vector<VarDesc> vars;
  std::vector<OpDesc> ops;
  std::string unknown;
};

struct ProgramDesc {
  std::vector<BlockDesc> blocks;
  std::optional<int64_t> version;
  std::vector<std::pair<std::string, int32_t>> op_versions;
  std::string provenance;
  std::string unknown;
};

// Refuses bytes that are not a ProgramDesc, naming the field: "blocks[0].ops[3].type is missing".
// Checks the format only; whether the program makes sense is the executor's verify stage.
ProgramDesc decode_program(std::string_view bytes);
std::string encode_program(const ProgramDesc& program);

// The name that framework.proto gives a VarType.Type, in lower case: "complex64"; "number 99" when it gives none.
std::string type_name(int32_t number);

// The tensor description inside parameter files.
struct TensorDesc {
  int32_t dtype = 5;
  std::vector<int64_t> dims;
};
TensorDesc decode_tensor_desc(std::string_view bytes);
std::string encode_tensor_desc(const TensorDesc& desc);

}  // namespace paddle_mini
