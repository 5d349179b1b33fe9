// Nested sequences: row offsets of one level, and slices of all levels.
#pragma once

#include "core/tensor.h"

namespace paddle_mini {

// Converts the offsets of one level from entries of the next level to rows.
inline std::vector<int64_t> row_offsets(const Lod& lod, size_t level) {
  std::vector<int64_t> offsets = lod[level];
  for (size_t below = level + 1; below < lod.size(); ++below) {
    for (int64_t& offset : offsets) offset = lod[below][static_cast<size_t>(offset)];
  }
  return offsets;
}

struct RowRange {
  int64_t begin, end;
};

// Returns the rows of the entries [begin, end) of a level. Appends the sequences of this and the deeper levels among
// them to `part`, which must have that many levels. If the level is beyond the last, the entries are rows.
inline RowRange cut_levels(const Lod& lod, size_t level, int64_t begin, int64_t end, Lod& part) {
  for (size_t l = level; l < lod.size(); ++l) {
    auto& to = part[l - level];
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      to.push_back(to.back() + lod[l][i + 1] - lod[l][i]);
    }
    begin = lod[l][static_cast<size_t>(begin)], end = lod[l][static_cast<size_t>(end)];
  }
  return {begin, end};
}

// Levels without sequences, to append to.
inline Lod empty_levels(size_t count) { return Lod(count, std::vector<int64_t>{0}); }

}  // namespace paddle_mini
