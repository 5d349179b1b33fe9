// CRC-32C (Castagnoli's polynomial) by the CPU's instruction, or by eight tables.
#include "program/checksum.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace paddle_mini {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// Row 0 is the remainder of each byte; row i is the remainder of a byte followed by i zero bytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? 0x82f63b78u : 0);
    tables[0][byte] = rest;
  }
  for (size_t row = 1; row < 8; ++row) {
    for (size_t byte = 0; byte < 256; ++byte) {
      uint32_t rest = tables[row - 1][byte];
      tables[row][byte] = (rest >> 8) ^ tables[0][rest & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

uint64_t word_at(const char* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

uint32_t by_tables(std::string_view bytes, uint32_t rest) {
  const char* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; data += 8, left -= 8) {
    uint64_t word = word_at(data) ^ rest;
    rest = 0;
    for (size_t i = 0; i < 8; ++i) rest ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left; ++data, --left) rest = (rest >> 8) ^ kTables[0][(rest ^ static_cast<unsigned char>(*data)) & 0xff];
  return rest;
}

#if defined(__x86_64__)
// The remainder of a message followed by `size` zero bytes. It is linear in the 32 bits, so four byte tables compute
// it.
class Zeros {
 public:
  explicit Zeros(size_t size) {
    for (int bit = 0; bit < 32; ++bit) {
      uint32_t rest = uint32_t{1} << bit;
      for (size_t i = 0; i < size; ++i) rest = (rest >> 8) ^ kTables[0][rest & 0xff];
      for (uint32_t byte = 0; byte < 256; ++byte) {
        if (byte >> (bit % 8) & 1) table_[static_cast<size_t>(bit / 8)][byte] ^= rest;
      }
    }
  }
  uint32_t operator()(uint32_t rest) const {
    return table_[0][rest & 0xff] ^ table_[1][rest >> 8 & 0xff] ^ table_[2][rest >> 16 & 0xff] ^ table_[3][rest >> 24];
  }

 private:
  std::array<std::array<uint32_t, 256>, 4> table_{};
};

// The instruction has a latency of three cycles and a throughput of one per cycle: three segments of the data are
// computed in parallel and combined by Zeros.
__attribute__((target("sse4.2"))) uint32_t by_instruction(std::string_view bytes, uint32_t rest) {
  constexpr size_t kRun = 4096;
  static const Zeros zeros(kRun);
  const char* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 3 * kRun; data += 3 * kRun, left -= 3 * kRun) {
    uint64_t a = rest, b = 0, c = 0;
    for (size_t i = 0; i < kRun; i += 8) {
      a = _mm_crc32_u64(a, word_at(data + i));
      b = _mm_crc32_u64(b, word_at(data + kRun + i));
      c = _mm_crc32_u64(c, word_at(data + 2 * kRun + i));
    }
    rest = zeros(zeros(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^ static_cast<uint32_t>(c);
  }
  for (; left >= 8; data += 8, left -= 8) rest = static_cast<uint32_t>(_mm_crc32_u64(rest, word_at(data)));
  for (; left; ++data, --left) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(*data));
  return rest;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(bytes, ~before);
#endif
  return ~by_tables(bytes, ~before);
}

uint32_t crc32c(const std::vector<std::string_view>& pieces) {
  uint32_t checksum = 0;
  for (std::string_view piece : pieces) checksum = crc32c(piece, checksum);
  return checksum;
}

uint32_t crc32c_by_tables(std::string_view bytes, uint32_t before) { return ~by_tables(bytes, ~before); }

}  // namespace paddle_mini
