// The parameters of a program from a state: a pickled one (.pdparams, .pdopt) or a safetensors file.
#pragma once

#include "program/tensor_file.h"

namespace paddle_mini {

enum class ParameterFormat { Tensors, Pickled, Safetensors };

// From the first bytes of a file or of its content. A parameter file begins with zeros, which no other format does.
constexpr size_t kFormatBytes = 9;
ParameterFormat parameter_format(std::string_view begin);

struct ParameterBytes {
  std::string_view file;
  std::string_view optimizer;  // the .pdopt file, for names that the file lacks; empty: there is none
};

// Reads the values of these variables; each must fit its declaration. Names that the program does not have are refused if
// `exact`, and passed over otherwise. Throws ProgramError or ShapeError.
Parameters read_state(const ParameterBytes& bytes, const ProgramDesc& program, const std::vector<std::string>& names,
                      bool exact);

// PREFIX.pdopt for PREFIX.pdparams; "" for other names.
std::string optimizer_beside(const std::string& path);

}  // namespace paddle_mini
