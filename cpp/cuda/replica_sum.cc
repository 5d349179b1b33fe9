// Sums on the stream if the GPUs support it, else through the host.
#include "cuda/replica_sum.h"

#include "core/communicator.h"
#include "cuda/copy.h"

namespace paddle_mini {

bool GpuReplicaSum::wanted(KernelContext& context, const bool* condition) {
  bool value = false;
  download(context, condition, sizeof value, &value);
  return value;
}

// Not recorded: every run needs a barrier of the replicas.
void GpuReplicaSum::run(KernelContext& context, const Tensor& tensor) {
  require_not_recorded(context);
  context.launch_pending();
  if (context.communicator->sum_on_stream(context.rank, tensor, context.stream)) return;
  on_host_.resize(tensor.bytes());
  Tensor copied = tensor;
  copied.data = on_host_.data();
  download(context, tensor.data, tensor.bytes(), copied.data);
  context.communicator->sum(context.rank, copied);
  upload(context, copied.data, tensor.bytes(), tensor.data);
}

}  // namespace paddle_mini
