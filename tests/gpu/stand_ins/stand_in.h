// Functions that the stand-ins for NVIDIA's libraries share. They run on the emulation on the host, whose memory is the host's, and
// check what they are given. STAND_IN_LOG names a file that gets a line for each call; STAND_IN_FAILS, such as
// "ncclGroupEnd 3 1", says that the third call of a function returns 1, with 0 instead of 3 each; with "ncclGroupEnd 3 -9" the process gets signal 9.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>

struct CUstream_st {  // as in cuda/on_host.h
  int device;
  void (*launch)(std::function<void()> launched);
  std::function<bool()> is_running;
};

namespace stand_in {

inline void log(const std::string& line) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (const char* path = std::getenv("STAND_IN_LOG")) std::ofstream(path, std::ios::app) << line << '\n';
}

// The status with which this call is to fail, or 0.
inline int failure(const char* function, std::atomic<int>& calls) {
  log(function);
  int call = ++calls, wanted = 0, status = 0;
  const char* text = std::getenv("STAND_IN_FAILS");
  std::string name;
  std::istringstream(text ? text : "") >> name >> wanted >> status;
  if (name != function || (wanted != 0 && call != wanted)) return 0;
  if (status < 0) raise(-status);
  return status;
}

inline int refuse(const std::string& why, int status) {
  log("refused: " + why);
  return status;
}

}  // namespace stand_in

// Begins the body of each function that is logged.
#define STAND_IN(function)                        \
  static std::atomic<int> calls_of_##function{0}; \
  if (int status = stand_in::failure(#function, calls_of_##function)) return status
