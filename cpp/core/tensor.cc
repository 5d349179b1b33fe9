// Creates tensors and copies them between devices.
#include "core/tensor.h"

#include <cstring>

#include "core/device.h"
#include "core/fork.h"

namespace paddle_mini {

Tensor new_tensor(DType dtype, const Shape& shape, Device* device) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.device = device;
  tensor.memory = device ? device->allocate(tensor.bytes()) : allocate(tensor.bytes());
  tensor.data = tensor.memory.get();
  return tensor;
}

void copy_bytes(const Tensor& from, const Tensor& to) {
  size_t bytes = to.bytes();
  if (bytes == 0 || from.data == to.data) return;
  if (from.device || to.device) require_devices_kept();
  if (from.device == to.device) {
    if (!to.device) {
      std::memmove(to.data, from.data, bytes);
    } else {
      to.device->within(to.data, from.data, bytes);
      to.device->compute().wait(to.device->compute().record_event());
    }
  } else if (!to.device) {
    from.device->to_host(to.data, from.data, bytes);
  } else if (!from.device) {
    to.device->to_device(to.data, from.data, bytes);
  } else {  // device to device goes through the host
    std::shared_ptr<void> between = to.device->allocate_staging(bytes);
    from.device->to_host(between.get(), from.data, bytes);
    to.device->to_device(to.data, between.get(), bytes);
  }
}

Tensor on_host(const Tensor& tensor) {
  if (!tensor.device) return tensor;
  Tensor copy = new_tensor(tensor.dtype, tensor.shape);
  copy.lod = tensor.lod;
  copy_bytes(tensor, copy);
  return copy;
}

Place place_of(const Tensor& tensor) { return tensor.device ? tensor.device->place() : Place{}; }

void require_bools(const Tensor& tensor, const std::string& name) {
  if (tensor.dtype != DType::Bool) return;
  const auto* bytes = static_cast<const unsigned char*>(tensor.data);
  const size_t count = tensor.bytes();
  size_t i = 0;
  for (uint64_t word = 0; i + sizeof(word) <= count; i += sizeof(word)) {
    std::memcpy(&word, bytes + i, sizeof(word));
    if (word & 0xfefefefefefefefe) break;
  }
  while (i < count && bytes[i] <= 1) ++i;
  if (i == count) return;
  const std::string what = name.empty() ? "a tensor" : "'" + printable(name) + "'";
  fail<OpError>(what, " has the byte ", int{bytes[i]}, " as the bool ", i, "; it must be 0 or 1");
}

}  // namespace paddle_mini
