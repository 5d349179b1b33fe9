// Implements the pool: one mutex guards the list of running loops; chunks are taken by atomic counters.
//
// A loop has a segment of consecutive chunks for each thread, where it begins; then it helps others. So the same thread has
// the same part of an array from loop to loop, in its own core's cache: another core's modified data arrives at a fraction
// of the speed of one's own.
//
// A worker that finds no loop spins for kSpin and then sleeps: an operator's loop usually follows the one before within
// microseconds, and waking a thread takes 5 to 50 us. An idle process therefore uses no CPU time.
#include "core/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/interruption.h"

namespace paddle_mini {
namespace {

constexpr std::chrono::microseconds kSpin{100};

thread_local bool in_loop = false;
thread_local bool counted = false;  // this thread is one of State::callers

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins until done() or for kSpin; returns done().
template <class Done>
bool spin_until(Done done) {
  for (auto end = std::chrono::steady_clock::now() + kSpin;;) {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relax();
    }
    if (std::chrono::steady_clock::now() > end) return done();
  }
}

}  // namespace

// A loop of run(), on the stack of its caller.
struct ThreadPool::Running {
  static constexpr int64_t kMostSegments = 64;

  explicit Running(const Loop& of_loop)
      : loop(of_loop), segments(std::min({int64_t{of_loop.threads}, of_loop.chunks, kMostSegments})) {
    for (int64_t s = 0; s < segments; ++s) next[s].store(begin_of(s), std::memory_order_relaxed);
    failed.store(loop.chunks, std::memory_order_relaxed);
  }
  int64_t begin_of(int64_t segment) const { return loop.chunks * segment / segments; }
  bool is_left(int64_t segment) const { return next[segment].load(std::memory_order_relaxed) < begin_of(segment + 1); }
  bool is_left() const {
    for (int64_t s = 0; s < segments; ++s)
      if (is_left(s)) return true;
    return false;
  }
  // The next chunk for the thread of this number; -1: none is left.
  int64_t take(int number) {
    for (int64_t i = 0; i < segments; ++i) {
      const int64_t segment = (number + i) % segments;
      if (!is_left(segment)) continue;
      const int64_t chunk = next[segment].fetch_add(1, std::memory_order_relaxed);
      if (chunk < begin_of(segment + 1)) return chunk;
    }
    return -1;
  }

  const Loop& loop;
  const int64_t segments;
  std::atomic<int64_t> next[kMostSegments];  // the next chunk of each segment
  std::atomic<int> helpers{0};  // workers inside
  int lanes = 1;  // lanes given out; guarded by the pool's mutex
  std::mutex failure{};  // guards `error` and changes of `failed`
  std::atomic<int64_t> failed{0};  // the first chunk that failed, or all chunks; later ones are not started
  std::exception_ptr error{};
};

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work, ended;
  std::vector<Running*> loops;
  std::atomic<uint64_t> posted{0};  // number of loops so far; workers that spin watch it
  int sleeping = 0, helping = 0, waiting = 0;
  std::atomic<int> callers{0};
  int workers = 0;
  bool refused = false;  // the system did not start a thread
};

ThreadPool::ThreadPool() : state_(new State) {
  // The old state stays as it is: its mutex may be locked by a thread that does not exist in the child.
  pthread_atfork(nullptr, nullptr, [] {
    of_process().state_ = new State;
    in_loop = counted = false;
  });
}

ThreadPool& ThreadPool::of_process() {
  static ThreadPool& pool = *new ThreadPool;  // never destroyed: workers use it until the process ends
  return pool;
}

bool ThreadPool::inside_loop() { return in_loop; }

int ThreadPool::workers() {
  State& state = *state_;
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.workers;
}

ThreadPool::Caller::Caller() : outermost_(!counted) {
  if (!outermost_) return;
  counted = true;
  of_process().state_.load()->callers.fetch_add(1, std::memory_order_relaxed);
}

ThreadPool::Caller::~Caller() {
  if (!outermost_) return;
  if (counted) of_process().state_.load()->callers.fetch_sub(1, std::memory_order_relaxed);
  counted = false;
}

void ThreadPool::run_chunks(Running& running, int number, int lane) {
  in_loop = true;
  for (int64_t chunk; (chunk = running.take(number)) >= 0;) {
    if (chunk > running.failed.load(std::memory_order_relaxed)) continue;
    try {
      if (lane == 0) poll_interruption();
      running.loop.run(running.loop.body, chunk, lane);
    } catch (...) {
      std::lock_guard<std::mutex> lock(running.failure);
      if (running.failed.load(std::memory_order_relaxed) < chunk) continue;
      running.failed.store(chunk, std::memory_order_relaxed);
      running.error = std::current_exception();
    }
  }
  in_loop = false;
}

void ThreadPool::run(const Loop& loop) {
  Caller caller;
  State& state = *state_;
  Running running(loop);
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    start_workers(state, loop.threads - 1);
    state.loops.push_back(&running);
    state.posted.fetch_add(1, std::memory_order_relaxed);
    int busy = state.callers.load(std::memory_order_relaxed) + state.helping;
    int64_t wanted = std::min<int64_t>(loop.threads - busy, loop.chunks - 1);
    for (int64_t i = std::min<int64_t>(wanted, state.sleeping); i > 0; --i) state.work.notify_one();
  }
  run_chunks(running, 0, 0);
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    state.loops.erase(std::find(state.loops.begin(), state.loops.end(), &running));
  }
  auto ended = [&] { return running.helpers.load(std::memory_order_acquire) == 0; };
  if (!spin_until(ended)) {
    std::unique_lock<std::mutex> lock(state.mutex);
    ++state.waiting;
    state.ended.wait(lock, ended);
    --state.waiting;
  }
  if (running.error) std::rethrow_exception(running.error);
}

// The caller holds the mutex. Counts the worker in.
ThreadPool::Running* ThreadPool::find_work(State& state) {
  for (Running* running : state.loops) {
    const Loop& loop = running->loop;
    bool cores = state.callers.load(std::memory_order_relaxed) + state.helping < loop.threads;
    if (running->is_left() && cores && running->lanes < loop.threads) {
      ++state.helping;
      running->helpers.fetch_add(1, std::memory_order_relaxed);
      return running;
    }
  }
  return nullptr;
}

void ThreadPool::work(State& state, int number) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(state.mutex);
  while (true) {
    seen = state.posted.load(std::memory_order_relaxed);
    if (Running* running = find_work(state)) {
      int lane = running->lanes++;
      lock.unlock();
      // Any worker may help, also where there are more than the loop has threads.
      run_chunks(*running, number < running->loop.threads ? number : lane, lane);
      lock.lock();
      --state.helping;
      // After this the caller may return, and the loop is gone.
      if (running->helpers.fetch_sub(1, std::memory_order_release) == 1 && state.waiting) state.ended.notify_all();
      continue;
    }
    lock.unlock();
    bool posted = spin_until([&] { return state.posted.load(std::memory_order_relaxed) != seen; });
    lock.lock();
    if (posted || state.posted.load(std::memory_order_relaxed) != seen) continue;
    ++state.sleeping;
    state.work.wait(lock);
    --state.sleeping;
  }
}

// Workers block all signals: the process' own threads receive them.
void ThreadPool::start_workers(State& state, int wanted) {
  if (state.workers >= wanted || state.refused) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (; state.workers < wanted; ++state.workers)
      std::thread([&state, number = state.workers + 1] { work(state, number); }).detach();
  } catch (const std::exception& error) {  // no thread, or no memory for one
    state.refused = true;
    std::fprintf(stderr, "paddle_mini: the system refused to start a thread (%s): operators run on %d of %d threads\n",
                 error.what(), state.workers + 1, wanted + 1);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace paddle_mini
