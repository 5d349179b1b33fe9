// op_times: execution times by operator type, for PM_LOG=run.
#pragma once

#include <map>
#include <string>

namespace paddle_mini {

class OpTimes {
 public:
  void add(const std::string& type, double microseconds);
  std::string text() const;  // sorted by time, descending

 private:
  struct Row {
    double total = 0;
    int count = 0;
  };
  std::map<std::string, Row> rows_;
};

}  // namespace paddle_mini
