// PerStream: one object per stream, such as a library's handle, which lives until the process ends.
#pragma once

#include <map>
#include <mutex>

namespace paddle_mini {

template <class T>
class PerStream {
 public:
  // Returns the stream's object; the first call creates it by make().
  template <class Make>
  T of(void* stream, Make make) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = made_.find(stream);
    return found != made_.end() ? found->second : made_.emplace(stream, make()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<void*, T> made_;
};

}  // namespace paddle_mini
