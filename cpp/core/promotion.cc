// Which operators compute real numbers beside complex ones.
#include "core/promotion.h"

#include <mutex>
#include <set>
#include <shared_mutex>

namespace paddle_mini {
namespace {

// By operator type; the same in every kernel library. Operators may be added while other threads plan programs.
struct Promoting {
  std::shared_mutex mutex;
  std::set<std::string> types;
};

Promoting& promoting() {
  static Promoting all;
  return all;
}

}  // namespace

OpSchema promotes_complex(OpSchema schema) {
  std::unique_lock<std::shared_mutex> changing(promoting().mutex);
  promoting().types.insert(schema.type());
  return schema;
}

DType promoted_dtype(const InferContext& c, const char* a, const char* b) {
  DType one = c.input(a).dtype, other = c.input(b).dtype;
  if (is_complex(one) != is_complex(other) && real_of(one) == real_of(other)) return is_complex(one) ? one : other;
  require_same_dtype(c, a, b);
  return one;
}

std::optional<DType> promotes_to(const OpSchema& schema, const std::vector<std::vector<VarInfo>>& inputs) {
  std::optional<DType> wide;
  bool any_real = false;
  for (const auto& slot : inputs) {
    for (const VarInfo& info : slot) {
      if (is_complex(info.dtype)) wide = info.dtype;
      else any_real = any_real || is_floating(info.dtype);
    }
  }
  if (!wide || !any_real) return std::nullopt;
  std::shared_lock<std::shared_mutex> reading(promoting().mutex);
  return promoting().types.count(schema.type()) ? wide : std::nullopt;
}

}  // namespace paddle_mini
