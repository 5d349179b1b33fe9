// Fields: the numbers of one message of a configuration, checked as they are read.
#pragma once

#include "core/error.h"
#include "optimizer/config_message.h"

namespace paddle_mini {

class Fields {
 public:
  // `where` is the name of the message in error texts.
  Fields(const ConfigMessage& message, const char* where) : message_(message), where_(where) {}

  bool has(const char* name) const { return message_.has(name); }
  bool flag(const char* name) const { return message_.flag(name); }
  int64_t integer(const char* name) const { return message_.integer(name); }
  double any(const char* name) const { return message_.number(name); }

  double least(const char* name, double least) const {
    double value = any(name);
    require<ProgramError>(value >= least, where_, ".", name, " is ", value, ", it must be at least ", least);
    return value;
  }
  double most(const char* name, double most) const {
    double value = any(name);
    require<ProgramError>(value <= most, where_, ".", name, " is ", value, ", it must be at most ", most);
    return value;
  }
  double above(const char* name, double bound) const {
    double value = any(name);
    require<ProgramError>(value > bound, where_, ".", name, " is ", value, ", it must be above ", bound);
    return value;
  }
  double fraction(const char* name) const {  // at least 0, below 1
    double value = least(name, 0);
    require<ProgramError>(value < 1, where_, ".", name, " is ", value, ", it must be below 1");
    return value;
  }

 private:
  const ConfigMessage& message_;
  const char* where_;
};

// To the precision of the operators' attributes.
inline float rounded(double value) { return static_cast<float>(value); }

}  // namespace paddle_mini
