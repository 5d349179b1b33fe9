// The C functions of scopes.
#include "capi/objects.h"
#include "capi/status.h"
#include "executor/structure.h"
#include "program/model_file.h"
#include "program/tensor_file.h"

using namespace paddle_mini;
using namespace paddle_mini::capi;

namespace {

// Runs f while this thread uses the scope.
template <class F>
void with(const HeldAs<ScopeObject>& held, Access access, F f) {
  Scope& scope = *held->scope;
  Scope::Use use(scope, access);
  use.begin();
  f(scope);
}

}  // namespace

extern "C" {

int pm_scope_create(pm_scope* scope) {
  return guarded([&] { there(scope, "scope") = make_handle<ScopeObject>(); });
}

int pm_scope_load(pm_scope scope, pm_program program, const char* path, int check) {
  return guarded([&] {
    HeldAs<ScopeObject> target(scope);
    HeldAs<ProgramObject> owner(program);
    std::string file = text_of(path, "path");
    ParameterCheck checks;
    if (is_checked(check)) checks = check_at(file);
    Parameters parameters = read_parameters_at(file, *owner->model, checks);
    with(target, Access::Edit, [&](Scope& one) { set_parameters(one, std::move(parameters)); });
  });
}

int pm_scope_load_bytes(pm_scope scope, pm_program program, const void* bytes, size_t size, int check) {
  return guarded([&] {
    HeldAs<ScopeObject> target(scope);
    HeldAs<ProgramObject> owner(program);
    require<ArgumentError>(bytes || size == 0, "bytes is NULL");
    require<ArgumentError>(size <= SIZE_MAX / 2, "the size is negative");
    ParameterCheck checks;
    if (is_checked(check)) checks = {true, owner->model->checksum()};
    Parameters parameters = read_parameters_in({static_cast<const char*>(bytes), size}, *owner->model, checks);
    with(target, Access::Edit, [&](Scope& one) { set_parameters(one, std::move(parameters)); });
  });
}

int pm_scope_save(pm_scope scope, pm_program program, const char* path) {
  return guarded([&] {
    HeldAs<ScopeObject> source(scope);
    HeldAs<ProgramObject> owner(program);
    std::string file = text_of(path, "path");
    with(source, Access::Read,
         [&](Scope& one) { write_parameters(file, ParameterPieces(one, owner->parameters).pieces()); });
  });
}

int pm_scope_set(pm_scope scope, const char* name, const pm_tensor* value) {
  return guarded([&] {
    HeldAs<ScopeObject> target(scope);
    std::string key = text_of(name, "name");
    check_variable_name(key);
    Variable fresh = variable_of(there(value, "value"), key);
    with(target, Access::Edit, [&](Scope& one) {
      one.require_unclaimed(key);
      one.create(key) = std::move(fresh);
      one.changed();
    });
  });
}

int pm_scope_get(pm_scope scope, const char* const* names, size_t count, pm_values values) {
  return guarded([&] {
    HeldAs<Values> held(values);
    Values::Use use(*held);
    std::vector<std::string> wanted = names_of(names, count, "names");
    with(HeldAs<ScopeObject>(scope), Access::Read, [&](Scope& one) { held->share(one, wanted); });
  });
}

int pm_scope_erase(pm_scope scope, const char* name) {
  return guarded([&] {
    std::string key = text_of(name, "name");
    with(HeldAs<ScopeObject>(scope), Access::Edit, [&](Scope& one) { one.erase(key); });
  });
}

int pm_scope_names(pm_scope scope, pm_values texts) {
  return guarded([&] {
    HeldAs<Values> held(texts);
    Values::Use use(*held);
    with(HeldAs<ScopeObject>(scope), Access::Read, [&](Scope& one) { held->set_texts(one.names()); });
  });
}

int pm_scope_wait(pm_scope scope) {
  return guarded([&] { with(HeldAs<ScopeObject>(scope), Access::Change, [](Scope&) {}); });
}

}  // extern "C"
