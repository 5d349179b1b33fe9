// Cliques of processes by NCCL. Communicators are not blocking: a member that has died, or never comes, must not stop the
// others, so each waits by asking again and again, and gives up after a time.
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "core/interruption.h"
#include "cuda/check.h"
#include "cuda/nccl.h"
#include "cuda/nccl_library.h"

namespace paddle_mini {
namespace {

// How long one wait may take. Asks without a pause at first, because most sums take less than a thread needs to wake up.
class Patience {
 public:
  Patience(double seconds, bool (*stop)()) : seconds_(seconds), stop_(stop) {}

  void wait(const char* what) {
    auto waited = std::chrono::steady_clock::now() - begin_;
    if (stop_()) fail<Interrupted>("interrupted (", what, ")");
    require<DeviceError>(waited < std::chrono::duration<double>(seconds_), "NCCL failed (", what,
                         "): another process has not taken part for ", seconds_, " s");
    if (waited < std::chrono::milliseconds(2)) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const double seconds_;
  InterruptPoller stop_;
};

class NcclClique : public Clique {
 public:
  NcclClique(int device, const std::string& id, int rank, int size, double seconds, bool (*stop)()) : device_(device) {
    NcclId name;
    require<DeviceError>(id.size() == sizeof name.bytes, "the name of a clique has ", id.size(),
                         " bytes, it must have ", sizeof name.bytes);
    std::memcpy(name.bytes, id.data(), id.size());
    SameDevice same;
    check(cudaSetDevice(device_), "choosing a device");
    stream_ = new_stream();
    try {
      NcclConfig config;
      int status = nccl().init_rank(&member_, size, name, rank, &config);
      Patience patience(seconds, stop);
      finish(status, patience, "connecting processes");
    } catch (...) {
      give_up();
      cudaStreamDestroy(stream_);
      throw;
    }
  }

  ~NcclClique() override {
    SameDevice same;
    cudaSetDevice(device_);
    give_up();
    cudaStreamDestroy(stream_);
  }

  void add_up(const std::vector<Sum>& sums, double seconds, bool (*stop)()) override {
    std::lock_guard<std::mutex> lock(mutex_);
    require<DeviceError>(member_, "this process has left its clique, after a sum that failed");
    SameDevice same;
    try {
      check(cudaSetDevice(device_), "choosing a device");
      Patience patience(seconds, stop);
      finish(launch(sums), patience, "adding up");
      while (is_running()) {
        finish(kNcclSuccess, patience, "adding up");
        patience.wait("adding up");
      }
      finish(kNcclSuccess, patience, "adding up");  // a kernel that was stopped has ended, too
    } catch (...) {
      give_up();
      throw;
    }
  }

 private:
  // One group, which NCCL launches together. It ends even if one of its sums failed.
  int launch(const std::vector<Sum>& sums) {
    check_nccl(nccl().group_start(), "beginning sums");
    int status = kNcclSuccess;
    for (const Sum& sum : sums) {
      if (sum.count == 0) continue;
      status = nccl().all_reduce(sum.from, sum.to, static_cast<size_t>(sum.count), nccl_type(sum.dtype), kNcclSum,
                                 member_, stream_);
      if (status != kNcclSuccess && status != kNcclInProgress) break;
    }
    int ended = nccl().group_end();
    return status == kNcclSuccess || status == kNcclInProgress ? ended : status;
  }

  // Returns when the call with this status has done what it began.
  void finish(int status, Patience& patience, const char* what) {
    if (status != kNcclInProgress) check_nccl(status, what);
    int state = kNcclSuccess;
    while (check_nccl(nccl().async_error(member_, &state), what), state == kNcclInProgress) patience.wait(what);
    check_nccl(state, what);
  }

  bool is_running() {
    cudaError_t state = cudaStreamQuery(stream_);
    if (state == cudaErrorNotReady) cudaGetLastError();  // clears the error: "not ready" is not a failure
    else check(state, "adding up");
    return state == cudaErrorNotReady;
  }

  // Then no kernel writes to the memory of a sum any more.
  void give_up() {
    if (!member_) return;
    nccl().comm_abort(member_);
    member_ = nullptr;
    cudaStreamSynchronize(stream_);
    cudaGetLastError();  // the error that is known matters more
  }

  const int device_;
  cudaStream_t stream_ = nullptr;
  std::mutex mutex_;
  NcclMember member_ = nullptr;
};

class NcclCliques : public Cliques {
 public:
  std::string version() override {
    int version = 0;
    check_nccl(nccl().get_version(&version), "reading its version");
    return text(version / 10000, ".", version / 100 % 100, ".", version % 100);
  }

  std::string gpu(int device) override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "reading its properties");
    std::string digits;
    for (char byte : properties.uuid.bytes) {
      for (int shift : {4, 0}) digits += "0123456789abcdef"[static_cast<unsigned char>(byte) >> shift & 15];
    }
    return digits;
  }

  std::string new_id() override {
    NcclId id;
    check_nccl(nccl().get_id(&id), "naming a clique");
    return std::string(id.bytes, sizeof id.bytes);
  }

  std::unique_ptr<Clique> join(int device, const std::string& id, int rank, int size, double seconds,
                               bool (*stop)()) override {
    return std::make_unique<NcclClique>(device, id, rank, size, seconds, stop);
  }
};

}  // namespace

Cliques* cliques_by_nccl() {
  static NcclCliques cliques;
  return nccl().init_rank ? &cliques : nullptr;
}

}  // namespace paddle_mini
