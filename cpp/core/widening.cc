// Selects the wider type in which a narrow type is computed.
#include "core/widening.h"

#include <mutex>
#include <set>
#include <shared_mutex>

namespace paddle_mini {
namespace {

// In order of preference. `named`: the schema lists the type in also().
std::vector<DType> wider_than(DType dtype, bool named) {
  switch (dtype) {
    case DType::Float16:
    case DType::BFloat16: return {DType::Float32, DType::Float64};
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
      if (!named) return {DType::Int32, DType::Int64};
      return {DType::Int32, DType::Int64, DType::Float32};
    case DType::Bool:
      if (named) return {DType::Int32, DType::Int64, DType::Float32};
      return {};
    case DType::Int32:
    case DType::Int64:
      if (named) return {DType::Float64};
      return {};
    default: return {};
  }
}

// Declarations of the schemas by operator type; they are the same in every kernel library.
// Operators may be added while other threads plan programs, so the mutex guards it.
struct Declared {
  std::shared_mutex mutex;
  std::set<std::pair<std::string, DType>> types;
  std::set<std::pair<std::string, std::string>> integer_ports;
};

Declared& declared() {
  static Declared all;
  return all;
}

}  // namespace

bool takes_any_integers(const OpSchema& schema, const std::string& port) {
  std::shared_lock<std::shared_mutex> reading(declared().mutex);
  return declared().integer_ports.count({schema.type(), port}) > 0;
}

void infer_float_of_integers(InferContext& c) {
  same_as("X")(c);
  VarInfo& out = c.output("Out");
  if (!is_floating(out.dtype) && !is_complex(out.dtype)) out.dtype = DType::Float32;
}

OpSchema also(std::initializer_list<DType> dtypes, OpSchema schema) {
  std::unique_lock<std::shared_mutex> changing(declared().mutex);
  for (DType dtype : dtypes) declared().types.emplace(schema.type(), dtype);
  return schema;
}

OpSchema any_integers(const char* port, OpSchema schema) {
  std::unique_lock<std::shared_mutex> changing(declared().mutex);
  declared().integer_ports.emplace(schema.type(), port);
  return schema;
}

std::optional<DType> computes_in(const OpSchema& schema, DType dtype, bool narrow_kernels) {
  if (schema.kernel(dtype) && (narrow_kernels || !schema.has_narrow_kernel(dtype))) return dtype;
  bool named = false;
  {
    std::shared_lock<std::shared_mutex> reading(declared().mutex);
    named = declared().types.count({schema.type(), dtype}) > 0;
  }
  for (DType wide : wider_than(dtype, named))
    if (schema.kernel(wide)) return wide;
  return std::nullopt;
}

std::vector<DType> widened_dtypes(const OpSchema& schema) {
  std::vector<DType> dtypes;
  for (DType dtype : {DType::Bool, DType::Int8, DType::UInt8, DType::Int16, DType::Int32, DType::Int64, DType::Float16,
                      DType::BFloat16}) {
    std::optional<DType> wide = computes_in(schema, dtype, false);
    if (wide && *wide != dtype) dtypes.push_back(dtype);
  }
  return dtypes;
}

}  // namespace paddle_mini
