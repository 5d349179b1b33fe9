// Shape arithmetic; the only place that multiplies dimensions and checks the product.
#include "core/shape.h"

#include <algorithm>

#include "core/error.h"

namespace paddle_mini {

Shape::Shape(std::initializer_list<int64_t> dims) {
  for (int64_t dim : dims) push_back(dim);
}

Shape::Shape(const std::vector<int64_t>& dims) {
  require<ShapeError>(dims.size() <= kMaxRank, "a tensor has at most ", kMaxRank, " dimensions, not ", dims.size());
  for (int64_t dim : dims) push_back(dim);
}

Shape declared_shape(std::vector<int64_t> dims) {
  for (int64_t& dim : dims) dim = std::max<int64_t>(dim, -1);
  return Shape(dims);
}

void Shape::push_back(int64_t dim) {
  require<ShapeError>(rank_ < kMaxRank, "a tensor has at most ", kMaxRank, " dimensions");
  require<ShapeError>(dim >= -1, "a dimension can't be ", dim);
  dims_[rank_++] = dim;
}

bool Shape::known() const {
  for (int64_t dim : *this) {
    if (dim < 0) return false;
  }
  return true;
}

int64_t Shape::numel() const {
  // No machine holds 2^48 elements; this limit keeps byte counts from overflowing.
  constexpr int64_t kLimit = int64_t{1} << 48;
  int64_t product = 1;
  bool empty = false;
  // Kernels call this in every run: the error text is built only on failure.
  for (int64_t dim : *this) {
    if (dim < 0) fail<ShapeError>("shape ", str(), " is not fully known");
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (dim > kLimit / product) fail<ShapeError>("shape ", str(), " has too many elements");
    product *= dim;
  }
  return empty ? 0 : product;
}

int64_t Shape::numel(int begin, int end) const {
  Shape part;
  for (int axis = begin; axis < end; ++axis) part.push_back(dims_[axis]);
  return part.known() ? part.numel() : -1;
}

std::string Shape::str() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i) out += ", ";
    out += std::to_string(dims_[i]);
  }
  return out + "]";
}

bool Shape::operator==(const Shape& other) const {
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    if (dims_[i] != other.dims_[i]) return false;
  }
  return true;
}

bool shapes_agree(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (!dims_agree(a[i], b[i])) return false;
  }
  return true;
}

int normal_axis(int64_t axis, int rank, const char* what) {
  require<ShapeError>(axis >= -int64_t{rank} && axis < rank, what, " is ", axis, ", but the tensor has ", rank,
                      " dimensions");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace paddle_mini
