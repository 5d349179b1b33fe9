// Implements thread-safe sets of addresses.
#include "optimizer/lent_states.h"

#include <pthread.h>

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"

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
  std::unordered_map<const void*, std::shared_ptr<Snapshot>> snapshots;
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

const void* lend_snapshot(std::shared_ptr<Snapshot> snapshot) {
  const void* address = snapshot.get();
  std::lock_guard<std::mutex> lock(Lent::lent().mutex);
  Lent::lent().snapshots.emplace(address, std::move(snapshot));
  return address;
}

std::shared_ptr<Snapshot> lent_snapshot(const void* snapshot) {
  std::lock_guard<std::mutex> lock(Lent::lent().mutex);
  auto found = Lent::lent().snapshots.find(snapshot);
  require<ProgramError>(found != Lent::lent().snapshots.end(), "this is not a snapshot, or it was released already");
  return found->second;
}

void take_back_snapshot(const void* snapshot) {
  std::shared_ptr<Snapshot> last = lent_snapshot(snapshot);  // whose memory is freed after the lock is
  std::lock_guard<std::mutex> lock(Lent::lent().mutex);
  Lent::lent().snapshots.erase(snapshot);
}

}  // namespace paddle_mini
