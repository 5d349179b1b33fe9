// Looks for NaN and infinities by the bits of the elements: all bits of the exponent are set.
#include "executor/finite_check.h"

#include <cstring>

namespace paddle_mini {
namespace {

struct NotFinite {
  int64_t nans = 0, infinities = 0, first = -1;
};

// Bits: an unsigned integer of the element's size.
template <class Bits>
NotFinite found_in(const Tensor& tensor, Bits exponent, bool infinities) {
  const auto* bits = static_cast<const Bits*>(tensor.data);
  const int64_t n = tensor.shape.numel();
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits most = infinities ? static_cast<Bits>(exponent - 1) : exponent;  // the largest accepted magnitude
  NotFinite found;
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) bad |= static_cast<Bits>(bits[i] & ~kSign) > most;
  if (!bad) return found;
  for (int64_t i = 0; i < n; ++i) {
    auto magnitude = static_cast<Bits>(bits[i] & ~kSign);
    found.nans += magnitude > exponent;
    found.infinities += magnitude == exponent;
    if (magnitude > most && found.first < 0) found.first = i;
  }
  return found;
}

NotFinite found_in(const Tensor& tensor, bool infinities) {
  switch (tensor.dtype) {
    case DType::Float32: return found_in<uint32_t>(tensor, 0x7f800000u, infinities);
    case DType::Float64: return found_in<uint64_t>(tensor, 0x7ff0000000000000u, infinities);
    case DType::Float16: return found_in<uint16_t>(tensor, 0x7c00u, infinities);
    case DType::BFloat16: return found_in<uint16_t>(tensor, 0x7f80u, infinities);
    default: return {};
  }
}

// [1, 2]: the indices of an element.
std::string indices_of(int64_t element, const Shape& shape) {
  std::vector<int64_t> indices = shape.vector();
  for (size_t axis = indices.size(); axis-- > 0;) {
    int64_t length = indices[axis];
    indices[axis] = element % length;
    element /= length;
  }
  return Shape(indices).str();
}

}  // namespace

int64_t FiniteCheck::begin_run(const std::shared_ptr<const VerifiedProgram>& program,
                               const std::shared_ptr<Scope>& scope) {
  std::lock_guard<std::mutex> lock(mutex_);
  return ++runs_[{program, scope}];
}

void FiniteCheck::require_finite(const Tensor& tensor, const std::string& port, const std::string& name,
                                 int64_t run) const {
  if (!tensor.data) return;
  NotFinite found = found_in(tensor, infinities_);
  if (found.first < 0) return;
  fail<OpError>(port, " '", printable(name, 80), "' ", tensor.shape.str(), " ", name_of(tensor.dtype), " has ",
                found.nans, " NaN and ", found.infinities, " infinite elements, the first at ",
                indices_of(found.first, tensor.shape), "; run ", run,
                " of this program in this scope, inside check_finite()");
}

}  // namespace paddle_mini
