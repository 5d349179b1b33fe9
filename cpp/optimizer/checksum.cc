// Implements Checksum.
#include "optimizer/checksum.h"

#include <algorithm>
#include <cstring>

namespace paddle_mini {
namespace {

constexpr uint64_t kPrime = 0x100000001b3ull;

uint64_t mixed(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * kPrime;
  return sum ^ (sum >> 32);  // propagates high bits to low ones
}

}  // namespace

void Checksum::add_rounds(const char* bytes, size_t rounds) {
  uint64_t sums[kSums], words[kSums];
  std::memcpy(sums, sums_, sizeof sums);
  for (; rounds > 0; bytes += kRound, --rounds) {
    std::memcpy(words, bytes, sizeof words);
#pragma GCC unroll 4
    for (size_t i = 0; i < kSums; ++i) sums[i] = mixed(sums[i], words[i]);
  }
  std::memcpy(sums_, sums, sizeof sums);
}

void Checksum::add(const char* bytes, size_t size) {
  if (left_count_ > 0 || size < kRound) {
    size_t count = std::min(size, kRound - left_count_);
    if (count) std::memcpy(left_ + left_count_, bytes, count);
    left_count_ += count, bytes += count, size -= count;
    if (left_count_ < kRound) return;
    add_rounds(left_, 1);
    left_count_ = 0;
  }
  add_rounds(bytes, size / kRound);
  left_count_ = size % kRound;
  if (left_count_) std::memcpy(left_, bytes + size - left_count_, left_count_);
}

uint64_t Checksum::value() const {
  uint64_t all = mixed(sums_[0], left_count_);
  for (size_t i = 1; i < kSums; ++i) all = mixed(all, sums_[i]);
  for (size_t at = 0; at < left_count_; at += kWord) {
    uint64_t word = 0;
    std::memcpy(&word, left_ + at, std::min(left_count_ - at, kWord));
    all = mixed(all, word);
  }
  return all;
}

}  // namespace paddle_mini
