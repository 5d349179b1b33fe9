// The table of optimizers, as configurations and states need it.
#include "optimizer/kinds.h"

namespace paddle_mini {
namespace {

template <class K>
constexpr OptimizerKind row(int index) {
  return {K::name.number, K::name.message, index, K::takes_norms, K::arrays, K::measures, K::read};
}

template <class... K>
const OptimizerKind* find(int64_t number, kinds::List<K...>) {
  int index = 0;
  static const OptimizerKind rows[] = {row<K>(index++)...};
  for (const OptimizerKind& row : rows) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

}  // namespace

const OptimizerKind* find_kind(int64_t number) { return find(number, kinds::All()); }

}  // namespace paddle_mini
