// Names and sizes of the element types.
#include "core/dtype.h"

#include "core/error.h"

namespace paddle_mini {
namespace {

struct Row {
  DType dtype;
  const char* name;
  size_t size;
};
constexpr Row kTable[] = {
    {DType::Bool, "bool", 1},         {DType::Int16, "int16", 2},         {DType::Int32, "int32", 4},
    {DType::Int64, "int64", 8},       {DType::Float16, "float16", 2},     {DType::Float32, "float32", 4},
    {DType::Float64, "float64", 8},   {DType::UInt8, "uint8", 1},         {DType::Int8, "int8", 1},
    {DType::BFloat16, "bfloat16", 2}, {DType::Complex64, "complex64", 8}, {DType::Complex128, "complex128", 16},
};

const Row& row_of(DType dtype) {
  for (const Row& row : kTable) {
    if (row.dtype == dtype) return row;
  }
  fail<ProgramError>("data type number ", static_cast<int>(dtype), " is not an element type");
}

}  // namespace

bool is_dtype(int32_t number) {
  for (const Row& row : kTable) {
    if (static_cast<int32_t>(row.dtype) == number) return true;
  }
  return false;
}

size_t size_of(DType dtype) { return row_of(dtype).size; }
const char* name_of(DType dtype) { return row_of(dtype).name; }

}  // namespace paddle_mini
