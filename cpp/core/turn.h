// Turn: users of a thing, one after the other or, where they only read, together; and whether there are any.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

class Turn {
 public:
  enum class Mode { Alone, Shared };

  // One use. It is announced when made and goes on from wait() until it is destroyed. A use that begins
  // inside another of the same thread (in a signal handler) could never get its turn: it is refused.
  class Use {
   public:
    Use(Turn& turn, const char* what, Mode mode = Mode::Alone) : turn_(turn), mode_(mode) {
      require<OpError>(!turn.used_by_this_thread(), what,
                       " is running already in this thread: a signal handler can't begin another run");
      ++turn.users_;
    }
    void wait() {
      if (mode_ == Mode::Alone) turn_.mutex_.lock();
      else turn_.mutex_.lock_shared();
      turn_.note(true);
      has_turn_ = true;
    }
    ~Use() {
      if (has_turn_) {
        turn_.note(false);
        if (mode_ == Mode::Alone) turn_.mutex_.unlock();
        else turn_.mutex_.unlock_shared();
      }
      --turn_.users_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Turn& turn_;
    Mode mode_;
    bool has_turn_ = false;
  };

  bool idle() const { return users_ == 0; }

 private:
  bool used_by_this_thread() {
    std::lock_guard<std::mutex> lock(owners_mutex_);
    return std::find(owners_.begin(), owners_.end(), std::this_thread::get_id()) != owners_.end();
  }
  void note(bool begins) {
    std::lock_guard<std::mutex> lock(owners_mutex_);
    if (begins) owners_.push_back(std::this_thread::get_id());
    else owners_.erase(std::find(owners_.begin(), owners_.end(), std::this_thread::get_id()));
  }

  std::shared_mutex mutex_;
  std::mutex owners_mutex_;
  std::vector<std::thread::id> owners_;
  std::atomic<int> users_{0};
};

}  // namespace paddle_mini
