// ConfigMessage: a parsed message of proto/optimizer.proto, with access to its fields by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_mini {

class ConfigMessage {
 public:
  // Parses an OptimizerConfig. Throws ProgramError if the bytes are malformed or have fields that are not in
  // proto/optimizer.proto, since they would have no effect.
  static ConfigMessage parse(std::string_view bytes);

  // Fields by name; an absent field has its default.
  bool has(const char* name) const;
  double number(const char* name) const;  // double; throws ProgramError if it is not finite
  int64_t integer(const char* name) const;  // int64, uint64, uint32
  bool flag(const char* name) const;
  int choice(const char* name) const;  // enum
  std::string choice_name(const char* name) const;
  ConfigMessage message(const char* name) const;  // if it is absent, all its fields have their defaults
  std::vector<ConfigMessage> list(const char* name) const;

  // The names of the present fields of type `message`.
  std::vector<std::string> messages() const;

 private:
  struct Parsed;
  ConfigMessage(std::shared_ptr<const Parsed> parsed, const void* message, const void* def, std::string path);
  std::string path_of(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  std::shared_ptr<const Parsed> parsed_;  // owns the memory
  const void *message_, *def_;            // upb's pointers; message_ is nullptr if it is absent
  std::string path_;                      // "adam", for error texts
};

}  // namespace paddle_mini
