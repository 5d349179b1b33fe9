// What stand-ins for NVIDIA's libraries share. They run on the emulation on the host, whose memory is the host's, and check
// what they are given. STAND_IN_LOG names a file that gets a line for each call; STAND_IN_FAILS, such as "ncclGroupEnd 3",
// the call that fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>

struct CUstream_st {  // cuda/on_host.h
  int device;
};

namespace stand_in {

inline void log(const std::string& line) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (const char* path = std::getenv("STAND_IN_LOG")) std::ofstream(path, std::ios::app) << line << '\n';
}

// Whether this call is the one that fails. Each function has a counter of its own.
inline bool fails(const char* function, std::atomic<int>& calls) {
  log(function);
  int call = ++calls, wanted = 0;
  const char* text = std::getenv("STAND_IN_FAILS");
  std::string name;
  std::istringstream(text ? text : "") >> name >> wanted;
  return name == function && call == wanted;
}

inline int refuse(const std::string& why, int status) {
  log("refused: " + why);
  return status;
}

}  // namespace stand_in

#define STAND_IN(function, failure)                          \
  static std::atomic<int> calls_of_##function{0};            \
  if (stand_in::fails(#function, calls_of_##function)) return failure
