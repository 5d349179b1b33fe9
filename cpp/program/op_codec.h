// Operators of a program: messages to OpDesc and back, by the rule at the top of codec.cc.
#pragma once

#include "program/field_values.h"

namespace paddle_mini::wire {

OpDesc take_op(Message* m, upb_Arena* arena);  // empties the message but for what OpDesc can't say
Message* write_op(const OpDesc& op, upb_Arena* arena);

}  // namespace paddle_mini::wire
