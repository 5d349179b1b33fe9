// Stands for libnccl.so.2: sums in the order of the ranks, when the outermost group ends.
#include <set>
#include <vector>

#include "nccl_processes.h"
#include "stand_in.h"

struct Clique {
  int size;
};
struct ncclComm {
  Clique* clique;
  int rank, device;
  std::unique_ptr<processes::Member> process;  // nullptr: all ranks are in this process
};
struct ncclUniqueId {
  char bytes[128];
};
struct ncclConfig {
  size_t size;
  unsigned magic, version;
  int blocking;
};

namespace {

constexpr int kInvalidArgument = 4, kInvalidUsage = 5;

struct Call {
  const void* from;
  void* to;
  size_t count;
  int type;
  ncclComm* member;
  CUstream_st* stream;
};
thread_local int depth = 0;
thread_local std::vector<Call> waiting;  // the calls of the group

float wide(uint16_t bits, bool brain) {
  if (!brain) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, 2);
    return static_cast<float>(half);
  }
  uint32_t all = uint32_t{bits} << 16;
  float value;
  __builtin_memcpy(&value, &all, 4);
  return value;
}

uint16_t narrow(float value, bool brain) {
  if (!brain) {
    _Float16 half = static_cast<_Float16>(value);
    uint16_t bits;
    __builtin_memcpy(&bits, &half, 2);
    return bits;
  }
  uint32_t all;
  __builtin_memcpy(&all, &value, 4);
  return static_cast<uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16);
}

template <class T>
void add_up(const std::vector<Call>& calls) {
  for (size_t i = 0; i < calls[0].count; ++i) {
    T sum = 0;
    for (const Call& call : calls) sum = static_cast<T>(sum + static_cast<const T*>(call.from)[i]);
    for (const Call& call : calls) static_cast<T*>(call.to)[i] = sum;
  }
}

void add_up_halves(const std::vector<Call>& calls, bool brain) {
  for (size_t i = 0; i < calls[0].count; ++i) {
    float sum = 0;
    for (const Call& call : calls) sum += wide(static_cast<const uint16_t*>(call.from)[i], brain);
    for (const Call& call : calls) static_cast<uint16_t*>(call.to)[i] = narrow(sum, brain);
  }
}

void add_up_by_type(const std::vector<Call>& calls) {
  switch (calls[0].type) {
    case 2: return add_up<uint32_t>(calls);
    case 4: return add_up<uint64_t>(calls);
    case 6: return add_up_halves(calls, false);
    case 7: return add_up<float>(calls);
    case 8: return add_up<double>(calls);
    default: return add_up_halves(calls, true);
  }
}

int add_up_all(const std::vector<Call>& given) {
  std::vector<Call> calls(static_cast<size_t>(given[0].member->clique->size), Call{});  // by rank
  for (const Call& call : given) {
    Call& mine = calls[static_cast<size_t>(call.member->rank)];
    if (mine.member) return stand_in::refuse("one rank twice in a group", kInvalidUsage);
    mine = call;
  }
  for (const Call& call : calls) {
    if (!call.member) return stand_in::refuse("a rank is missing: the others would wait for ever", kInvalidUsage);
    bool same =
        call.member->clique == calls[0].member->clique && call.count == calls[0].count && call.type == calls[0].type;
    if (!same) return stand_in::refuse("ranks differ", kInvalidUsage);
  }
  // Device memory is accessible only while launched work runs.
  calls[0].stream->launch([calls] { add_up_by_type(calls); });
  return 0;
}

void add_up_values(int type, const std::vector<const void*>& values, void* to, size_t count) {
  std::vector<Call> calls;
  for (const void* one : values) calls.push_back({one, to, count, type, nullptr, nullptr});
  add_up_by_type(calls);
}

int add_up_with_others(const std::vector<Call>& calls) {
  std::vector<processes::Part> parts;
  for (const Call& call : calls) {
    if (call.member != calls[0].member) return stand_in::refuse("two communicators in a group", kInvalidUsage);
    size_t bytes = call.type == 6 || call.type == 9 ? 2 : call.type == 2 || call.type == 7 ? 4 : 8;
    parts.push_back({call.from, call.to, call.count, bytes * call.count, call.type});
  }
  return calls[0].member->process->launch(parts, calls[0].stream, &add_up_values);
}

}  // namespace

extern "C" {

int ncclCommInitAll(ncclComm** members, int count, const int* devices) {
  STAND_IN(ncclCommInitAll);
  if (std::set<int>(devices, devices + count).size() != static_cast<size_t>(count))
    return stand_in::refuse("a device twice", kInvalidUsage);
  auto clique = new Clique{count};
  for (int rank = 0; rank < count; ++rank) members[rank] = new ncclComm{clique, rank, devices[rank], nullptr};
  return 0;
}

#ifndef BEFORE_2_14  // which had only communicators that wait for ever
int ncclGetVersion(int* version) {
  *version = 22105;
  return 0;
}

int ncclGetUniqueId(ncclUniqueId* id) {
  STAND_IN(ncclGetUniqueId);
  const char* log = std::getenv("STAND_IN_LOG");
  std::string folder = std::string(log ? log : "/tmp/stand_in") + "_of_clique_XXXXXX";
  if (folder.size() >= sizeof id->bytes || !mkdtemp(folder.data())) return stand_in::refuse("no folder", 2);
  *id = {};
  folder.copy(id->bytes, folder.size());
  return 0;
}

int ncclCommInitRankConfig(ncclComm** member, int size, ncclUniqueId id, int rank, const ncclConfig* config) {
  STAND_IN(ncclCommInitRankConfig);
  if (config->magic != 0xcafebeef || config->version < 21400 || config->size < sizeof *config || config->blocking != 0)
    return stand_in::refuse("a configuration that is not initialised, or blocks", kInvalidArgument);
  if (rank < 0 || rank >= size || !processes::files::is_directory(id.bytes))
    return stand_in::refuse("a rank or a name that does not exist", kInvalidArgument);
  *member = new ncclComm{nullptr, rank, -1, std::make_unique<processes::Member>(id.bytes, rank, size)};
  return processes::kInProgress;
}

int ncclCommGetAsyncError(ncclComm* member, int* state) {
  STAND_IN(ncclCommGetAsyncError);
  *state = member->process->state();
  return 0;
}

#endif

int ncclGroupStart() {
  ++depth;
  return 0;
}

int ncclGroupEnd() {
  if (--depth > 0) return 0;
  std::vector<Call> calls;
  calls.swap(waiting);
  STAND_IN(ncclGroupEnd);
  if (calls.empty()) return 0;
  return calls[0].member->process ? add_up_with_others(calls) : add_up_all(calls);
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, ncclComm* member,
                  CUstream_st* stream) {
  STAND_IN(ncclAllReduce);
  if (depth == 0) return stand_in::refuse("one thread must launch for all ranks in a group", kInvalidUsage);
  if (!from || !to || !stream || operation != 0) return stand_in::refuse("not a sum", kInvalidArgument);
  if (member->process) member->device = stream->device;  // which was the current one
  if (stream->device != member->device) return stand_in::refuse("a stream of another device", kInvalidArgument);
  if (!std::set<int>{2, 4, 6, 7, 8, 9}.count(type))
    return stand_in::refuse("a type that is not used", kInvalidArgument);
  waiting.push_back({from, to, count, type, member, stream});
  return 0;
}

int ncclCommAbort(ncclComm* member) {
  STAND_IN(ncclCommAbort);
  delete member;
  return 0;
}

const char* ncclGetErrorString(int status) {
  return status == 3 ? "an internal error" : status == 6 ? "a remote process has exited" : "an error of the caller";
}

}  // extern "C"
