// Emulates device memory, and the threads of a block: each has a stack and runs until it waits for the others.
#ifdef PM_CUDA_ON_HOST
#include "cuda/on_host.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/error.h"

namespace paddle_mini::emulation {

thread_local int device = 0;
thread_local Here here;
thread_local Launches* recording = nullptr;

namespace {

constexpr size_t kReserved = size_t{64} << 30, kAlignment = 256, kPage = 4096;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Memory of all devices. It is one range of addresses, so that one call opens or closes it: a call for each allocation
// takes longer than most launches. Freed pieces are kept by size; device pools ask for few sizes (cuda/memory_pool.cc).
struct Memory {
  std::mutex mutex;  // the threads of all devices may launch at the same time
  char* begin = nullptr;
  size_t used = 0;  // bytes at `begin` that were ever allocated
  std::map<void*, size_t> sizes;
  std::map<size_t, std::vector<void*>> freed;
  int running = 0;

  void protect(int how) {
    if (used) mprotect(begin, rounded_up(used, kPage), how);
  }
  void open() {
    if (running++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void close() {
    if (--running == 0) protect(PROT_NONE);
  }

  void* grow(size_t bytes) {
    if (!begin) {
      void* reserved = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (reserved == MAP_FAILED) return nullptr;
      begin = static_cast<char*>(reserved);
    }
    if (bytes > kReserved - used) return nullptr;
    used += bytes;
    if (running) protect(PROT_READ | PROT_WRITE);
    return begin + used - bytes;
  }
  void* take(size_t bytes) {
    std::vector<void*>& free = freed[bytes];
    if (free.empty()) return grow(bytes);
    void* piece = free.back();
    free.pop_back();
    return piece;
  }
};
Memory& memory() {
  static Memory* memory = new Memory;  // lives as long as the process: tensors may outlive statics
  return *memory;
}

// Gives whole pages back to the system.
void release(char* piece, size_t bytes) {
  size_t first = rounded_up(reinterpret_cast<uintptr_t>(piece), kPage);
  size_t end = (reinterpret_cast<uintptr_t>(piece) + bytes) / kPage * kPage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace

void* allocate(size_t bytes) {
  Memory& all = memory();
  std::lock_guard<std::mutex> lock(all.mutex);
  bytes = rounded_up(std::max<size_t>(bytes, 1), kAlignment);
  void* piece = all.take(bytes);
  if (!piece) return nullptr;
  all.sizes[piece] = bytes;
  all.open();
  std::memset(piece, 0xff, bytes);  // uninitialised floats are NaN
  all.close();
  return piece;
}

void deallocate(void* piece) {
  Memory& all = memory();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.sizes.find(piece);
  if (found == all.sizes.end()) return;
  release(static_cast<char*>(piece), found->second);
  all.freed[found->second].push_back(piece);
  all.sizes.erase(found);
}

Running::Running() {
  std::lock_guard<std::mutex> lock(memory().mutex);
  memory().open();
}

Running::~Running() {
  std::lock_guard<std::mutex> lock(memory().mutex);
  memory().close();
}

namespace {

enum class State { Running, Waiting, Done };

struct Fiber {
  ucontext_t context;
  State state;
};

struct Block {
  std::vector<Fiber> fibers;
  char* stacks;
  ucontext_t scheduler;
  void (*body)(const void*);
  const void* argument;
  std::exception_ptr error;
};
thread_local Block* running = nullptr;
constexpr size_t kStack = 64 << 10;

void enter() {
  Fiber& fiber = running->fibers[static_cast<size_t>(here.thread)];
  try {
    running->body(running->argument);
  } catch (...) { running->error = std::current_exception(); }
  fiber.state = State::Done;
  swapcontext(&fiber.context, &running->scheduler);
}

void run_block(Block& block) {
  std::vector<Fiber>& fibers = block.fibers;
  for (size_t i = 0; i < fibers.size(); ++i) {
    Fiber& fiber = fibers[i];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = block.stacks + i * kStack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
    fiber.state = State::Running;
  }
  for (bool going = true; going;) {
    going = false;
    for (size_t i = 0; i < fibers.size(); ++i) {
      if (fibers[i].state == State::Done) continue;
      fibers[i].state = State::Running;
      here.thread = static_cast<int>(i);
      swapcontext(&block.scheduler, &fibers[i].context);
      going = going || fibers[i].state == State::Waiting;
    }
    bool all_wait = true;
    for (Fiber& fiber : fibers) all_wait = all_wait && fiber.state == State::Waiting;
    require<DeviceError>(!going || all_wait || block.error, "some threads of a block wait for others that are done");
  }
  if (block.error) std::rethrow_exception(block.error);
}

// Kept by each thread for its next launch.
char* stacks_for(size_t threads) {
  thread_local std::unique_ptr<char[]> stacks;
  thread_local size_t count = 0;
  if (threads > count) {
    stacks.reset(new char[threads * kStack]);
    count = threads;
  }
  return stacks.get();
}

}  // namespace

void sync_block() {
  require<DeviceError>(running, "threads of a kernel wait for each other, but its body does not declare `syncs`");
  Fiber& fiber = running->fibers[static_cast<size_t>(here.thread)];
  fiber.state = State::Waiting;
  swapcontext(&fiber.context, &running->scheduler);
}

void run_blocks(int64_t blocks, int threads, bool syncs, void (*body)(const void*), const void* argument) {
  here.blocks = blocks;
  Block block;
  if (syncs) {
    block.body = body;
    block.argument = argument;
    block.fibers.resize(static_cast<size_t>(threads));
    block.stacks = stacks_for(block.fibers.size());
    running = &block;
  }
  for (here.block = 0; here.block < blocks; ++here.block) {
    if (syncs) {
      run_block(block);
    } else {
      for (here.thread = 0; here.thread < threads; ++here.thread) body(argument);
    }
  }
  running = nullptr;
}

}  // namespace paddle_mini::emulation
#endif
