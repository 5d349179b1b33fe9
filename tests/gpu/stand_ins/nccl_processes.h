// The part of the stand-in for NCCL that works between processes of one machine: communicators of ncclCommInitRankConfig. The
// id names a folder, in which each rank leaves what it contributes. STAND_IN_SILENT=1: no rank notices that another one has died, as
// between GPUs of one machine; otherwise it is a remote error, as in a network.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "stand_in.h"

namespace processes {

namespace files = std::filesystem;
constexpr int kInvalidUsage = 5, kRemoteError = 6, kInProgress = 7;

struct Part {
  const void* from;
  void* to;
  size_t count, bytes;
  int type;
};

// Adds up values of one type: `values` has the contribution of each rank.
using AddUp = void (*)(int type, const std::vector<const void*>& values, void* to, size_t count);

class Member {
 public:
  Member(const char* folder, int rank, int size) : folder_(folder), rank_(rank), size_(size) {
    write("rank " + std::to_string(rank), std::to_string(getpid()) + " " + std::to_string(size));
  }
  ~Member() {
    if (stream_) stream_->is_running = nullptr;
    std::ofstream(folder_ / ("gone " + std::to_string(rank_)));
    bool is_last = true;
    for (int rank = 0; rank < size_; ++rank) is_last = is_last && files::exists(file("gone", rank));
    std::error_code ignored;  // another one may be the last at the same moment
    if (is_last) files::remove_all(folder_, ignored);
  }

  // Contributes to a group of sums.
  int launch(const std::vector<Part>& parts, CUstream_st* stream, AddUp add_up) {
    parts_ = parts;
    stream_ = stream;
    add_up_ = add_up;
    ++number_;
    std::string bytes = std::to_string(getpid()) + ' ' + std::to_string(stream->device) + '\n' + layout();
    stream->launch([&] {
      for (const Part& part : parts) bytes.append(static_cast<const char*>(part.from), part.bytes);
    });
    write(sum_of(number_) + " " + std::to_string(rank_), bytes);
    is_done_ = false;
    has_launched_ = false;
    stream->is_running = [this] { return progress() == 0 && !is_done_; };
    return kInProgress;
  }

  // The result of ncclCommGetAsyncError: a launch is in progress when it is asked for the first time.
  int state() {
    int state = progress();
    return state == 0 && !std::exchange(has_launched_, true) ? kInProgress : state;
  }

 private:
  files::path file(const std::string& what, int rank) const { return folder_ / (what + " " + std::to_string(rank)); }
  static std::string sum_of(int number) { return "sum " + std::to_string(number); }

  // A file appears when it is complete.
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / (name + " of " + std::to_string(rank_)), std::ios::binary) << bytes;
    files::rename(folder_ / (name + " of " + std::to_string(rank_)), folder_ / name);
  }
  static std::string read(const files::path& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }

  std::string layout() const {
    std::ostringstream text;
    for (const Part& part : parts_) text << part.count << ' ' << part.type << ' ';
    return text.str() + '\n';
  }

  int progress() {
    if (failed_) return failed_;
    int status = has_joined_ ? sum() : join();
    failed_ = status == kInProgress ? 0 : status;
    return status;
  }

  int join() {
    for (int rank = 0; rank < size_; ++rank) {
      if (!files::exists(file("rank", rank))) return kInProgress;
      std::string text = read(file("rank", rank));  // "process size"
      if (text.substr(text.rfind(' ') + 1) != std::to_string(size_))
        return stand_in::refuse("sizes differ", kInvalidUsage);
    }
    has_joined_ = true;
    return 0;
  }

  int sum() {
    if (is_done_) return 0;
    for (int rank = 0; rank < size_; ++rank) {
      if (!files::exists(file(sum_of(number_), rank))) return has_died(rank) ? kRemoteError : 0;
    }
    return complete();
  }

  bool has_died(int rank) const {
    if (std::getenv("STAND_IN_SILENT")) return false;
    std::string state = read("/proc/" + std::to_string(std::stoi(read(file("rank", rank)))) + "/stat");
    return files::exists(file("gone", rank)) || state.empty() || state.find(") Z ") != std::string::npos;
  }

  int complete() {
    std::vector<std::string> all;
    std::set<std::string> gpus;
    for (int rank = 0; rank < size_; ++rank) {
      std::string one = read(file(sum_of(number_), rank));
      size_t line = one.find('\n') + 1;
      if (!gpus.insert(one.substr(0, line)).second) return stand_in::refuse("a GPU twice in a clique", kInvalidUsage);
      all.push_back(one.substr(line));
      if (all.back().compare(0, layout().size(), layout()) != 0) return stand_in::refuse("ranks differ", kInvalidUsage);
    }
    stream_->launch([&] {
      size_t at = layout().size();
      for (const Part& part : parts_) {
        std::vector<std::string> values;  // aligned
        for (const std::string& one : all) values.push_back(one.substr(at, part.bytes));
        std::vector<const void*> places;
        for (const std::string& one : values) places.push_back(one.data());
        add_up_(part.type, places, part.to, part.count);
        at += part.bytes;
      }
    });
    is_done_ = true;
    files::remove(file(sum_of(number_ - 1),
                       rank_));  // all have contributed to this one, so they have read the one before
    return 0;
  }

  const files::path folder_;
  const int rank_, size_;
  int number_ = 0, failed_ = 0;
  bool has_joined_ = false, is_done_ = true, has_launched_ = true;
  std::vector<Part> parts_;
  CUstream_st* stream_ = nullptr;
  AddUp add_up_ = nullptr;
};

}  // namespace processes
