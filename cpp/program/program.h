// ProgramDesc as plain structs, and the only conversion between them and bytes (codec.cc). The structs follow
// proto/framework.proto field by field; `unknown` holds the bytes of fields of later versions.
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
  bool has_tensor = false;  // the file has a tensor desc for the variable
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

// Throws ProgramError naming the field if the bytes are not a ProgramDesc: "blocks[0].ops[3].type is missing". Checks
// the format only; the verify stage of the executor checks the program.
ProgramDesc decode_program(std::string_view bytes);
std::string encode_program(const ProgramDesc& program);

// The name of a VarType.Type in framework.proto, in lower case: "complex64"; "number 99" if it has none.
std::string type_name(int32_t number);

// The tensor description inside parameter files.
struct TensorDesc {
  int32_t dtype = 5;
  std::vector<int64_t> dims;
};
TensorDesc decode_tensor_desc(std::string_view bytes);
std::string encode_tensor_desc(const TensorDesc& desc);

}  // namespace paddle_mini
