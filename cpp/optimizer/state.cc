// The checksum is FNV-1a (Fowler, Noll & Vo) over 64-bit words, in four interleaved sums, because a single one would be
// limited by latency. Each round is invertible, so a change of one word always changes the result.
#include "optimizer/state.h"

namespace paddle_mini {
namespace {

constexpr uint64_t kPrime = 0x100000001b3ull;

uint64_t mixed(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * kPrime;
  return sum ^ (sum >> 32);  // propagates high bits to low ones
}

uint64_t checksum(const char* bytes, size_t size) {
  constexpr size_t kSums = 4, kWord = sizeof(uint64_t);
  uint64_t sums[kSums] = {0xcbf29ce484222325ull, 1, 2, 3}, words[kSums];
  for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
    std::memcpy(words, bytes, sizeof words);
#pragma GCC unroll 4
    for (size_t i = 0; i < kSums; ++i) sums[i] = mixed(sums[i], words[i]);
  }
  uint64_t all = mixed(sums[0], size);
  for (size_t i = 1; i < kSums; ++i) all = mixed(all, sums[i]);
  for (size_t count; size > 0; bytes += count, size -= count) {
    count = std::min(size, kWord);
    uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    all = mixed(all, word);
  }
  return all;
}

}  // namespace

void StateWriter::append(const void* from, size_t bytes) {
  require<ProgramError>(bytes <= static_cast<size_t>(end_ - at_), "the state is larger than it was a moment ago");
  if (bytes) std::memcpy(at_, from, bytes);
  at_ += bytes;
}

void StateWriter::finish() { write(checksum(begin_, static_cast<size_t>(at_ - begin_))); }

StateReader::StateReader(std::string_view bytes) : left_(bytes) {
  uint64_t written = 0;
  require<ProgramError>(bytes.size() > sizeof written, "the state has ", bytes.size(), " bytes: it is cut off");
  left_.remove_suffix(sizeof written);
  std::memcpy(&written, bytes.data() + left_.size(), sizeof written);
  bool whole = written == checksum(left_.data(), left_.size());
  require<ProgramError>(whole, "the state is damaged: its checksum is wrong");
}

void StateReader::take(void* to, size_t bytes) {
  require<ProgramError>(bytes <= left_.size(), "the state ends too early");
  if (bytes) std::memcpy(to, left_.data(), bytes);
  left_.remove_prefix(bytes);
}

void StateReader::finish() const {
  require<ProgramError>(left_.empty(), "the state has ", left_.size(), " bytes too many");
}

}  // namespace paddle_mini
