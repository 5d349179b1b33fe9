// Sums on the stream if the GPUs support it, else through the host.
#include "cuda/replica_sum.h"

#include "core/communicator.h"
#include "cuda/copy.h"

namespace paddle_mini {

bool GpuReplicaSum::wanted(Device& device, const bool* condition) {
  bool value = false;
  download(device, condition, sizeof value, &value);
  return value;
}

// Not recorded: every run needs a barrier of the replicas.
void GpuReplicaSum::run(Device& device, const Tensor& tensor) {
  require_not_recorded(device);
  device.launch_waiting();
  if (device.communicator->sum_on_stream(device.rank, tensor, device.stream)) return;
  on_host_.resize(tensor.bytes());
  Tensor copied = tensor;
  copied.data = on_host_.data();
  download(device, tensor.data, tensor.bytes(), copied.data);
  device.communicator->sum(device.rank, copied);
  upload(device, copied.data, tensor.bytes(), tensor.data);
}

}  // namespace paddle_mini
