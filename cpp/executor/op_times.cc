// Accumulates times.
#include "executor/op_times.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

void OpTimes::add(const std::string& type, double microseconds) {
  std::lock_guard<std::mutex> lock(mutex_);
  Row& row = rows_[type];
  row.total += microseconds;
  ++row.count;
}

std::string OpTimes::text() const {
  std::lock_guard<std::mutex> lock(mutex_);
  double all = 0;
  int64_t steps = 0;
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [type, row] : rows_) {
    all += row.total;
    steps += row.count;
    double mean = row.total / static_cast<double>(row.count);
    lines.emplace_back(-row.total,
                       paddle_mini::text(row.total, " us  ", type, " x ", row.count, ", mean ", mean, " us\n"));
  }
  std::sort(lines.begin(), lines.end());
  std::string out = paddle_mini::text(all, " us in ", steps, " steps\n");
  for (const auto& line : lines) out += "  " + line.second;
  return out;
}

OpTimes& times_of_process() {
  static auto* times = [] {  // not destroyed, because threads may run programs until the process ends
    std::atexit([] { std::cerr << times_of_process().text(); });
    return new OpTimes;
  }();
  return *times;
}

}  // namespace paddle_mini
