// Implements a thread-safe set of addresses.
#include "optimizer/lent_states.h"

#include <pthread.h>

#include <mutex>
#include <unordered_set>

namespace paddle_mini {
namespace {

// Lives as long as the process, which may end while a thread is in a call.
struct Lent {
  // fork() must not copy a locked mutex into the child.
  Lent() {
    pthread_atfork([] { lent().mutex.lock(); }, [] { lent().mutex.unlock(); }, [] { lent().mutex.unlock(); });
  }
  static Lent& lent() {
    static Lent& once = *new Lent;
    return once;
  }

  std::mutex mutex;
  std::unordered_set<const void*> states;
};

}  // namespace

void lend_state(const void* state) {
  std::lock_guard<std::mutex> lock(Lent::lent().mutex);
  Lent::lent().states.insert(state);
}

bool take_back_state(const void* state) {
  std::lock_guard<std::mutex> lock(Lent::lent().mutex);
  return Lent::lent().states.erase(state) != 0;
}

}  // namespace paddle_mini
