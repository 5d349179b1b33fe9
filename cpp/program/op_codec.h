// Converts operators of a program between messages and OpDesc, by the rule at the top of codec.cc.
#pragma once

#include "program/field_values.h"

namespace paddle_mini::wire {

OpDesc take_op(Message* m, upb_Arena* arena);  // removes everything from the message that OpDesc represents
Message* write_op(const OpDesc& op, upb_Arena* arena);

}  // namespace paddle_mini::wire
