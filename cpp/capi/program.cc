// The C functions of handles, values and programs.
#include "capi/objects.h"
#include "capi/status.h"

using namespace paddle_mini;
using namespace paddle_mini::capi;

namespace {

const std::vector<std::string>& names_of_program(const ProgramObject& program, int which) {
  bool known = which == PM_FEEDS || which == PM_FETCHES || which == PM_PARAMETERS;
  require<ArgumentError>(known, "which is ", which, ", it must be PM_FEEDS, PM_FETCHES or PM_PARAMETERS");
  if (which == PM_PARAMETERS) return program.parameters;
  return program.model->names(which == PM_FEEDS ? OpRole::Feed : OpRole::Fetch);
}

}  // namespace

extern "C" {

const char* pm_last_error(void) { return last_error(); }
int pm_version(void) { return PM_VERSION; }

int pm_kernel_level(const char** level) {
  return guarded([&] { there(level, "level") = runtime().kernels().level.c_str(); });
}

int pm_load_operators(const char* path) {
  return guarded([&] { runtime().load_operators(text_of(path, "path"), ""); });
}

int pm_release(uint64_t handle) {
  if (!handle) return PM_OK;
  return guarded([&] { release_handle(handle); });
}

int pm_values_create(pm_values* values) {
  return guarded([&] { there(values, "values") = make_handle<Values>(); });
}

int pm_values_count(pm_values values, size_t* count) {
  return guarded([&] {
    HeldAs<Values> held(values);
    Values::Use use(*held);
    there(count, "count") = held->count();
  });
}

int pm_values_kind(pm_values values, size_t index, int32_t* kind, size_t* elements) {
  return guarded([&] {
    HeldAs<Values> held(values);
    Values::Use use(*held);
    int32_t found = held->kind(index);
    if (kind) *kind = found;
    if (elements) *elements = held->elements(index);
  });
}

int pm_values_get(pm_values values, size_t index, size_t element, pm_tensor* tensor) {
  return guarded([&] {
    there(tensor, "tensor");
    HeldAs<Values> held(values);
    Values::Use use(*held);
    *tensor = held->get(index, element);
  });
}

int pm_values_text(pm_values values, size_t index, const char** text) {
  return guarded([&] {
    there(text, "text");
    HeldAs<Values> held(values);
    Values::Use use(*held);
    *text = held->text(index);
  });
}

int pm_program_load(const void* bytes, size_t size, pm_program* program) {
  return guarded([&] {
    there(program, "program");
    require<ArgumentError>(bytes || size == 0, "bytes is NULL");
    require<ArgumentError>(size <= SIZE_MAX / 2, "the size is negative");
    std::string_view view(static_cast<const char*>(bytes), size);
    *program = make_handle<ProgramObject>(std::make_shared<const Model>(view));
  });
}

int pm_program_load_file(const char* path, pm_program* program) {
  return guarded([&] {
    there(program, "program");
    *program = make_handle<ProgramObject>(read_model_file(text_of(path, "path")));
  });
}

int pm_program_count(pm_program program, int which, size_t* count) {
  return guarded([&] {
    HeldAs<ProgramObject> held(program);
    there(count, "count") = names_of_program(*held, which).size();
  });
}

int pm_program_name(pm_program program, int which, size_t index, const char** name) {
  return guarded([&] {
    HeldAs<ProgramObject> held(program);
    const std::vector<std::string>& names = names_of_program(*held, which);
    require<ArgumentError>(index < names.size(), "the index of the name is ", index, ", it must be below ",
                           names.size());
    there(name, "name") = names[index].c_str();
  });
}

int pm_program_variable(pm_program program, const char* name, pm_tensor* declared) {
  return guarded([&] {
    HeldAs<ProgramObject> held(program);
    there(declared, "declared");
    std::string wanted = text_of(name, "name");
    for (const VarDesc& var : held->model->desc().blocks.at(0).vars) {
      if (var.name != wanted) continue;
      bool tensor = holds_tensor(static_cast<VarKind>(var.kind)) && is_dtype(var.dtype);
      require<ProgramError>(tensor, "'", printable(wanted), "' is not a tensor of a known dtype");
      Shape shape = declared_shape(var.dims);
      pm_tensor found{};
      found.dtype = var.dtype;
      found.rank = shape.rank();
      for (int axis = 0; axis < found.rank; ++axis) found.shape[axis] = shape[axis];
      *declared = found;
      return;
    }
    fail<ProgramError>("the program has no variable '", printable(wanted), "'");
  });
}

}  // extern "C"
