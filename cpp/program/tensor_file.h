// Parameter files: tensors in PaddlePaddle's byte format, concatenated without names.
//
//   u32 0 · u64 levels · per level {u64 bytes, u64 offsets...} · u32 0 · i32 size · TensorDesc · data
//
// A .pdiparams file holds the persistable variables of a program in the order of their names.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scope.h"
#include "program/files.h"
#include "program/program.h"

namespace paddle_mini {

// The bytes before the data of a tensor.
std::string tensor_header(const Tensor& tensor);
void append_tensor(const Tensor& tensor, std::string& bytes);

// Reads the tensor at `position` and moves `position` past it. The tensor has its own memory. Throws ProgramError if
// the bytes end early or are inconsistent; check_lod (core/outside_values.h) checks its sequences.
Tensor read_tensor(std::string_view bytes, size_t& position);
// The same, whose data stay in `bytes`, not aligned.
Tensor tensor_in(std::string_view bytes, size_t& position);

// The variables in a program's parameter file: persistable tensors of block 0, without feed and fetch lists, in byte
// order of their names.
std::vector<std::string> parameter_file_order(const ProgramDesc& program);

// Whether a variable may have a value of this shape. All shapes of one element are equivalent: PaddlePaddle's functions use
// one for another.
bool fits_declaration(const Shape& value, const VarDesc& var);

// Throws ShapeError if the tensor is not of the dtype and shape that the program declares for this variable.
void require_declared(const ProgramDesc& program, const std::string& name, const Tensor& tensor);

using Parameters = std::vector<std::pair<std::string, Tensor>>;

// Reads the tensors of these variables, which must be the whole file; each must fit its declaration. checksum: the
// expected one of all bytes, from the model file (model_file.h).
Parameters read_parameters(std::string_view bytes, const ProgramDesc& program, const std::vector<std::string>& names,
                           std::optional<uint32_t> checksum = std::nullopt);
Parameters read_parameters(FileStream& file, const ProgramDesc& program, const std::vector<std::string>& names,
                           std::optional<uint32_t> checksum = std::nullopt);

// Gives the scope the values; a name that has none yet gets the tensor's own memory. Throws before any value is set.
void set_parameters(Scope& scope, Parameters parameters);

// The bytes of a parameter file: the headers, and the scope's own memory, which must not change in the meantime.
class ParameterPieces {
 public:
  ParameterPieces(const Scope& scope, const std::vector<std::string>& names);
  ParameterPieces(const ParameterPieces&) = delete;
  ParameterPieces& operator=(const ParameterPieces&) = delete;
  const Pieces& pieces() const { return pieces_; }

 private:
  std::deque<std::string> headers_;
  std::vector<Tensor> values_;  // copies of those on devices
  Pieces pieces_;
};

}  // namespace paddle_mini
