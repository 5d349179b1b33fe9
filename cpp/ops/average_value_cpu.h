// CPU kernels of average_value.
#pragma once

#include "math/cpu/average_rows.h"

namespace paddle_mini {
namespace {

// Writes elements of type T in the element type of Out.
template <class T>
class ValueWriter {
 public:
  explicit ValueWriter(KernelInit& init) : tensor_(init.output("Out")->tensor) {}

  T* direct() const { return tensor_.dtype == dtype_of<T>::value ? static_cast<T*>(tensor_.data) : nullptr; }
  void* data() const { return tensor_.data; }

  void write(int64_t at, int64_t count, const T* from) const {
    if (tensor_.dtype == DType::Float16) return convert(static_cast<Float16*>(tensor_.data) + at, count, from);
    if (tensor_.dtype == DType::BFloat16) return convert(static_cast<BFloat16*>(tensor_.data) + at, count, from);
    if (direct() + at != from) std::copy_n(from, count, direct() + at);
  }

 private:
  template <class Half>
  static void convert(Half* to, int64_t count, const T* from) {
    for (int64_t i = 0; i < count; ++i) from_float(static_cast<float>(from[i]), to[i]);
  }

  const Tensor& tensor_;
};

template <class T>
struct AverageValueKernel : Kernel {
  static constexpr int64_t kBlock = 2048;
  const Tensor& param;
  In<T> average, block, previous;
  In<int64_t> counters;
  In<double> sums, state, stamps;
  ValueWriter<T> out;
  int64_t width;  // elements of a row
  Scratch<T> buffer, previous_row;

  explicit AverageValueKernel(KernelInit& init)
      : param(init.input("Param")->tensor), average(init, "Average"), block(init, "Block", optional_port),
        previous(init, "Previous", optional_port), counters(init, "Counters"), sums(init, "Sums", optional_port),
        state(init, "State", optional_port), stamps(init, "RowStamps", optional_port), out(init),
        width(stamps && stamps.numel() ? param.shape.numel() / stamps.numel() : 0),
        buffer(init, out.direct() ? 0 : kBlock), previous_row(init, previous ? width : 0) {}

  void run(KernelContext& context) override {
    int64_t updates = counters[kUpdates];
    if (updates == 0) {
      if (param.data != out.data()) std::memcpy(out.data(), param.data, param.bytes());
    } else if (block) {
      write_blocks();
    } else if (stamps) {
      write_rows(context);
    } else {
      write_means(context);
    }
  }

  // The weight of the previous generation in the mean of both.
  T share() const { return previous ? static_cast<T>(share_of_previous(counters.data())) : T(0); }

  void write_blocks() {
    bool window = static_cast<bool>(previous);
    if (!stamps) return write(BlockValue<T>(counters.data(), sums.data(), window), 0, average.numel());
    RowClock clock(counters.data(), state.data(), window);
    for (int64_t row = 0; row < stamps.numel(); ++row) {
      write(BlockValue<T>(counters.data(), clock, stamps[row], window), row * width, width);
    }
  }

  void write(const BlockValue<T>& value, int64_t begin, int64_t count) {
    bool plain = out.direct() != nullptr;
    const T *now = average.data(), *rest = block.data(), *before = previous ? previous.data() : now;
    const T* p = plain ? static_cast<const T*>(param.data)
                       : now;  // only tables read p, and a table is never float16 or bfloat16
    for (int64_t at = begin, end = begin + count, n; at < end; at += n) {
      n = std::min(end - at, kBlock);
      T* to = plain ? out.direct() + at : buffer.data();
      for (int64_t i = 0; i < n; ++i) to[i] = value(p[at + i], now[at + i], rest[at + i], before[at + i]);
      if (!plain) out.write(at, n, to);
    }
  }

  void write_means(KernelContext& context) {
    T share = this->share();
    const T *now = average.data(), *before = previous ? previous.data() : nullptr;
    int64_t numel = average.numel(), step = out.direct() ? std::max<int64_t>(numel, 1) : kBlock;
    for (int64_t at = 0; at < numel; at += step) {
      int64_t count = std::min(step, numel - at);
      T* target = out.direct() ? out.direct() + at : buffer.data();
      if (share == T(0) || share == T(1)) {
        out.write(at, count, (share == T(0) ? now : before) + at);
      } else {
        map(context, count, Lerp<T>{share}, target, now + at, before + at);
        out.write(at, count, target);
      }
    }
  }

  // Writes each row with its averages brought up to date, since no gradient has named it after its stamp
  // (average_state.h).
  void write_rows(KernelContext& context) {
    RowClock clock(counters.data(), state.data(), static_cast<bool>(previous));
    T share = this->share();
    const T* raw = static_cast<const T*>(param.data);
    for (int64_t row = 0; row < stamps.numel(); ++row) {
      int64_t at = row * width;
      const T *now = average.data() + at, *older = previous ? previous.data() + at : nullptr;
      if (previous && clock.rolled(stamps[row])) {  // computed first, because Out may be Param
        average_row(context, width, clock.decay_of_previous(stamps[row]), raw + at, now, previous_row.data());
        older = previous_row.data();
      }
      average_row(context, width, clock.decay(stamps[row]), raw + at, now, out.direct() + at);
      if (share == T(0)) continue;
      map(context, width, Lerp<T>{share}, out.direct() + at, static_cast<const T*>(out.direct()) + at, older);
    }
  }
};

}  // namespace
}  // namespace paddle_mini
