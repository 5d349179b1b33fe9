// Opens, writes and renames files. See open(2), flock(2).
#include "program/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "program/checksum.h"

namespace paddle_mini {
namespace {

[[noreturn]] void refuse(const char* what, const std::string& path, int error) {
  fail<ProgramError>("can't ", what, " '", printable(path), "': ", std::strerror(error));
}

constexpr const char kBeside[] = ".paddle_mini-", kUnfinished[] = ".unfinished";  // 16 hex digits between them

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Owns a file descriptor and closes it.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

Descriptor open_file(const std::string& path, int flags, mode_t mode = 0) {
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode));  // opening a pipe does not block
}

// The mode of the file at a path, or -1 if there is none. Throws if it is not a regular file, which can't be replaced.
int mode_at(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return -1;
  if (S_ISLNK(info.st_mode)) return -1;
  require<ProgramError>(S_ISREG(info.st_mode), "can't write '", printable(path), "': it is not a regular file");
  return static_cast<int>(info.st_mode & 0777);
}

bool is_unfinished(std::string_view name) {
  constexpr size_t kBegin = sizeof kBeside - 1, kEnd = sizeof kUnfinished - 1;
  return name.size() == kBegin + 16 + kEnd && name.substr(0, kBegin) == kBeside &&
         name.substr(kBegin + 16) == kUnfinished &&
         name.substr(kBegin, 16).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A file being written: locked while this object lives, and removed at its end unless it was renamed to its final name.
// For a file to be removed, the object only holds the path.
class Unfinished {
 public:
  explicit Unfinished(const NewFile& file)
      : path_(file.path), folder_(folder_of(file.path)), mode_(mode_at(file.path)) {
    if (!file.pieces) return;
    while (!create()) continue;
    try {
      for (std::string_view piece : *file.pieces) write(piece);
      if (mode_ >= 0 && fchmod(descriptor_, static_cast<mode_t>(mode_)) != 0) refuse("write", path_, errno);
      if (fsync(descriptor_) != 0) refuse("write", path_, errno);
    } catch (...) {
      unlink(beside_.c_str());
      throw;
    }
  }
  ~Unfinished() {
    if (!has_name_ && !beside_.empty()) unlink(beside_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  void take_name() {
    if (beside_.empty()) {
      if (unlink(path_.c_str()) != 0 && errno != ENOENT) refuse("remove", path_, errno);
    } else if (rename(beside_.c_str(), path_.c_str()) != 0) refuse("write", path_, errno);
    has_name_ = true;
  }

 private:
  // Returns false if another process removed the file as a leftover between its creation and its lock.
  bool create() {
    beside_ = folder_ + "/" + unfinished_name();
    Descriptor made =
        open_file(beside_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode_ < 0 ? 0666 : static_cast<mode_t>(mode_));
    if (made < 0) {
      int error = errno;
      if (error == EEXIST) return false;
      bool missing = error == ENOENT && !is_there(folder_);
      require<ProgramError>(!missing, "can't open '", printable(path_), "': there is no folder '", printable(folder_),
                            "'");
      refuse("open", path_, error);
    }
    struct stat info{};
    bool taken =
        (flock(made, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) || fstat(made, &info) != 0 || info.st_nlink == 0;
    if (!taken) descriptor_ = std::move(made);
    return !taken;
  }
  void write(std::string_view bytes) {
    constexpr size_t kAtOnce = 8 << 20;
    while (!bytes.empty()) {
      ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kAtOnce));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) refuse("write", path_, errno);
      bytes.remove_prefix(static_cast<size_t>(done));
      written_ += done;
      if (written_ - begun_ < static_cast<off_t>(kAtOnce)) continue;
      begin_writing(descriptor_, begun_, written_ - begun_);
      begun_ = written_;
    }
  }

  std::string path_, folder_, beside_;
  int mode_;  // mode of the replaced file; -1: there is none
  bool has_name_ = false;
  Descriptor descriptor_;
  off_t written_ = 0, begun_ = 0;  // bytes that are in the page cache, and of these the disk writes
};

// A descriptor of a regular file, and its size.
std::pair<Descriptor, size_t> open_to_read(const std::string& path) {
  Descriptor file = open_file(path, O_RDONLY);
  if (file < 0) refuse("open", path, errno);
  struct stat info{};
  bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  require<ProgramError>(regular, "'", printable(path), "' is not a regular file");
  return {std::move(file), static_cast<size_t>(info.st_size)};
}

// Reads at least one byte.
size_t read_some(const Descriptor& file, const std::string& path, char* to, size_t most) {
  ssize_t count;
  do count = ::read(file, to, most);
  while (count < 0 && errno == EINTR);
  if (count < 0) refuse("read", path, errno);
  require<ProgramError>(count > 0, "can't read '", printable(path), "': it became shorter");
  return static_cast<size_t>(count);
}

}  // namespace

bool is_there(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

void read_file(const std::string& path, const std::function<char*(size_t)>& allocate, size_t most) {
  auto [file, there] = open_to_read(path);
  size_t size = std::min(there, most);
  char* data = allocate(size);
  for (size_t done = 0; done < size;) done += read_some(file, path, data + done, size - done);
}

// Small reads are served from a buffer. Large ones go to the caller's memory, in pieces that are in the cache for the
// checksum.
struct FileStream::State {
  std::string path;
  Descriptor file;
  uint32_t checksum = 0;
  size_t begin = 0, end = 0;  // the range in the buffer that was not passed on
  char buffer[4096];

  size_t receive(char* to, size_t most) {
    size_t count = read_some(file, path, to, std::min<size_t>(most, 1 << 20));
    checksum = crc32c({to, count}, checksum);
    return count;
  }
};

FileStream::FileStream(const std::string& path) : state_(new State) {
  std::tie(state_->file, size_) = open_to_read(path);
  state_->path = path;
  left_ = size_;
}

FileStream::~FileStream() = default;

uint32_t FileStream::checksum() const { return state_->checksum; }

void FileStream::read(char* to, size_t count) {
  State& s = *state_;
  while (count > 0) {
    size_t taken = std::min(count, s.end - s.begin);
    if (taken > 0) {
      std::memcpy(to, s.buffer + s.begin, taken);
      s.begin += taken;
    } else if (count >= sizeof s.buffer) {
      taken = s.receive(to, count);
    } else {
      s.begin = 0;
      s.end = s.receive(s.buffer, std::min(left_, sizeof s.buffer));
    }
    to += taken, count -= taken, left_ -= taken;
  }
}

FileBytes read_file(const std::string& path) {
  std::unique_ptr<FileBytes> bytes;
  read_file(path, [&](size_t size) {
    bytes = std::make_unique<FileBytes>(size);
    return bytes->data();
  });
  return std::move(*bytes);
}

void begin_writing(int descriptor, off_t begin, off_t count) {
  sync_file_range(descriptor, begin, count, SYNC_FILE_RANGE_WRITE);
}

std::string unfinished_name() {
  unsigned char bytes[8];
  require<DeviceError>(getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "the system returned no random numbers");
  std::string name = kBeside;
  for (unsigned char byte : bytes) {
    for (int digit : {byte >> 4, byte & 15}) name += "0123456789abcdef"[digit];
  }
  return name + kUnfinished;
}

void write_files(const std::vector<NewFile>& files) {
  std::set<std::string> folders;
  for (const NewFile& file : files) folders.insert(folder_of(file.path));
  for (const std::string& folder : folders) remove_unfinished(folder);
  std::deque<Unfinished> unfinished;
  for (const NewFile& file : files) unfinished.emplace_back(file);
  for (Unfinished& file : unfinished) file.take_name();
  for (const std::string& folder : folders) {
    Descriptor opened = open_file(folder, O_RDONLY | O_DIRECTORY);
    if (opened < 0 || fsync(opened) != 0) refuse("write", folder, errno);
  }
}

void write_file(const std::string& path, std::string_view bytes) { write_files({{path, Pieces{bytes}}}); }

void remove_unfinished(const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> names(opendir(folder.c_str()), closedir);
  if (!names) return;  // the write that follows reports the error
  while (const dirent* entry = readdir(names.get())) {
    if (!is_unfinished(entry->d_name)) continue;
    std::string path = folder + "/" + entry->d_name;
    Descriptor left = open_file(path, O_RDONLY | O_NOFOLLOW);
    struct stat info{};
    bool ours = left >= 0 && fstat(left, &info) == 0 && S_ISREG(info.st_mode);
    if (ours && flock(left, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

}  // namespace paddle_mini
