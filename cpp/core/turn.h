// Turn: users of a thing, one after the other; and whether there are any.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "core/error.h"

namespace paddle_mini {

class Turn {
 public:
  // One use. It is announced when made and goes on from wait() until it is destroyed. A use that begins
  // inside another of the same thread (in a signal handler) could never get its turn: it is refused.
  class Use {
   public:
    Use(Turn& turn, const char* what) : turn_(turn) {
      require<OpError>(turn.owner_ != std::this_thread::get_id(), what,
                       " is running already in this thread: a signal handler can't begin another run");
      ++turn.users_;
    }
    void wait() {
      turn_.mutex_.lock();
      turn_.owner_ = std::this_thread::get_id();
      has_turn_ = true;
    }
    ~Use() {
      if (has_turn_) {
        turn_.owner_ = std::thread::id();
        turn_.mutex_.unlock();
      }
      --turn_.users_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Turn& turn_;
    bool has_turn_ = false;
  };

  bool idle() const { return users_ == 0; }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  std::atomic<int> users_{0};
};

}  // namespace paddle_mini
