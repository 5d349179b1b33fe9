// Element types. The numbers are those of framework.proto's VarType.Type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paddle_mini {

enum class DType : int32_t {
  Bool = 0,
  Int16 = 1,
  Int32 = 2,
  Int64 = 3,
  Float16 = 4,
  Float32 = 5,
  Float64 = 6,
  UInt8 = 20,
  Int8 = 21,
  BFloat16 = 22,
  Complex64 = 23,
  Complex128 = 24,
};

bool is_dtype(int32_t number);
size_t size_of(DType dtype);
const char* name_of(DType dtype);  // "float32"
inline bool is_floating(DType d) {
  return d == DType::Float32 || d == DType::Float64 || d == DType::Float16 || d == DType::BFloat16;
}
inline bool is_complex(DType d) { return d == DType::Complex64 || d == DType::Complex128; }
// The type of the parts of a complex type; others are themselves.
inline DType real_of(DType d) {
  return d == DType::Complex64 ? DType::Float32 : d == DType::Complex128 ? DType::Float64 : d;
}
// The complex type whose parts have this type; float32 and float64 have one.
inline DType complex_of(DType d) {
  return d == DType::Float32 ? DType::Complex64 : d == DType::Float64 ? DType::Complex128 : d;
}

template <class T>
struct dtype_of;

// 16-bit floats: storage and conversion only (half.h). Kernels compute in float32.
// clang-format off: tables
struct Float16 { uint16_t bits; };
struct BFloat16 { uint16_t bits; };
template <>
struct dtype_of<Float16> { static constexpr DType value = DType::Float16; };
template <>
struct dtype_of<BFloat16> { static constexpr DType value = DType::BFloat16; };

// Complex numbers: math/complex.h.
template <class T>
struct Complex;
template <>
struct dtype_of<Complex<float>> { static constexpr DType value = DType::Complex64; };
template <>
struct dtype_of<Complex<double>> { static constexpr DType value = DType::Complex128; };

template <>
struct dtype_of<bool> { static constexpr DType value = DType::Bool; };
template <>
struct dtype_of<int16_t> { static constexpr DType value = DType::Int16; };
template <>
struct dtype_of<int32_t> { static constexpr DType value = DType::Int32; };
template <>
struct dtype_of<int64_t> { static constexpr DType value = DType::Int64; };
template <>
struct dtype_of<float> { static constexpr DType value = DType::Float32; };
template <>
struct dtype_of<double> { static constexpr DType value = DType::Float64; };
template <>
struct dtype_of<uint8_t> { static constexpr DType value = DType::UInt8; };
template <>
struct dtype_of<int8_t> { static constexpr DType value = DType::Int8; };
// clang-format on

}  // namespace paddle_mini
