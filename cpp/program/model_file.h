// A program's file (.pdmodel): a header with the checksums of the program and of the parameters saved with it, then the
// program's bytes. The header is also a field of ProgramDesc (checksums in proto/framework.proto), which PaddlePaddle
// ignores. A tool that rewrites the program does not keep it at the beginning, so the header vouches only for files
// written here.
//
//   u8[3] field 1001, its size · "pm-crc32c:" · u32 of all bytes after it · [u32 of the parameters] · the program
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/files.h"

namespace paddle_mini {

struct ModelFile {
  std::string_view program;
  bool is_checked = false;  // it has a checksum, and the checksum is correct
  std::optional<uint32_t> parameters;  // checksum of the parameters' file
};

// Throws ProgramError if the checksum is wrong or damaged.
ModelFile open_model(std::string_view file);

// The header that precedes a program's bytes.
std::string model_front(std::string_view program, std::optional<uint32_t> parameters);

// PREFIX.pdmodel for PREFIX.pdiparams; "" for other names.
std::string model_beside(const std::string& parameters_path);
// The parameters' checksum in that file; none if the file does not exist or has no such checksum.
std::optional<uint32_t> checksum_beside(const std::string& parameters_path);

// Throws ProgramError, with advice, if `found` differs from the checksum in the model.
void require_parameters(std::optional<uint32_t> expected, uint32_t found);

// Writes a parameter file; if a model with a checksum lies beside it, updates the parameters' checksum there.
void write_parameters(const std::string& path, const Pieces& parameters);

// Writes all files or none. The parameters are renamed first and the program last: if the process ends in between, the
// old model still has the checksum of other parameters. `between`: files that belong to both.
void write_model(const std::string& model_path, std::string_view program, const std::string& parameters_path,
                 const Pieces& parameters, const std::vector<NewFile>& between = {});
// A program without parameters, or with parameters elsewhere whose checksum is `parameters`.
void write_model(const std::string& model_path, std::string_view program, std::optional<uint32_t> parameters,
                 const std::vector<NewFile>& before = {});

}  // namespace paddle_mini
