// Implements the C API: checks arguments and converts every exception to a status and a thread-local message.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "capi/paddle_optimizer.h"
#include "core/memory.h"
#include "optimizer/handles.h"
#include "optimizer/lent_states.h"

namespace paddle_mini {
namespace {

thread_local char last_error[1024];  // fixed buffer: reporting "out of memory" must not allocate
thread_local int last_status = PADDLE_OPTIMIZER_OK;

int failed(int status, const char* function, const char* what) noexcept {
  last_status = status;
  std::snprintf(last_error, sizeof last_error, "%s: %s", function, what);
  return status;
}

template <class F>
int guarded(const char* function, F f) noexcept {
  try {
    f();
    return PADDLE_OPTIMIZER_OK;
  } catch (const Busy& error) {
    return failed(PADDLE_OPTIMIZER_BUSY, function, error.what());
  } catch (const NotFinite& error) {
    return failed(PADDLE_OPTIMIZER_NOT_FINITE, function, error.what());
  } catch (const DeviceError& error) {
    return failed(PADDLE_OPTIMIZER_NO_MEMORY, function, error.what());
  } catch (const std::bad_alloc&) {
    return failed(PADDLE_OPTIMIZER_NO_MEMORY, function, "out of memory");
  } catch (const std::exception& error) { return failed(PADDLE_OPTIMIZER_ERROR, function, error.what()); } catch (...) {
    return failed(PADDLE_OPTIMIZER_ERROR, function, "unknown error");
  }
}

size_t element_of(paddle_element_type type) {
  int number = static_cast<int>(type);
  require<ProgramError>(number >= PADDLE_ELEMENT_TYPE_INT32 && number <= PADDLE_ELEMENT_TYPE_FLOAT64,
                        "there is no element type ", number);
  bool real = type == PADDLE_ELEMENT_TYPE_FLOAT32 || type == PADDLE_ELEMENT_TYPE_FLOAT64;
  require<ProgramError>(real, "parameters are FLOAT32 or FLOAT64, not integers");
  return type == PADDLE_ELEMENT_TYPE_FLOAT32 ? sizeof(float) : sizeof(double);
}

void check_type(const ParameterOptimizer& o, paddle_element_type type) {
  if (__builtin_expect(element_of(type) == o.element(), 1)) return;
  fail<ProgramError>("the type is FLOAT", 8 * element_of(type), ", the parameter's is FLOAT", 8 * o.element());
}

void check_bytes(const ParameterOptimizer& o, const char* what, size_t bytes) {
  if (__builtin_expect(bytes == o.bytes(), 1)) return;
  fail<ProgramError>("the ", what, " has ", bytes, " bytes, the parameter ", o.bytes());
}

// Checks that memory for numbers is not NULL, aligned, and does not overlap the parameter.
void check_values(ParameterOptimizer& o, const char* what, const void* values, size_t bytes) {
  require<ProgramError>(values || bytes == 0, "the ", what, " is NULL");
  auto at = reinterpret_cast<uintptr_t>(values);
  bool aligned = at % o.element() == 0;
  require<ProgramError>(aligned, "the ", what, " is not aligned to its elements of ", o.element(), " bytes");
  require<ProgramError>(bytes <= UINTPTR_MAX - at, "the ", what, " ends beyond the memory");
  auto own = reinterpret_cast<uintptr_t>(o.address());
  bool apart = at + bytes <= own || own + o.bytes() <= at || bytes == 0;
  require<ProgramError>(apart, "the ", what, " overlaps the parameter");
}

void check_rows(const int64_t* rows, size_t count) {
  require<ProgramError>(rows || count == 0, "rows is NULL");
  require<ProgramError>(reinterpret_cast<uintptr_t>(rows) % alignof(int64_t) == 0, "rows is not aligned to 8 bytes");
  require<ProgramError>(count <= SIZE_MAX / sizeof(int64_t), count, " rows are more than a table has");
}

template <class V>
V* there(V* pointer, const char* what) {
  require<ProgramError>(pointer, what, " is NULL");
  return pointer;
}

}  // namespace
}  // namespace paddle_mini

using namespace paddle_mini;

#define PM_GUARDED(...) guarded(__func__, [&] { __VA_ARGS__ })

extern "C" {

paddle_optimizer* paddle_create_optimizer(const void* config_proto, size_t config_proto_len, paddle_element_type type,
                                          const void* parameter, size_t num_bytes, const void* state,
                                          size_t state_len) {
  void* handle = nullptr;
  PM_GUARDED({
    there(config_proto, "config_proto");
    size_t element = element_of(type);
    require<ProgramError>(num_bytes % element == 0, num_bytes, " bytes are not a multiple of the element size");
    require<ProgramError>(num_bytes <= SIZE_MAX / 2, num_bytes, " bytes are more than any machine has");
    require<ProgramError>(parameter || state || num_bytes == 0, "the parameter is NULL");
    require<ProgramError>(state || state_len == 0, "the state is NULL, but has ", state_len, " bytes");
    require<ProgramError>(config_proto_len <= SIZE_MAX / 2 && state_len <= SIZE_MAX / 2, "a length is negative");
    OptimizerConfig config = parse_config({static_cast<const char*>(config_proto), config_proto_len});
    handle = Handle::add(ParameterOptimizer::create(std::move(config), element, parameter, num_bytes,
                                                    {static_cast<const char*>(state), state_len}, state != nullptr));
  });
  return static_cast<paddle_optimizer*>(handle);
}

paddle_optimizer* paddle_restore_optimizer(const void* config_proto, size_t config_proto_len, paddle_element_type type,
                                           size_t num_bytes, const void* state, size_t state_len, const void* changes,
                                           size_t changes_len) {
  void* handle = nullptr;
  PM_GUARDED({
    there(config_proto, "config_proto");
    there(state, "state");
    there(changes, "changes");
    size_t element = element_of(type);
    require<ProgramError>(num_bytes % element == 0, num_bytes, " bytes are not a multiple of the element size");
    bool sizes = std::max({num_bytes, config_proto_len, state_len, changes_len}) <= SIZE_MAX / 2 && changes_len > 0;
    require<ProgramError>(sizes, "a length is negative, or there are no changes");
    OptimizerConfig config = parse_config({static_cast<const char*>(config_proto), config_proto_len});
    handle = Handle::add(ParameterOptimizer::create(std::move(config), element, nullptr, num_bytes,
                                                    {static_cast<const char*>(state), state_len}, true,
                                                    {static_cast<const char*>(changes), changes_len}));
  });
  return static_cast<paddle_optimizer*>(handle);
}

int paddle_release_optimizer(paddle_optimizer* o) {
  if (!o) return PADDLE_OPTIMIZER_OK;
  return PM_GUARDED({ Handle::release(o); });
}

int paddle_update_parameter(paddle_optimizer* o, paddle_element_type type, const void* gradient, size_t num_bytes) {
  return PM_GUARDED({
    Handle object(o);
    check_type(*object, type);
    check_bytes(*object, "gradient", num_bytes);
    check_values(*object, "gradient", gradient, num_bytes);
    object->update(gradient);
  });
}

int paddle_update_parameter_rows(paddle_optimizer* o, paddle_element_type type, const int64_t* rows, size_t num_rows,
                                 const void* gradient, size_t num_bytes) {
  return PM_GUARDED({
    Handle object(o);
    check_type(*object, type);
    check_rows(rows, num_rows);
    check_values(*object, "gradient", gradient, num_bytes);
    object->update_rows(rows, num_rows, gradient, num_bytes);
  });
}

int paddle_apply_delta(paddle_optimizer* o, paddle_element_type type, const void* delta, size_t num_bytes,
                       double scale) {
  return PM_GUARDED({
    Handle object(o);
    check_type(*object, type);
    check_bytes(*object, "delta", num_bytes);
    check_values(*object, "delta", delta, num_bytes);
    object->apply_delta(delta, scale);
  });
}

const void* paddle_optimizer_param(const paddle_optimizer* o, size_t* num_bytes) {
  const void* parameter = nullptr;
  PM_GUARDED({
    Handle object(o);
    parameter = object->parameter();
    if (num_bytes) *num_bytes = object->bytes();
  });
  return parameter;
}

int paddle_optimizer_get_rows(const paddle_optimizer* o, paddle_element_type type, const int64_t* rows, size_t num_rows,
                              void* values, size_t num_bytes) {
  return PM_GUARDED({
    Handle object(o);
    check_type(*object, type);
    check_rows(rows, num_rows);
    check_values(*object, "memory for values", values, num_bytes);
    object->get_rows(rows, num_rows, values, num_bytes);
  });
}

int paddle_optimizer_get_state(const paddle_optimizer* o, const void** state, size_t* state_len) {
  return PM_GUARDED({
    there(state, "state");
    there(state_len, "state_len");
    Handle object(o);
    size_t size = object->state_size();
    std::unique_ptr<void, decltype(&std::free)> memory(allocate_plain(size), std::free);
    object->write_state(memory.get(), size);
    lend_state(memory.get());
    *state = memory.release();
    *state_len = size;
  });
}

int paddle_optimizer_free_state(const void* state) {
  if (!state) return PADDLE_OPTIMIZER_OK;
  return PM_GUARDED({
    require<ProgramError>(take_back_state(state), "this is not a state, or it was freed already");
    std::free(const_cast<void*>(state));
  });
}

int paddle_optimizer_snapshot(const paddle_optimizer* o, paddle_snapshot** snapshot, size_t* state_len) {
  return PM_GUARDED({
    there(snapshot, "snapshot");
    there(state_len, "state_len");
    Handle object(o);
    std::shared_ptr<Snapshot> made = object->snapshot();
    *state_len = made->size();
    *snapshot = static_cast<paddle_snapshot*>(const_cast<void*>(lend_snapshot(std::move(made))));
  });
}

int paddle_optimizer_snapshot_changes(const paddle_optimizer* o, paddle_snapshot** snapshot, size_t* changes_len) {
  return PM_GUARDED({
    there(snapshot, "snapshot");
    there(changes_len, "changes_len");
    Handle object(o);
    std::shared_ptr<Snapshot> made = object->snapshot_changes();
    *changes_len = made ? made->size() : 0;
    *snapshot = made ? static_cast<paddle_snapshot*>(const_cast<void*>(lend_snapshot(std::move(made)))) : nullptr;
  });
}

int paddle_snapshot_read(paddle_snapshot* snapshot, void* to, size_t size) {
  return PM_GUARDED({
    require<ProgramError>(to || size == 0, "the memory for the state is NULL");
    lent_snapshot(snapshot)->read(to, size);
  });
}

int paddle_release_snapshot(paddle_snapshot* snapshot) {
  if (!snapshot) return PADDLE_OPTIMIZER_OK;
  return PM_GUARDED({ take_back_snapshot(snapshot); });
}

int paddle_optimizer_set_learning_rate(paddle_optimizer* o, double learning_rate) {
  return PM_GUARDED({
    Handle object(o);
    bool usable = std::isfinite(learning_rate) && learning_rate >= 0;
    require<ProgramError>(usable, "the learning rate is ", learning_rate, ", it must be finite and at least 0");
    object->set_learning_rate(learning_rate);
  });
}

int paddle_optimizer_get_learning_rate(const paddle_optimizer* o, double* learning_rate) {
  return PM_GUARDED({
    there(learning_rate, "learning_rate");
    Handle object(o);
    *learning_rate = object->learning_rate();
  });
}

int paddle_optimizer_set_pass(paddle_optimizer* o, int64_t pass) {
  return PM_GUARDED({
    Handle object(o);
    require<ProgramError>(pass >= 0, "the pass is ", pass, ", it must be at least 0");
    object->set_pass(pass);
  });
}

int paddle_optimizer_get_updates(const paddle_optimizer* o, uint64_t* updates, uint64_t* skipped) {
  return PM_GUARDED({
    Handle object(o);
    if (updates) *updates = object->updates();
    if (skipped) *skipped = object->skipped();
  });
}

int paddle_optimizer_average(const paddle_optimizer* o, size_t which, paddle_element_type type, void* average,
                             size_t num_bytes) {
  return PM_GUARDED({
    Handle object(o);
    check_type(*object, type);
    check_bytes(*object, "memory for an average", num_bytes);
    check_values(*object, "memory for an average", average, num_bytes);
    object->average(which, 0, num_bytes / object->element(), average);
  });
}

int paddle_optimizer_average_part(const paddle_optimizer* o, size_t which, size_t first, paddle_element_type type,
                                  void* average, size_t num_bytes) {
  return PM_GUARDED({
    Handle object(o);
    check_type(*object, type);
    size_t element = object->element();
    require<ProgramError>(num_bytes % element == 0, num_bytes, " bytes are not a multiple of the element size");
    check_values(*object, "memory for an average", average, num_bytes);
    object->average(which, first, num_bytes / element, average);
  });
}

const char* paddle_optimizer_last_error(void) { return last_error; }
int paddle_optimizer_last_status(void) { return last_status; }
int paddle_optimizer_version(void) { return PADDLE_OPTIMIZER_VERSION; }

const char* paddle_optimizer_processor_level(void) {
  const char* level = nullptr;
  PM_GUARDED({ level = loops_of_this_cpu().level; });
  return level ? level : "";
}

}  // extern "C"
