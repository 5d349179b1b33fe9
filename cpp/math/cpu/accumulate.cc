// Zeros and sums of whole variables.
#include "math/cpu/accumulate.h"

#include <cstring>

#include "core/control.h"

namespace paddle_mini {
namespace {

template <class T>
void add(T* sum, const T* more, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] += more[i];
}

void add_tensor(Tensor& sum, const Tensor& more) {
  require<ShapeError>(sum.dtype == more.dtype && sum.shape == more.shape, "values of ", sum.shape.str(), " ",
                      name_of(sum.dtype), " and ", more.shape.str(), " ", name_of(more.dtype), " can't be added");
  const int64_t count = sum.shape.numel();
  switch (sum.dtype) {
    case DType::Float32: return add(sum.as<float>(), more.as<float>(), count);
    case DType::Float64: return add(sum.as<double>(), more.as<double>(), count);
    case DType::Int32: return add(sum.as<int32_t>(), more.as<int32_t>(), count);
    case DType::Int64: return add(sum.as<int64_t>(), more.as<int64_t>(), count);
    default: fail<OpError>("values are ", name_of(sum.dtype), ", only float32, float64, int32 and int64 can be added");
  }
}

Tensor zeros(const Tensor& like) {
  Tensor tensor = new_tensor(like.dtype, like.shape);
  tensor.lod = like.lod;
  std::memset(tensor.data, 0, tensor.bytes());
  return tensor;
}

void append_rows(Variable& sum, const Variable& more) {
  const Tensor &first = sum.tensor, &second = more.tensor;
  require<ShapeError>(sum.height == more.height && first.dtype == second.dtype,
                      "selected rows belong to different tables");
  Shape shape = first.shape, like = second.shape;
  if (like.rank() > 0 && like.rank() == shape.rank()) like[0] = shape[0];
  require<ShapeError>(shape.rank() > 0 && like == shape, "selected rows of ", first.shape.str(), " and ",
                      second.shape.str(), " can't be added");
  shape[0] += second.shape[0];
  Tensor both = new_tensor(first.dtype, shape);
  std::memcpy(both.data, first.data, first.bytes());
  std::memcpy(static_cast<char*>(both.data) + first.bytes(), second.data, second.bytes());
  sum.rows.insert(sum.rows.end(), more.rows.begin(), more.rows.end());
  sum.tensor = both;
}

}  // namespace

Variable zeros_like(const Variable& value) {
  Variable result;
  result.kind = value.kind == VarKind::TensorArray ? VarKind::TensorArray : VarKind::Tensor;
  if (result.kind == VarKind::Tensor) result.tensor = zeros(value.tensor);
  for (const Tensor& element : value.array) result.array.push_back(element.data ? zeros(element) : Tensor{});
  return result;
}

void accumulate(Variable& sum, const Variable& more) {
  require<ShapeError>(sum.kind == more.kind, "values that are ", name_of(sum.kind), " and ", name_of(more.kind),
                      " can't be added");
  if (sum.is_rows()) return append_rows(sum, more);
  if (sum.kind == VarKind::Tensor) return add_tensor(sum.tensor, more.tensor);
  require<ShapeError>(sum.kind == VarKind::TensorArray, "values that are ", name_of(sum.kind), " can't be added");
  if (sum.array.size() < more.array.size()) sum.array.resize(more.array.size());
  for (size_t i = 0; i < more.array.size(); ++i) {
    if (!more.array[i].data) continue;
    if (sum.array[i].data) add_tensor(sum.array[i], more.array[i]);
    else sum.array[i] = copy_of(more.array[i]);
  }
}

}  // namespace paddle_mini
