// ThreadPool: the worker threads of the process. Loops are split into numbered chunks; the calling thread and idle
// workers take chunk after chunk until none is left.
#pragma once

#include <atomic>
#include <cstdint>

namespace paddle_mini {

class ThreadPool {
 public:
  static constexpr int kMostThreads = 1024;

  struct Loop {
    int64_t chunks;
    void (*run)(void* body, int64_t chunk, int lane);
    void* body;
    int threads;  // at most this many threads, the caller included; lanes are numbered below it
  };

  static ThreadPool& of_process();

  // Runs all chunks and returns when they have ended. If chunks throw, later ones are not started, and the error of the
  // first chunk in order is rethrown. Any thread may call it at any time; several callers share the workers.
  void run(const Loop& loop);

  // Whether this thread is inside of a chunk: loops inside of a loop are not split.
  static bool inside_loop();

  // While it lives, this thread counts as busy, in loops and between them. Callers and helping workers together are
  // never more than a loop's number of threads, so programs that run at once share the cores and do not compete for them.
  class Caller {
   public:
    Caller();
    ~Caller();
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    bool outermost_;
  };

  int workers();  // number of workers started so far

 private:
  struct Running;
  struct State;

  ThreadPool();
  static void work(State& state, int number);  // a caller has the number 0
  static void start_workers(State& state, int wanted);
  static Running* find_work(State& state);
  static void run_chunks(Running& running, int number, int lane);

  // Replaced in a child of fork(), where the workers do not exist.
  std::atomic<State*> state_;
};

}  // namespace paddle_mini
