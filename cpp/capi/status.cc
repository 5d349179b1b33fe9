// The message of the last error of each thread.
#include "capi/status.h"

#include <cstdio>
#include <new>

#include "capi/handles.h"
#include "core/session_lock.h"

namespace paddle_mini::capi {
namespace {

thread_local char message[6144];  // fixed: to report that memory is exhausted must not allocate

int stored(int status, const char* text) noexcept {
  std::snprintf(message, sizeof message, "%s", text);
  return status;
}

}  // namespace

const char* last_error() noexcept { return message; }

int failed() noexcept {
  try {
    throw;
  } catch (const ArgumentError& error) {
    return stored(PM_ERROR_ARGUMENT, error.what());
  } catch (const ProgramError& error) {
    return stored(PM_ERROR_PROGRAM, error.what());
  } catch (const ShapeError& error) { return stored(PM_ERROR_SHAPE, error.what()); } catch (const ScopeInUse& error) {
    return stored(PM_ERROR_IN_USE, error.what());
  } catch (const OpError& error) { return stored(PM_ERROR_OPERATOR, error.what()); } catch (const Interrupted&) {
    return stored(PM_STOPPED, "the run was stopped");
  } catch (const std::bad_alloc&) {
    return stored(PM_ERROR_RESOURCE, "out of memory");
  } catch (const std::exception& error) {  // DeviceError, and threads that can't be started
    return stored(PM_ERROR_RESOURCE, error.what());
  } catch (...) { return stored(PM_ERROR_RESOURCE, "unknown error"); }
}

}  // namespace paddle_mini::capi
