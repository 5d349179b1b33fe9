// The stack machine of pickled states. See the comments of Lib/pickletools.py in CPython for the operations.
#include "program/pickle.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace paddle_mini {
namespace {

using Kind = PickledValue::Kind;

// Real states take about 40 steps an array; a file of more is made to fill the memory.
constexpr size_t kMostSteps = 4'000'000;
constexpr int kDeepest = 8;
// Values that are referenced a second time are copied when they become arrays, names or values of Python. States refer to
// short texts, and to arrays that have two names.
constexpr size_t kFewBytes = 1 << 20, kMostForEachByte = 16;

// The memory that a copy takes.
size_t copied_bytes(const PickledValue& value) {
  size_t size = value.view.size() + value.array.elements.size();
  for (const Pickled& item : value.items) size += sizeof(Pickled) + item->view.size() + item->array.elements.size();
  return size;
}

constexpr std::string_view kGlobals[] = {"collections.OrderedDict",
                                         "_codecs.encode",
                                         "numpy.dtype",
                                         "numpy.ndarray",
                                         "builtins.tuple",
                                         "builtins.bytes",
                                         "numpy.core.multiarray._reconstruct",
                                         "numpy.core.multiarray.scalar"};

[[noreturn]] void damaged(const char* what) { fail<ProgramError>("it is cut off, damaged or not pickled: ", what); }

Pickled value_of(Kind kind) { return std::make_shared<PickledValue>(kind); }
bool is_container(Kind kind) { return kind == Kind::List || kind == Kind::Tuple || kind == Kind::Dict; }

class Machine {
 public:
  explicit Machine(std::string_view file) : bytes_(file) {}

  Pickled read() {
    bool checked = pickle_is_checked(bytes_);
    if (checked) at_ = pickled::kFrontBytes;
    require<ProgramError>(bytes_.substr(0, 4) != "PK\x03\x04",
                          "it is an archive, such as torch.save writes: save the arrays as safetensors or .npz");
    require<ProgramError>(checked || bytes_.empty() || bytes_[0] == '\x80', "it is not pickled with protocol 2 to 5");
    for (size_t steps = 0; !ended_; ++steps) {
      require<ProgramError>(steps < kMostSteps, "it takes more than ", kMostSteps,
                            " steps to read, which no state does");
      step(number<uint8_t>());
    }
    require<ProgramError>(at_ == bytes_.size(), bytes_.size() - at_, " bytes follow its end");
    require<ProgramError>(stack_.size() == 1 && stack_[0]->kind == Kind::Dict, "it holds no dict");
    for (size_t i = 0; i < stack_[0]->items.size(); i += 2)
      require<ProgramError>(stack_[0]->items[i]->kind == Kind::Text, "a key of its dict is not a string");
    return stack_[0];
  }

 private:
  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) damaged("bytes are missing at its end");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view line() {
    size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) damaged("a line does not end");
    std::string_view found = take(end - at_);
    ++at_;
    return found;
  }

  void push(Pickled value) { stack_.push_back(std::move(value)); }
  void push_view(Kind kind, std::string_view view, bool latin1 = false) {
    push(value_of(kind));
    stack_.back()->view = view;
    stack_.back()->latin1 = latin1;
  }
  void push_number(Kind kind, int64_t value) {
    push(value_of(kind));
    stack_.back()->integer = value;
  }
  void push_long() {
    std::string_view digits = take(number<uint8_t>());  // little-endian, two's complement
    bool negative = !digits.empty() && (digits.back() & 0x80);
    uint64_t value = negative ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i-- > 0;) {
      bool fits = i < 8 || digits[i] == (negative ? '\xff' : '\0');
      require<ProgramError>(fits, "it holds an integer of more than 64 bits");
      if (i < 8)
        value = (value & ~(uint64_t{0xff} << 8 * i)) | uint64_t{static_cast<unsigned char>(digits[i])} << 8 * i;
    }
    bool whole = (static_cast<int64_t>(value) < 0) == negative;
    require<ProgramError>(whole, "it holds an integer of more than 64 bits");
    push_number(Kind::Integer, static_cast<int64_t>(value));
  }
  void push_real() {
    uint64_t bits = __builtin_bswap64(number<uint64_t>());
    push(value_of(Kind::Real));
    std::memcpy(&stack_.back()->real, &bits, sizeof bits);
  }
  void push_container(Kind kind) {
    push(value_of(kind));
    stack_.back()->depth = 1;
  }

  Pickled& top() {
    if (stack_.empty()) damaged("values are missing");
    return stack_.back();
  }
  std::vector<Pickled> pop(size_t count) {
    auto first = stack_.end() - static_cast<std::ptrdiff_t>(std::min(count, stack_.size()));
    std::vector<Pickled> items(first, stack_.end());
    for (const Pickled& item : items)
      if (item->kind == Kind::Mark) damaged("values are missing");
    if (items.size() != count) damaged("values are missing");
    stack_.erase(first, stack_.end());
    return items;
  }
  std::vector<Pickled> pop_to_mark() {
    size_t first = stack_.size();
    while (first > 0 && stack_[first - 1]->kind != Kind::Mark) --first;
    if (first == 0) damaged("a mark is missing");
    std::vector<Pickled> items(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first - 1);
    return items;
  }

  // Values that may be referenced twice: a container could otherwise contain itself or grow without limit.
  const Pickled& remembered(uint32_t number) {
    auto found = memo_.find(number);
    if (found == memo_.end()) damaged("it refers to a value that it did not keep");
    const PickledValue& value = *found->second;
    bool flat = value.kind == Kind::Tuple && value.depth == 1;
    require<ProgramError>(flat || !is_container(value.kind),
                          "it refers to a container a second time, which states don't");
    referenced_ += copied_bytes(value);
    require<ProgramError>(referenced_ / kMostForEachByte <= bytes_.size() + kFewBytes,
                          "it refers to its values so often that they would fill the memory");
    return found->second;
  }

  void push_global(std::string_view module, std::string_view name) {
    std::string full = text(std::string(module), ".", std::string(name));
    for (auto [other, usual] : {std::pair{"numpy._core.", "numpy.core."}, {"__builtin__.", "builtins."}})
      if (full.rfind(other, 0) == 0) full.replace(0, std::strlen(other), usual);
    auto known = std::find(std::begin(kGlobals), std::end(kGlobals), full);
    require<ProgramError>(known != std::end(kGlobals), "it names '", printable(full),
                          "': arrays, numbers, strings, lists and dicts are read, and nothing is run");
    push_view(Kind::Name, *known);
  }
  void push_stack_global() {
    std::vector<Pickled> names = pop(2);
    for (const Pickled& name : names)
      if (name->kind != Kind::Text) damaged("a name is not a text");
    push_global(names[0]->view, names[1]->view);
  }

  void insert(PickledValue& container, std::vector<Pickled> items) {
    for (Pickled& item : items) {
      container.depth = std::max(container.depth, item->depth + 1);
      require<ProgramError>(container.depth <= kDeepest, "its containers are nested more than ", kDeepest, " deep");
      container.items.push_back(std::move(item));
    }
  }
  void push_tuple(std::vector<Pickled> items) {
    push_container(Kind::Tuple);
    insert(*stack_.back(), std::move(items));
  }
  static void require_plain(const PickledValue& value) {
    bool plain = value.kind < Kind::Mark;
    require<ProgramError>(plain,
                          "it holds something that is neither an array nor a number, a string, a list or a dict");
    if (value.kind != Kind::Tuple) return;
    for (const Pickled& item : value.items) require_plain(*item);
  }
  void append(std::vector<Pickled> items) {
    if (top()->kind != Kind::List) damaged("items are given to what is not a list");
    for (const Pickled& item : items) require_plain(*item);
    insert(*top(), std::move(items));
  }
  void set_items(std::vector<Pickled> items) {
    if (top()->kind != Kind::Dict) damaged("items are given to what is not a dict");
    if (items.size() % 2) damaged("a key has no value");
    for (size_t i = 0; i < items.size(); i += 2) {
      const PickledValue& key = *items[i];
      require<ProgramError>(key.kind == Kind::Text || key.kind == Kind::Integer,
                            "a key of a dict is neither a string nor an integer");
      std::string name = key.kind == Kind::Text ? utf8_of(key) : std::to_string(key.integer);
      bool added = top()->keys.insert((key.kind == Kind::Text ? "'" : "") + name).second;
      require<ProgramError>(added, "the key '", printable(name), "' is there twice");
      require_plain(*items[i + 1]);
    }
    insert(*top(), std::move(items));
  }

  void step(uint8_t operation);
  bool push_constant(uint8_t operation);
  bool use_memo(uint8_t operation);
  bool combine(uint8_t operation);

  std::string_view bytes_;
  size_t at_ = 0, referenced_ = 0;
  bool ended_ = false;
  std::vector<Pickled> stack_;
  std::unordered_map<uint32_t, Pickled> memo_;
};

void Machine::step(uint8_t operation) {
  if (push_constant(operation) || use_memo(operation) || combine(operation)) return;
  if (operation == '.') {
    ended_ = true;
  } else if (operation == 0x80) {
    bool first = at_ == 1;
    auto protocol = number<uint8_t>();
    require<ProgramError>(first && protocol >= 2 && protocol <= 5, "it is not pickled with protocol 2 to 5");
  } else if (operation == 0x95) {
    auto size = number<uint64_t>();
    require<ProgramError>(size <= bytes_.size() - at_, "it is truncated: a frame has ", size, " bytes, ",
                          bytes_.size() - at_, " are left");
  } else {
    fail<ProgramError>("it holds the operation with the code ", static_cast<int>(operation),
                       ", which states of arrays don't need");
  }
}

bool Machine::push_constant(uint8_t operation) {
  switch (operation) {
    case 'N': push(value_of(Kind::None)); return true;
    case 0x88: push_number(Kind::Bool, 1); return true;
    case 0x89: push_number(Kind::Bool, 0); return true;
    case 'J': push_number(Kind::Integer, number<int32_t>()); return true;
    case 'K': push_number(Kind::Integer, number<uint8_t>()); return true;
    case 'M': push_number(Kind::Integer, number<uint16_t>()); return true;
    case 0x8a: push_long(); return true;
    case 'G': push_real(); return true;
    case 'X': push_view(Kind::Text, take(number<uint32_t>())); return true;
    case 0x8c: push_view(Kind::Text, take(number<uint8_t>())); return true;
    case 0x8d: push_view(Kind::Text, take(number<uint64_t>())); return true;
    case 'B': push_view(Kind::Bytes, take(number<uint32_t>())); return true;
    case 'C': push_view(Kind::Bytes, take(number<uint8_t>())); return true;
    case 0x8e: push_view(Kind::Bytes, take(number<uint64_t>())); return true;
    case 'T': push_view(Kind::Text, take(number<uint32_t>()), true); return true;
    case 'U': push_view(Kind::Text, take(number<uint8_t>()), true); return true;
    case '}': push_container(Kind::Dict); return true;
    case ']': push_container(Kind::List); return true;
    case ')': push_container(Kind::Tuple); return true;
    case '(': push(value_of(Kind::Mark)); return true;
    case 'c': {
      std::string_view module = line();
      push_global(module, line());
      return true;
    }
    default: return false;
  }
}

bool Machine::use_memo(uint8_t operation) {
  switch (operation) {
    case 0x94: memo_[static_cast<uint32_t>(memo_.size())] = top(); return true;
    case 'q': memo_[number<uint8_t>()] = top(); return true;
    case 'r': memo_[number<uint32_t>()] = top(); return true;
    case 'h': push(remembered(number<uint8_t>())); return true;
    case 'j': push(remembered(number<uint32_t>())); return true;
    default: return false;
  }
}

bool Machine::combine(uint8_t operation) {
  switch (operation) {
    case 0x85:
    case 0x86:
    case 0x87: push_tuple(pop(operation - 0x84u)); return true;
    case 't': push_tuple(pop_to_mark()); return true;
    case 'l': {
      std::vector<Pickled> items = pop_to_mark();
      push_container(Kind::List);
      append(std::move(items));
      return true;
    }
    case 'a': append(pop(1)); return true;
    case 'e': append(pop_to_mark()); return true;
    case 's': set_items(pop(2)); return true;
    case 'u': set_items(pop_to_mark()); return true;
    case '0': pop(1); return true;
    case 0x93: push_stack_global(); return true;
    case 'R': {
      std::vector<Pickled> call = pop(2);
      push(pickled::made(call[0], call[1]));
      return true;
    }
    case 'b': {
      std::vector<Pickled> state = pop(1);
      pickled::finish(*top(), state[0]);
      return true;
    }
    default: return false;
  }
}

}  // namespace

Pickled read_pickle(std::string_view file) { return Machine(file).read(); }

}  // namespace paddle_mini
