// op_times: execution times by operator type, for PM_LOG=run and PM_LOG=runs.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace paddle_mini {

// Threads may add at the same time.
class OpTimes {
 public:
  void add(const std::string& type, double microseconds);
  std::string text() const;  // sorted by time, descending

 private:
  struct Row {
    double total = 0;
    int64_t count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Row> rows_;
};

// The times of all runs of the process. The process prints them to standard error when it exits.
OpTimes& times_of_process();

}  // namespace paddle_mini
