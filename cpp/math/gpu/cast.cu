// Conversion of arrays on a GPU.
#include "math/gpu/cast.h"

#include "cuda/launch.h"
#include "math/convert_element.h"

namespace paddle_mini::cast_gpu {
namespace {

template <class To>
struct Body {
  DType type;
  int64_t n;
  const void* from;
  To* to;

  template <class From>
  PM_DEVICE void convert() const {
    const From* in = static_cast<const From*>(from);
    for (int64_t i = block_index() * kThreads + thread_index(); i < n; i += block_count() * kThreads) {
      if constexpr (std::is_same_v<From, To>) to[i] = in[i];
      else to[i] = convert_element<To>(in[i]);
    }
  }

  PM_DEVICE void operator()() const {
    switch (type) {
      case DType::Bool: return convert<bool>();
      case DType::Int8: return convert<int8_t>();
      case DType::UInt8: return convert<uint8_t>();
      case DType::Int16: return convert<int16_t>();
      case DType::Int32: return convert<int32_t>();
      case DType::Int64: return convert<int64_t>();
      case DType::Float16: return convert<Float16>();
      case DType::BFloat16: return convert<BFloat16>();
      case DType::Float32: return convert<float>();
      case DType::Float64: return convert<double>();
      case DType::Complex64: return convert<Complex<float>>();
      case DType::Complex128: return convert<Complex<double>>();
    }
  }
};

}  // namespace

template <class To>
void run(KernelContext& context, DType from_type, int64_t n, const void* from, void* to) {
  if (from == to) return;  // only if the types are equal
  launch(context, blocks_for(n), Body<To>{from_type, n, from, static_cast<To*>(to)});
}

template void run<bool>(KernelContext&, DType, int64_t, const void*, void*);
template void run<int8_t>(KernelContext&, DType, int64_t, const void*, void*);
template void run<uint8_t>(KernelContext&, DType, int64_t, const void*, void*);
template void run<int16_t>(KernelContext&, DType, int64_t, const void*, void*);
template void run<int32_t>(KernelContext&, DType, int64_t, const void*, void*);
template void run<int64_t>(KernelContext&, DType, int64_t, const void*, void*);
template void run<Float16>(KernelContext&, DType, int64_t, const void*, void*);
template void run<BFloat16>(KernelContext&, DType, int64_t, const void*, void*);
template void run<float>(KernelContext&, DType, int64_t, const void*, void*);
template void run<double>(KernelContext&, DType, int64_t, const void*, void*);
template void run<Complex<float>>(KernelContext&, DType, int64_t, const void*, void*);
template void run<Complex<double>>(KernelContext&, DType, int64_t, const void*, void*);

}  // namespace paddle_mini::cast_gpu
