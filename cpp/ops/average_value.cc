// average_value: the averaged parameters as they are used: the mean of both generations, all rows up to date
#include "math/average_state.h"
#include "math/average_step.h"
#include "math/block_value.h"
#include "math/cast_one.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

#ifdef PM_GPU
// The mean over both generations; P is what Param is kept as.
template <class T>
struct ValueNow {
  bool none;  // whether there was no update yet
  T share;    // of the previous generation

  PM_HD T mean(T now, T before) const {
    return share == T(0) ? now : share == T(1) ? before : now + share * (before - now);
  }
  template <class P>
  PM_HD P operator()(P param, T now, T before) const {
    return none ? param : cast_one<P>(mean(now, before));
  }
  template <class P>
  PM_HD P operator()(P param, T now) const {
    return none ? param : cast_one<P>(now);
  }
};

template <class T>
struct ValueRule {
  static constexpr bool in_batches = true;
  const int64_t* counters;
  bool has_previous;

  PM_HD ValueNow<T> ready() const {
    double newer = static_cast<double>(counters[kNewer]), older = static_cast<double>(counters[kOlder]);
    T share = has_previous && older > 0 ? static_cast<T>(older / (newer + older)) : T(0);
    return {counters[kUpdates] == 0, share};
  }
};

template <class T>
struct BlockValueNow {
  BlockValue<T> value;
  template <class P>
  PM_HD P operator()(P param, T now, T block, T before) const {
    return value.none ? param : cast_one<P>(value(cast_one<T>(param), now, block, before));
  }
  template <class P>
  PM_HD P operator()(P param, T now, T block) const {
    return (*this)(param, now, block, T(0));
  }
};

template <class T>
struct BlockValueRule {
  static constexpr bool in_batches = true;
  const int64_t* counters;
  const double* sums;
  bool has_previous;
  PM_HD BlockValueNow<T> ready() const { return {BlockValue<T>(counters, sums, has_previous)}; }
};

// An element of a row that no gradient has named since its stamp: what its averages would be now (average_state.h).
template <class T>
struct RowValue {
  ValueRule<T> rule;
  const T *param, *average, *block, *previous;
  const double *state, *stamps;
  T* out;
  int64_t width;

  PM_HD void operator()(int64_t at) const {
    ValueNow<T> value = rule.ready();
    if (value.none) {
      out[at] = param[at];
      return;
    }
    RowClock clock(rule.counters, state, rule.has_previous);
    double stamp = stamps[at / width];
    if (block) {
      BlockValue<T> precise(rule.counters, clock, stamp, rule.has_previous);
      out[at] = precise(param[at], average[at], block[at], rule.has_previous ? previous[at] : T(0));
      return;
    }
    T p = param[at], now = average[at], older = rule.has_previous ? previous[at] : T(0);
    if (rule.has_previous && clock.rolled(stamp)) older = towards(clock.kept_of_previous(stamp), now, p);
    now = towards(clock.kept(stamp), now, p);
    out[at] = value.share == T(0) ? now : now + value.share * (older - now);
  }

  PM_HD static T towards(double kept, T average, T p) {
    if (kept == 1 || !(p - p == T(0))) return average;
    return p + static_cast<T>(kept) * (average - p);
  }
};

template <class T>
struct AverageValueKernel : Kernel {
  const Tensor &param, &out;
  In<T> average, block, previous;
  In<int64_t> counters;
  In<double> sums, state, stamps;

  explicit AverageValueKernel(KernelInit& init)
      : param(init.input("Param")->tensor), out(init.output("Out")->tensor), average(init, "Average"),
        block(init, "Block", optional_port), previous(init, "Previous", optional_port), counters(init, "Counters"),
        sums(init, "Sums", optional_port), state(init, "State", optional_port),
        stamps(init, "RowStamps", optional_port) {}

  void run(Device& device) override {
    if (stamps) run_rows(device);
    else if (param.dtype == DType::Float16) run_from<Float16>(device);
    else if (param.dtype == DType::BFloat16) run_from<BFloat16>(device);
    else run_from<T>(device);
  }

  template <class P>
  void run_from(Device& device) {
    if (block) return run_blocks<P>(device);
    ValueRule<T> rule{counters.data(), static_cast<bool>(previous)};
    const P* from = static_cast<const P*>(param.data);
    P* to = static_cast<P*>(out.data);
    if (previous) map(device, average.numel(), rule, to, from, average.data(), previous.data());
    else map(device, average.numel(), rule, to, from, average.data());
  }

  template <class P>
  void run_blocks(Device& device) {
    BlockValueRule<T> rule{counters.data(), sums.data(), static_cast<bool>(previous)};
    const P* from = static_cast<const P*>(param.data);
    P* to = static_cast<P*>(out.data);
    int64_t n = average.numel();
    if (previous) map(device, n, rule, to, from, average.data(), block.data(), previous.data());
    else map(device, n, rule, to, from, average.data(), block.data());
  }

  void run_rows(Device& device) {
    const T *from = static_cast<const T*>(param.data), *older = previous ? previous.data() : nullptr;
    int64_t n = average.numel();
    RowValue<T> value{{counters.data(), static_cast<bool>(previous)},
                      from,
                      average.data(),
                      block ? block.data() : nullptr,
                      older,
                      state.data(),
                      stamps.data(),
                      static_cast<T*>(out.data),
                      n ? n / stamps.numel() : 1};
    for_each_index(device, n, value);
  }
};
#else
// Writes elements of type T as Param keeps them.
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
  int64_t width;  // of a row
  Scratch<T> buffer, previous_row;

  explicit AverageValueKernel(KernelInit& init)
      : param(init.input("Param")->tensor), average(init, "Average"), block(init, "Block", optional_port),
        previous(init, "Previous", optional_port), counters(init, "Counters"), sums(init, "Sums", optional_port),
        state(init, "State", optional_port), stamps(init, "RowStamps", optional_port), out(init),
        width(stamps && stamps.numel() ? param.shape.numel() / stamps.numel() : 0),
        buffer(init, out.direct() ? 0 : kBlock), previous_row(init, previous ? width : 0) {}

  void run(Device& device) override {
    int64_t updates = counters[kUpdates];
    if (updates == 0) {
      if (param.data != out.data()) std::memcpy(out.data(), param.data, param.bytes());
    } else if (block) {
      write_blocks();
    } else if (stamps) {
      write_rows(device);
    } else {
      write_means(device);
    }
  }

  // The part of the previous generation in the mean over both.
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
                       : now;  // only tables look at p, and a table is not float16 or bfloat16
    for (int64_t at = begin, end = begin + count, n; at < end; at += n) {
      n = std::min(end - at, kBlock);
      T* to = plain ? out.direct() + at : buffer.data();
      for (int64_t i = 0; i < n; ++i) to[i] = value(p[at + i], now[at + i], rest[at + i], before[at + i]);
      if (!plain) out.write(at, n, to);
    }
  }

  void write_means(Device& device) {
    T share = this->share();
    const T *now = average.data(), *before = previous ? previous.data() : nullptr;
    int64_t numel = average.numel(), step = out.direct() ? std::max<int64_t>(numel, 1) : kBlock;
    for (int64_t at = 0; at < numel; at += step) {
      int64_t count = std::min(step, numel - at);
      T* target = out.direct() ? out.direct() + at : buffer.data();
      if (share == T(0) || share == T(1)) {
        out.write(at, count, (share == T(0) ? now : before) + at);
      } else {
        map(device, count, Lerp<T>{share}, target, now + at, before + at);
        out.write(at, count, target);
      }
    }
  }

  // A row that no gradient has named since its stamp: what its averages would be now (average_state.h).
  void write_rows(Device& device) {
    RowClock clock(counters.data(), state.data(), static_cast<bool>(previous));
    T share = this->share();
    const T* raw = static_cast<const T*>(param.data);
    for (int64_t row = 0; row < stamps.numel(); ++row) {
      int64_t at = row * width;
      const T *now = average.data() + at, *older = previous ? previous.data() + at : nullptr;
      if (previous && clock.rolled(stamps[row])) {  // first: Out may be Param
        average_row(device, width, clock.kept_of_previous(stamps[row]), raw + at, now, previous_row.data());
        older = previous_row.data();
      }
      average_row(device, width, clock.kept(stamps[row]), raw + at, now, out.direct() + at);
      if (share == T(0)) continue;
      map(device, width, Lerp<T>{share}, out.direct() + at, static_cast<const T*>(out.direct()) + at, older);
    }
  }
};
#endif

void infer_average_value(InferContext& c) {
  DType param = c.input("Param").dtype, average = c.input("Average").dtype;
  bool half = param == DType::Float16 || param == DType::BFloat16;
  require<ShapeError>(param == average || (average == DType::Float32 && half), "Param is ", name_of(param),
                      ", Average is ", name_of(average));
  require_same_shape(c, "Param", "Average");
  if (c.has_input("Previous")) {
    require_same_dtype(c, "Average", "Previous");
    require_same_shape(c, "Param", "Previous");
  }
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  bool blocks = c.has_input("Block");
  if (blocks) {
    require_same_dtype(c, "Average", "Block");
    require_same_shape(c, "Param", "Block");
  }
  require<ProgramError>(c.has_input("Sums") == (blocks && !c.has_input("RowStamps")),
                        "Sums is given where Block is and RowStamps is not");
  if (c.has_input("Sums")) require_vector(c, "Sums", DType::Float64, kAverageSums);
  require<ProgramError>(c.has_input("State") == c.has_input("RowStamps"), "State and RowStamps are given both or none");
  if (c.has_input("RowStamps")) {
    require<ShapeError>(c.shape("Param").rank() > 0 && !half, "Param is no table of float32 or float64");
    require_vector(c, "State", DType::Float64, kAverageState);
    require_vector(c, "RowStamps", DType::Float64, c.shape("Param")[0]);
  }
  c.set_output("Out", c.input("Param"));
}

}  // namespace

void define_average_value(OpTable& ops) {
  ops.add(OpSpec("average_value")
              .doc("What stands for a parameter while averages are applied: Average; with Previous, the mean over both "
                   "generations of the window, (n Average + m Previous) / (n + m); before the first update, Param "
                   "itself. With RowStamps, of average_rows, each row as if it had been averaged in every step. With "
                   "Block it "
                   "is exact, and rounded once.")
              .input("Param", "any shape")
              .input("Average", "shape of Param, of parameter_average or average_rows")
              .optional_input("Previous", "shape of Param, of parameter_average or average_rows")
              .input("Counters", "[5] int64, of average_weight")
              .optional_input("Block", "shape of Param, of parameter_average or average_rows")
              .optional_input("Sums", "[4] float64, of parameter_average")
              .optional_input("State", "[7] float64, of average_weight")
              .optional_input("RowStamps", "[rows] float64, of average_rows")
              .output("Out", "shape and element type of Param")
              .infer(infer_average_value)
              .no_gradient("an average of parameters is not differentiated")
              .in_place("Param", "Out")
              .dtype_from_input("Average")
              .on_gpu()
              .kernels<AverageValueKernel, float, double>());
}

}  // namespace paddle_mini
