// The spelling of places.
#include "core/place.h"

#include "core/error.h"

namespace paddle_mini {

std::string name_of(const Place& place) {
  return place.kind == DeviceKind::Cpu ? "cpu" : "gpu:" + std::to_string(place.index);
}

Place parse_place(const std::string& spelling) {
  if (spelling == "cpu") return {};
  std::string digits = spelling == "gpu" ? "0" : spelling.rfind("gpu:", 0) == 0 ? spelling.substr(4) : "";
  bool is_number = !digits.empty() && digits.size() <= 3 &&
                   digits.find_first_not_of("0123456789") == std::string::npos;
  require<DeviceError>(is_number, "'", printable(spelling), "' is not a device: write \"cpu\" or \"gpu:0\"");
  return {DeviceKind::Gpu, std::stoi(digits)};
}

}  // namespace paddle_mini
