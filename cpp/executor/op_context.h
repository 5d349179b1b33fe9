// Adds the operator, its variables and the user's source line to error messages.
#pragma once

#include <string>
#include <vector>

#include "core/infer.h"
#include "core/user_code.h"

namespace paddle_mini {

struct OpContext {
  const OpDesc& op;
  int index = -1;  // position in its block; -1: not in a block yet
  int block = 0;
  const std::vector<std::vector<VarInfo>>* inputs = nullptr;  // one list for each input slot, when known
};

// "conv2d: Filter has ...\n  Input 'x' [8, 4] float32\n  in op #7 conv2d -> 'y', block 0\n  added at ..."
std::string with_context(const std::string& message, const OpContext& op_context);

// Makes messages about an operator that the executor inserted name the user's, for which it did so.
void name_user_of(OpDesc& inserted, const OpDesc& user);

// Runs f; rethrows its Error as the same type with the site in the message.
template <class F>
auto with_op_context(const OpContext& op_context, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const ProgramError& e) { throw_as(with_context(e.what(), op_context), e); } catch (const ShapeError& e) {
    throw_as(with_context(e.what(), op_context), e);
  } catch (const OpError& e) { throw_as(with_context(e.what(), op_context), e); } catch (const DeviceError& e) {
    throw DeviceError(with_context(e.what(), op_context));
  } catch (const std::bad_alloc&) { throw DeviceError(with_context("out of memory", op_context)); }
}

}  // namespace paddle_mini
