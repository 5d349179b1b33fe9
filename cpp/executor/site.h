// Adds the operator, its variables and the user's source line to error messages.
#pragma once

#include <string>
#include <vector>

#include "core/infer.h"

namespace paddle_mini {

struct OpSite {
  const OpDesc& op;
  int index = -1;  // position in its block; -1: not in a block yet
  int block = 0;
  const std::vector<std::vector<VarInfo>>* inputs = nullptr;  // one list for each input slot, when known
};

// "conv2d: Filter has ...\n  Input 'x' [8, 4] float32\n  in op #7 conv2d -> 'y', block 0\n  added at ..."
std::string located(const std::string& message, const OpSite& site);

// Runs f; rethrows its Error as the same type with the site in the message.
template <class F>
auto at_op(const OpSite& site, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const ProgramError& e) { throw ProgramError(located(e.what(), site)); } catch (const ShapeError& e) {
    throw ShapeError(located(e.what(), site));
  } catch (const OpError& e) { throw OpError(located(e.what(), site)); } catch (const DeviceError& e) {
    throw DeviceError(located(e.what(), site));
  } catch (const std::bad_alloc&) { throw DeviceError(located("out of memory", site)); }
}

}  // namespace paddle_mini
