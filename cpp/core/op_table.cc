// Looks up operators and suggests the nearest name for an unknown one.
#include "core/op_table.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "core/widening.h"

namespace paddle_mini {
namespace {

// Operators may be added to a table (core/operator_library.h) while other threads read it. Schemas are never removed, so
// references to them stay valid. One lock serves all tables: they hardly ever change.
std::shared_mutex& tables_changing() {
  static std::shared_mutex mutex;
  return mutex;
}

using Reading = std::shared_lock<std::shared_mutex>;

// Levenshtein distance with two rows.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitute});
    }
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

void OpTable::add(const OpSchema& schema) {
  schema.check_schema();
  const std::string& type = schema.type();
  std::unique_lock<std::shared_mutex> changing(tables_changing());
  require<ProgramError>(schemas_.emplace(type, schema).second, "operator '", type, "' is defined twice");
}

void OpTable::check_gradients() const {
  for (const std::string& type : types()) at(type).check_gradient(*this);
}

OpSchema OpTable::gradient_of(const std::string& type) const {
  OpSchema gradient = at(type).gradient_schema();
  for (DType dtype : at(type).kernel_dtypes()) {
    if (!is_floating(dtype)) gradient = also({dtype}, std::move(gradient));
  }
  return gradient;
}

const OpSchema* OpTable::find(const std::string& type) const {
  Reading reading(tables_changing());
  auto it = schemas_.find(type);
  return it == schemas_.end() ? nullptr : &it->second;
}

const OpSchema& OpTable::at(const std::string& type) const {
  const OpSchema* schema = find(type);
  if (schema) return *schema;
  std::string nearest;
  size_t best = type.size() <= 64 ? std::max<size_t>(3, type.size() / 3) : 0;
  for (const std::string& known : types()) {
    size_t distance = best ? edit_distance(type, known) : best;
    if (distance < best) {
      best = distance;
      nearest = known;
    }
  }
  fail<ProgramError>("operator '", printable(type), "' is not known",
                     nearest.empty()
                         ? "; if a file defines it, load that first: pm.load_op"
                         : "; did you mean '" + nearest + "'? If a file defines it, load that first: pm.load_op");
}

std::vector<std::string> OpTable::types() const {
  std::vector<std::string> types;
  Reading reading(tables_changing());
  for (const auto& entry : schemas_) types.push_back(entry.first);
  return types;
}

}  // namespace paddle_mini
