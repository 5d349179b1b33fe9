// CRC-32C, the checksum of the files written here. It detects every burst error of up to 32 bits, and all but one in
// four billion of other changes. It does not protect against deliberate changes, whose author can write a new checksum.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace paddle_mini {

// The checksum of `bytes`; `before` is the checksum of preceding bytes: crc32c(b, crc32c(a)) is that of a + b.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
uint32_t crc32c(const std::vector<std::string_view>& pieces);  // the checksum of their concatenation

// The same without the CPU's instruction, for tests.
uint32_t crc32c_by_tables(std::string_view bytes, uint32_t before = 0);

}  // namespace paddle_mini
