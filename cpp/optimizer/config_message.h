// ConfigMessage: a message of proto/optimizer.proto as it was parsed, read field by field.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_mini {

class ConfigMessage {
 public:
  // The bytes of an OptimizerConfig. ProgramError when they are something else, or have fields that are not in
  // proto/optimizer.proto, which nobody would obey.
  static ConfigMessage parse(std::string_view bytes);

  // Fields by name; what is not there has its default.
  bool has(const char* name) const;
  double number(const char* name) const;  // double; ProgramError when it is not finite
  int64_t integer(const char* name) const;  // int64, uint64, uint32
  bool flag(const char* name) const;
  int choice(const char* name) const;  // enum
  std::string choice_name(const char* name) const;
  ConfigMessage message(const char* name) const;  // also where it is not there: all its fields have their defaults
  std::vector<ConfigMessage> list(const char* name) const;

  // The names of the fields of type `message` that are there.
  std::vector<std::string> messages() const;

 private:
  struct Parsed;
  ConfigMessage(std::shared_ptr<const Parsed> parsed, const void* message, const void* def, std::string path);
  std::string path_of(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  std::shared_ptr<const Parsed> parsed_;  // keeps the memory
  const void *message_, *def_;            // of upb; no message: nothing is there
  std::string path_;                      // "adam", for error texts
};

}  // namespace paddle_mini
