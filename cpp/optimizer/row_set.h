// RowSet: some rows of a table, as a bit for each.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

class RowSet {
 public:
  explicit RowSet(int64_t rows) : rows_(rows), words_(static_cast<size_t>((rows + 63) / 64)) {}

  void add(int64_t row) {
    uint64_t &word = words_[static_cast<size_t>(row / 64)], bit = uint64_t{1} << (row % 64);
    count_ += !(word & bit);
    word |= bit;
  }
  bool has(int64_t row) const { return words_[static_cast<size_t>(row / 64)] >> (row % 64) & 1; }
  // The first of them that is at least `row`; rows() if there is none.
  int64_t next(int64_t row) const {
    if (row >= rows_) return rows_;
    size_t at = static_cast<size_t>(row / 64);
    uint64_t word = words_[at] >> (row % 64) << (row % 64);
    while (!word) {
      if (++at == words_.size()) return rows_;
      word = words_[at];
    }
    return static_cast<int64_t>(at) * 64 + __builtin_ctzll(word);
  }
  int64_t rows() const { return rows_; }    // rows of the table
  int64_t count() const { return count_; }  // rows in the set

  template <class Writer>
  void write(Writer& to) const {
    for (uint64_t word : words_) to.write(word);
  }
  // Throws ProgramError for a row that the table does not have.
  template <class Reader>
  void read(Reader& from) {
    count_ = 0;
    for (uint64_t& word : words_) {
      word = from.template read<uint64_t>();
      count_ += __builtin_popcountll(word);
    }
    bool fits = rows_ % 64 == 0 || !(words_.back() >> (rows_ % 64));
    require<ProgramError>(fits, "the changes are of more rows than the ", rows_, " of the table");
  }

 private:
  int64_t rows_, count_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace paddle_mini
