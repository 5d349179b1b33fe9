// Files: read whole, and replaced whole. Pipes, devices and folders are refused and never waited for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

// What a file holds.
class FileBytes {
 public:
  explicit FileBytes(size_t size) : data_(new char[size ? size : 1]), size_(size) {}
  char* data() { return data_.get(); }
  operator std::string_view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;  // not zeroed
  size_t size_;
};

FileBytes read_file(const std::string& path);
// Into memory that `allocate` gives for so many bytes; at most `most` of them, from the beginning.
void read_file(const std::string& path, const std::function<char*(size_t)>& allocate, size_t most = SIZE_MAX);

bool is_there(const std::string& path);

// What `read` makes of a file's bytes; a refusal begins with the file's name.
template <class Read>
auto from_file(const std::string& path, const Read& read) {
  FileBytes bytes = read_file(path);
  try {
    return read(std::string_view(bytes));
  } catch (const ShapeError& e) {
    fail<ShapeError>("'", printable(path), "': ", e.what());
  } catch (const ProgramError& e) { fail<ProgramError>("'", printable(path), "': ", e.what()); }
}

using Pieces = std::vector<std::string_view>;  // one after the other
struct NewFile {
  std::string path;
  std::optional<Pieces> pieces;  // none: a file that is there is removed
};

// Writes all files; on an error before the first rename each is as it was. They are written beside their places, flushed
// to the disk, and then renamed, or removed, in this order. A file keeps the mode of the one that it replaces; a link at a
// path is replaced, never followed. What writes that were killed left in these folders is removed.
void write_files(const std::vector<NewFile>& files);
void write_file(const std::string& path, std::string_view bytes);

// A random name for a file that is being written. Its writer holds a lock on it (flock), which ends with the process.
std::string unfinished_name();
// Removes files of such names that no process has locked; locks of processes in other containers count too.
void remove_unfinished(const std::string& folder);

}  // namespace paddle_mini
