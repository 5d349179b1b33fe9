// Element type conversion: one loop for each pair of types.
#include "math/cast.h"

#include "core/error.h"
#include "math/complex.h"

#include PM_LAUNCHERS(cast)

namespace paddle_mini {
namespace {

template <class From>
CastFunction cast_from(DType to) {
  switch (to) {
    case DType::Bool: return cast_elements<From, bool>;
    case DType::Int8: return cast_elements<From, int8_t>;
    case DType::UInt8: return cast_elements<From, uint8_t>;
    case DType::Int16: return cast_elements<From, int16_t>;
    case DType::Int32: return cast_elements<From, int32_t>;
    case DType::Int64: return cast_elements<From, int64_t>;
    case DType::Float32: return cast_elements<From, float>;
    case DType::Float64: return cast_elements<From, double>;
    case DType::Float16: return cast_elements<From, Float16>;
    case DType::BFloat16: return cast_elements<From, BFloat16>;
    case DType::Complex64: return cast_elements<From, Complex<float>>;
    case DType::Complex128: return cast_elements<From, Complex<double>>;
    default: fail<ShapeError>("no type can be cast to ", name_of(to));
  }
}

}  // namespace

CastFunction cast_function(DType from, DType to) {
  switch (from) {
    case DType::Bool: return cast_from<bool>(to);
    case DType::Int8: return cast_from<int8_t>(to);
    case DType::UInt8: return cast_from<uint8_t>(to);
    case DType::Int16: return cast_from<int16_t>(to);
    case DType::Int32: return cast_from<int32_t>(to);
    case DType::Int64: return cast_from<int64_t>(to);
    case DType::Float32: return cast_from<float>(to);
    case DType::Float16: return cast_from<Float16>(to);
    case DType::BFloat16: return cast_from<BFloat16>(to);
    case DType::Float64: return cast_from<double>(to);
    case DType::Complex64: return cast_from<Complex<float>>(to);
    case DType::Complex128: return cast_from<Complex<double>>(to);
    default: fail<ShapeError>(name_of(from), " can't be cast");
  }
}

}  // namespace paddle_mini
