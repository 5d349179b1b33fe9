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

// One object for the process, as threads of all devices may launch at the same time.
struct Memory {
  std::mutex mutex;
  std::map<void*, size_t> pieces;
  int running = 0;

  void protect(int how) {
    for (auto [memory, bytes] : pieces) mprotect(memory, bytes, how);
  }
};
Memory& memory() {
  static Memory* memory = new Memory;  // lives as long as the process: tensors may outlive statics
  return *memory;
}

}  // namespace

void* allocate(size_t bytes) {
  Memory& all = memory();
  std::lock_guard<std::mutex> lock(all.mutex);
  bytes = std::max<size_t>(bytes, 1);
  void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  std::memset(made, 0xff, bytes);  // uninitialised floats are NaN
  if (!all.running) mprotect(made, bytes, PROT_NONE);
  all.pieces[made] = bytes;
  return made;
}

void deallocate(void* made) {
  Memory& all = memory();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto piece = all.pieces.find(made);
  if (piece == all.pieces.end()) return;
  munmap(made, piece->second);
  all.pieces.erase(piece);
}

Running::Running() {
  std::lock_guard<std::mutex> lock(memory().mutex);
  if (memory().running++ == 0) memory().protect(PROT_READ | PROT_WRITE);
}

Running::~Running() {
  std::lock_guard<std::mutex> lock(memory().mutex);
  if (--memory().running == 0) memory().protect(PROT_NONE);
}

namespace {

enum class State { Running, Waiting, Done };

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  State state;
};

struct Block {
  std::vector<Fiber> fibers;
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
  for (Fiber& fiber : fibers) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
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
    for (Fiber& fiber : block.fibers) fiber.stack.reset(new char[kStack]);
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
