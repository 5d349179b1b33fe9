// Accumulates times.
#include "executor/op_times.h"

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

void OpTimes::add(const std::string& type, double microseconds) {
  Row& row = rows_[type];
  row.total += microseconds;
  ++row.count;
}

std::string OpTimes::text() const {
  double all = 0;
  int steps = 0;
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [type, row] : rows_) {
    all += row.total;
    steps += row.count;
    lines.emplace_back(-row.total, paddle_mini::text(row.total, " us  ", type, " x ", row.count, "\n"));
  }
  std::sort(lines.begin(), lines.end());
  std::string out = paddle_mini::text(all, " us in ", steps, " steps\n");
  for (const auto& line : lines) out += "  " + line.second;
  return out;
}

}  // namespace paddle_mini
