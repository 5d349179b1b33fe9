// A program's file (.pdmodel): the program's bytes, and in front of them their checksum and that of the parameters that were
// saved with it. The front is a field of ProgramDesc too (checksums in proto/framework.proto), which PaddlePaddle looks past;
// a tool that writes the program anew does not leave it in front, so that it vouches only for what was written here.
//
//   u8[3] field 1001, its size · "pm-crc32c:" · u32 of all behind it · [u32 of the parameters] · the program
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
  bool is_checked = false;  // it has a checksum, which is right
  std::optional<uint32_t> parameters;  // checksum of the parameters' file
};

// ProgramError when a checksum is there and wrong, or damaged itself.
ModelFile open_model(std::string_view file);

// What goes in front of a program's bytes.
std::string model_front(std::string_view program, std::optional<uint32_t> parameters);

// PREFIX.pdmodel for PREFIX.pdiparams; "" for other names.
std::string model_beside(const std::string& parameters_path);
// What that says of the parameters; nothing where it is not there, or says nothing.
std::optional<uint32_t> checksum_beside(const std::string& parameters_path);

// ProgramError that says what to do when `found` is not what the model says.
void require_parameters(std::optional<uint32_t> expected, uint32_t found);

// Writes a parameters' file; where a checked model is beside it, that then vouches for these parameters.
void write_parameters(const std::string& path, std::string_view bytes);

// Writes all, or nothing. The parameters take their name first and the program the last: should the process end in between,
// the model that is there still names other parameters. `between`: files that belong to both.
void write_model(const std::string& model_path, std::string_view program, const std::string& parameters_path,
                 std::string_view parameters, const std::vector<NewFile>& between = {});
// A program without parameters, or with ones that are elsewhere: `parameters` is their checksum.
void write_model(const std::string& model_path, std::string_view program, std::optional<uint32_t> parameters,
                 const std::vector<NewFile>& before = {});

}  // namespace paddle_mini
