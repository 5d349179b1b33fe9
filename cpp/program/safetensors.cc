// Reads the header of safetensors files: a subset of JSON (RFC 8259) without nesting beyond that of the format.
#include "program/safetensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <utf8_range.h>

#include "program/checksum.h"

namespace paddle_mini {
namespace {

constexpr size_t kSizeBytes = 8, kLargestHeader = 100'000'000, kDigits = 8;  // as the format's first reader has them
constexpr std::string_view kChecksumMark = "{\"__metadata__\":{\"paddle_mini.crc32c\":\"";

constexpr struct {
  std::string_view name, type;
} kTypes[] = {{"BOOL", "b1"}, {"I8", "i1"},   {"U8", "u1"},  {"I16", "i2"}, {"I32", "i4"}, {"I64", "i8"},
              {"F16", "f2"},  {"BF16", "u2"}, {"F32", "f4"}, {"F64", "f8"}, {"C64", "c8"}};

template <class... Parts>
void whole(bool condition, const Parts&... parts) {
  require<ProgramError>(condition, "it is not a whole safetensors file: ", parts...);
}

void append_utf8(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kFirst[more] | code >> (6 * more));
  while (more-- > 0) text += static_cast<char>(0x80 | (code >> (6 * more) & 0x3f));
}

class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  bool next_is(char character) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != character) return false;
    ++at_;
    return true;
  }
  void expect(char character) { whole(next_is(character), "its header lacks '", character, "' at byte ", at_); }
  void expect_end() {
    skip_space();
    whole(at_ == text_.size(), "its header continues after its end");
  }
  // Calls each() before every item of a list or an object that ends with `end`; its beginning has been read.
  template <class Each>
  void items(char end, Each each) {
    if (next_is(end)) return;
    do each();
    while (next_is(','));
    expect(end);
  }
  // Calls each(name) for every entry of an object, with the value to be read. Names differ.
  template <class Each>
  void entries(Each each) {
    std::set<std::string> names;
    expect('{');
    items('}', [&] {
      std::string name = string();
      whole(names.insert(name).second, "its header names '", printable(name), "' twice");
      expect(':');
      each(name);
    });
  }
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    auto [behind, error] = std::from_chars(begin, end, value);
    bool natural = error == std::errc() && *begin != '-' && (*begin != '0' || behind == begin + 1);
    bool ends = natural && (behind == end || !std::strchr(".eE", *behind) || *behind == '\0');
    whole(ends, "its header has no integer of at least 0 at byte ", at_);
    at_ += static_cast<size_t>(behind - begin);
    return value;
  }
  std::string string() {
    expect('"');
    std::string value;
    for (;;) {
      whole(at_ < text_.size(), "a string of its header does not end");
      char character = text_[at_++];
      if (character == '"') return value;
      whole(static_cast<unsigned char>(character) >= 0x20, "a string of its header has a control character");
      if (character == '\\') escaped(value);
      else value += character;
    }
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && text_[at_] && std::strchr(" \t\r\n", text_[at_])) ++at_;
  }
  uint32_t hex() {
    whole(text_.size() - at_ >= 4, "a string of its header does not end");
    uint32_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, value, 16);
    whole(error == std::errc() && end == text_.data() + at_ + 4, "a string of its header has a wrong escape");
    at_ += 4;
    return value;
  }
  void escaped(std::string& value) {
    whole(at_ < text_.size(), "a string of its header does not end");
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    char letter = text_[at_++];
    size_t known = kLetters.find(letter);
    if (known != std::string_view::npos) {
      value += kMeant[known];
      return;
    }
    whole(letter == 'u', "a string of its header has a wrong escape");
    uint32_t code = hex();
    if (code >= 0xd800 && code < 0xe000) {  // half of a character
      bool pair = code < 0xdc00 && text_.substr(at_, 2) == "\\u";
      at_ += pair ? 2 : 0;
      uint32_t low = pair ? hex() : 0;
      whole(low >= 0xdc00 && low < 0xe000, "a string of its header has half of a character");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(value, code);
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct Entry {
  std::string name, dtype;
  std::vector<int64_t> shape, offsets;
};

Entry read_entry(Header& header, const std::string& name) {
  Entry entry{name, "", {}, {}};
  int parts = 0;
  header.entries([&](const std::string& part) {
    ++parts;
    if (part == "dtype") {
      entry.dtype = header.string();
      return;
    }
    whole(part == "shape" || part == "data_offsets", "'", printable(name), "' has the part '", printable(part), "'");
    header.expect('[');
    header.items(']', [&] { (part == "shape" ? entry.shape : entry.offsets).push_back(header.integer()); });
  });
  whole(parts == 3, "'", printable(name), "' has ", parts, " parts, it must have dtype, shape and data_offsets");
  whole(entry.offsets.size() == 2, "'", printable(name), "' has ", entry.offsets.size(), " offsets, it must have 2");
  return entry;
}

StateArray array_of(const Entry& entry, std::string_view data) {
  StateArray array;
  for (const auto& type : kTypes)
    if (type.name == entry.dtype) array.type = type.type;
  if (array.type.empty()) {
    std::string known;
    for (const auto& type : kTypes) known += (known.empty() ? "" : ", ") + std::string(type.name);
    fail<ProgramError>("'", printable(entry.name), "' has elements of ", printable(entry.dtype),
                       ", which is not an element type; there are ", known);
  }
  whole(entry.shape.size() <= kMostDims, "'", printable(entry.name), "' has ", entry.shape.size(), " dimensions");
  array.shape = entry.shape;
  size_t bytes = static_cast<size_t>(entry.offsets[1] - entry.offsets[0]);
  whole(bytes_of(array.shape, item_size(array.type)) == bytes, "'", printable(entry.name), "' of shape ",
        text_of(array.shape), " ", entry.dtype, " has ", bytes, " bytes");
  array.elements = data.substr(static_cast<size_t>(entry.offsets[0]), bytes);
  return array;
}

std::vector<Entry> read_header(std::string_view text) {
  whole(utf8_range_IsValid(text.data(), text.size()), "its header is not UTF-8");
  Header header(text);
  std::vector<Entry> entries;
  header.entries([&](const std::string& name) {
    if (name != "__metadata__") entries.push_back(read_entry(header, name));
    else header.entries([&](const std::string&) { header.string(); });
  });
  header.expect_end();
  return entries;
}

}  // namespace

std::vector<std::pair<std::string, StateArray>> read_safetensors(std::string_view file) {
  uint64_t size = 0;
  whole(file.size() >= kSizeBytes, "it has ", file.size(), " bytes, its header's size alone has ", kSizeBytes);
  std::memcpy(&size, file.data(), kSizeBytes);
  size_t left = file.size() - kSizeBytes;
  whole(size <= std::min(left, kLargestHeader), "its header has ", size, " bytes, ", left, " are left");
  std::vector<Entry> entries = read_header(file.substr(kSizeBytes, size));
  std::string_view data = file.substr(kSizeBytes + size);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  int64_t end = 0;
  for (const Entry& entry : entries) {
    whole(entry.offsets[0] == end && entry.offsets[1] >= end, "the data of '", printable(entry.name), "' is at ",
          entry.offsets[0], " to ", entry.offsets[1], ", it must begin at ", end);
    end = entry.offsets[1];
  }
  whole(static_cast<uint64_t>(end) == data.size(), "its arrays have ", end, " bytes, ", data.size(), " are there");
  safetensors_is_checked(file);
  std::vector<std::pair<std::string, StateArray>> arrays;
  for (Entry& entry : entries) {
    StateArray array = array_of(entry, data);
    arrays.emplace_back(std::move(entry.name), std::move(array));
  }
  return arrays;
}

bool safetensors_is_checked(std::string_view file) {
  const size_t at = kSizeBytes + kChecksumMark.size();
  if (!is_marked(file, kSizeBytes, kChecksumMark)) return false;
  whole(file.size() >= at + kDigits, "its checksum is cut off");
  uint32_t found = crc32c({file.substr(0, at), std::string_view("00000000"), file.substr(at + kDigits)});
  uint32_t expected = 0;
  const char* digits = file.data() + at;
  auto [end, error] = std::from_chars(digits, digits + kDigits, expected, 16);
  bool lower = std::none_of(digits, digits + kDigits, [](char digit) { return digit >= 'A' && digit <= 'F'; });
  require<ProgramError>(error == std::errc() && end == digits + kDigits && lower && expected == found,
                        "it is cut off or damaged: its checksum does not match");
  return true;
}

}  // namespace paddle_mini
