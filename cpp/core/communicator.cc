// Implements the all-reduce barrier among replicas in threads: each replica sums its own range of elements for all of
// them.
#include "core/communicator.h"

#include <algorithm>

#include "core/half.h"

namespace paddle_mini {
namespace {

// The type in which elements are summed. Integers wrap around on overflow.
template <class T>
struct SumOf {
  using type = T;
};
template <>
struct SumOf<int32_t> {
  using type = uint32_t;
};
template <>
struct SumOf<int64_t> {
  using type = uint64_t;
};
template <>
struct SumOf<Float16> {
  using type = float;
};
template <>
struct SumOf<BFloat16> {
  using type = float;
};

template <class T, class S>
S widened(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) return to_float(value);
  else return static_cast<S>(value);
}

template <class T, class S>
T narrowed(S value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    T result;
    from_float(value, result);
    return result;
  } else {
    return static_cast<T>(value);
  }
}

// Replaces the elements [begin, end) of every tensor by their sum.
template <class T>
void add_up(const std::vector<const Tensor*>& tensors, int64_t begin, int64_t end) {
  using S = typename SumOf<T>::type;
  constexpr int64_t kTile = 1024;  // fits the L1 cache
  S sums[kTile];
  for (int64_t at = begin; at < end; at += kTile) {
    int64_t count = std::min(kTile, end - at);
    for (size_t rank = 0; rank < tensors.size(); ++rank) {
      const T* values = static_cast<const T*>(tensors[rank]->data) + at;
      if (rank == 0)
        for (int64_t i = 0; i < count; ++i) sums[i] = widened<T, S>(values[i]);
      else
        for (int64_t i = 0; i < count; ++i) sums[i] += widened<T, S>(values[i]);
    }
    for (const Tensor* tensor : tensors) {
      T* values = static_cast<T*>(tensor->data) + at;
      for (int64_t i = 0; i < count; ++i) values[i] = narrowed<T, S>(sums[i]);
    }
  }
}

using AddUp = void (*)(const std::vector<const Tensor*>&, int64_t, int64_t);

AddUp add_up_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return &add_up<float>;
    case DType::Float64: return &add_up<double>;
    case DType::Int32: return &add_up<int32_t>;
    case DType::Int64: return &add_up<int64_t>;
    case DType::Float16: return &add_up<Float16>;
    case DType::BFloat16: return &add_up<BFloat16>;
    default: fail<DeviceError>("replicas can't add up ", name_of(dtype));
  }
}

std::string text_of(const Tensor* tensor, bool on_stream) {
  if (!tensor) return "the end of its step";
  return text("a sum of ", name_of(tensor->dtype), " ", tensor->shape.str(), on_stream ? " on its device" : "");
}

}  // namespace

ThreadCommunicator::ThreadCommunicator(int size, std::unique_ptr<ReplicaSums> on_streams)
    : size_(size), on_streams_(std::move(on_streams)), tensors_(static_cast<size_t>(std::max(size, 0))),
      streams_(tensors_.size()) {
  require<DeviceError>(size > 0, "there can't be ", size, " replicas");
}

bool ThreadCommunicator::sum_on_stream(int rank, const Tensor& tensor, void* stream) {
  if (on_streams_) run_collective(rank, &tensor, stream);
  return on_streams_ != nullptr;
}

// Contributions may be read from the last arrival to the last departure. Nothing can fail in between, so the sum is
// completed for all replicas or for none.
void ThreadCommunicator::run_collective(int rank, const Tensor* tensor, Stream stream) {
  require<DeviceError>(rank >= 0 && rank < size_, "replica ", rank, " of ", size_);
  AddUp add = tensor ? add_up_of(tensor->dtype) : nullptr;
  tensors_[static_cast<size_t>(rank)] = tensor;
  streams_[static_cast<size_t>(rank)] = stream;
  arrive();
  std::string trouble = disagreement();
  if (trouble.empty() && stream) {
    if (rank == 0) launch();
  } else if (trouble.empty() && tensor) {
    constexpr int64_t kLine = 64;  // elements: two replicas never write to the same cache line
    int64_t all = tensor->shape.numel(), part = ((all + size_ - 1) / size_ + kLine - 1) / kLine * kLine;
    add(tensors_, std::min(rank * part, all), std::min((rank + 1) * part, all));
  }
  leave();
  if (stream && trouble.empty()) trouble = not_launched_;  // safe to read: the next sum begins with a barrier
  require<DeviceError>(trouble.empty(), trouble);
}

// One replica launches for all, so no launch waits for a missing replica.
void ThreadCommunicator::launch() {
  not_launched_.clear();
  try {
    std::vector<ReplicaSums::Contribution> all;
    for (size_t rank = 0; rank < tensors_.size(); ++rank) all.push_back({tensors_[rank]->data, *streams_[rank]});
    on_streams_->launch(all, tensors_[0]->dtype, tensors_[0]->shape.numel());
  } catch (const std::exception& error) { not_launched_ = error.what(); }
}

void ThreadCommunicator::arrive() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!aborted_) {
    unsigned long long collective = collectives_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++collectives_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return collectives_ != collective || aborted_; });
    if (collectives_ != collective) return;
  }
  fail<DeviceError>(reason_);
}

void ThreadCommunicator::leave() {
  std::unique_lock<std::mutex> lock(mutex_);
  unsigned long long end = ended_;
  if (++left_ == size_) {
    left_ = 0;
    ++ended_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return ended_ != end; });
  }
}

std::string ThreadCommunicator::disagreement() const {
  const Tensor* first = tensors_[0];
  for (size_t rank = 1; rank < tensors_.size(); ++rank) {
    const Tensor* other = tensors_[rank];
    bool alike = first && other ? first->dtype == other->dtype && first->shape == other->shape : first == other;
    if (!alike || streams_[0].has_value() != streams_[rank].has_value()) {
      return text("the replicas diverge: replica 0 reached ", text_of(first, streams_[0].has_value()), ", replica ",
                  rank, " ", text_of(other, streams_[rank].has_value()));
    }
  }
  return "";
}

void ThreadCommunicator::require_all() {
  std::lock_guard<std::mutex> lock(mutex_);
  require<DeviceError>(!aborted_, reason_);
}

void ThreadCommunicator::cancel(const std::string& reason) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (aborted_) return;
    aborted_ = true;
    reason_ = reason;
  }
  changed_.notify_all();
  if (on_streams_) on_streams_->cancel();
}

void ThreadCommunicator::reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  aborted_ = false;
  arrived_ = 0;
}

}  // namespace paddle_mini
