// Checksum: of bytes that come in pieces.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paddle_mini {

// FNV-1a (Fowler, Noll & Vo) over 64-bit words, in four interleaved sums, because a single one would be limited by latency.
// Each round is invertible, so a change of one word always changes the result.
class Checksum {
 public:
  void add(const char* bytes, size_t size);
  uint64_t value() const;

 private:
  static constexpr size_t kSums = 4, kWord = sizeof(uint64_t), kRound = kSums * kWord;

  void add_rounds(const char* bytes, size_t rounds);

  uint64_t sums_[kSums] = {0xcbf29ce484222325ull, 1, 2, 3};
  char left_[kRound];  // bytes of a round that is not complete
  size_t left_count_ = 0;
};

}  // namespace paddle_mini
