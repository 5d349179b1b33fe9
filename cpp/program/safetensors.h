// Safetensors files: arrays by name.
//
//   u64 size of the header · header, JSON: {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...} · data
//
// Offsets begin at the data and cover it without gaps. A file of paddle_mini has its CRC-32C in the header's first entry,
// {"__metadata__":{"paddle_mini.crc32c":"xxxxxxxx", computed with zeros in the place of these digits.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/state_array.h"

namespace paddle_mini {

// In the order of the data; the arrays refer to the bytes. Throws ProgramError if the file is cut off, damaged, or has an
// element type that programs don't have.
std::vector<std::pair<std::string, StateArray>> read_safetensors(std::string_view file);

// Whether the file has a checksum. Throws ProgramError if it does not match.
bool safetensors_is_checked(std::string_view file);

}  // namespace paddle_mini
