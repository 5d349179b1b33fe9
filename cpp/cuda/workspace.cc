// Allocates one workspace per stream, which lives until the process ends.
#include "cuda/workspace.h"

#include <map>
#include <mutex>

#include "cuda/check.h"

namespace paddle_mini {

void* workspace(const KernelContext& context) {
  static std::mutex mutex;
  static std::map<void*, void*>& of_streams = *new std::map<void*, void*>;
  std::lock_guard<std::mutex> lock(mutex);
  void*& memory = of_streams[context.stream];
  if (!memory) check(cudaMalloc(&memory, kWorkspace), "allocating a workspace");
  return memory;
}

}  // namespace paddle_mini
