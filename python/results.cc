// The memory of large results. glibc returns blocks of more than 32 MB to the system when they are freed, so that every run
// that fetches one would clear its pages: 16 ms for 65 MB. The block of the last one that Python has released is therefore
// used again. One of more than 512 MB is not kept, nor one that other work may need.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/memory.h"
#include "core/memory_limit.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

constexpr size_t kLeast = size_t{32} << 20, kMostKept = size_t{512} << 20;

struct Block {
  void* data;
  size_t bytes;

  explicit Block(size_t size) : data(allocate_plain(size)), bytes(size) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(data); }
};

std::atomic<Block*> released{nullptr};  // by Python; at most one

// A block that is not much larger.
std::unique_ptr<Block> block_of(size_t bytes) {
  std::unique_ptr<Block> last(released.exchange(nullptr));
  if (last && bytes <= last->bytes && last->bytes <= bytes + bytes / 4) return last;
  last.reset();  // before more memory is needed
  return std::make_unique<Block>(bytes);
}

void release(void* block) {
  auto* last = static_cast<Block*>(block);
  if (last->bytes <= kMostKept && has_room_for_copy(last->bytes, 0)) last = released.exchange(last);
  delete last;
}

}  // namespace

py::array result_to_numpy(const Tensor& tensor) {
  if (tensor.bytes() <= kLeast) return copy_to_numpy(tensor);
  std::unique_ptr<Block> block = block_of(tensor.bytes());
  void* data = block->data;
  std::memcpy(data, on_host(tensor).data, tensor.bytes());
  py::capsule owner(block.get(), release);
  block.release();
  return py::array(numpy_dtype(tensor.dtype), tensor.shape.vector(), data, owner);
}

}  // namespace paddle_mini::python
