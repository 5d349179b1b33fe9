// Counts the usable CPUs and keeps the number of threads.
#include "core/cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "core/control_groups.h"
#include "core/error.h"
#include "core/thread_pool.h"

namespace paddle_mini {
namespace {

std::atomic<int> chosen{0};  // by set_num_threads(); 0: not called

// A mask of a fixed size is too small for machines with more than 1024 CPUs: the call then fails with EINVAL.
int cpus_of_affinity() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpus));
    size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    bool known = set && sched_getaffinity(0, size, set) == 0;
    int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

// v2: "QUOTA PERIOD" or "max PERIOD" in one file. v1: two files, with quota -1 for "no limit".
double quota_in(const std::string& directory, bool is_v2) {
  double quota = 0, period = 0;
  if (is_v2) {
    std::ifstream(directory + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(directory + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

int threads_of_environment() {
  const char* value = std::getenv("PM_NUM_THREADS");
  if (!value || !*value) return 0;
  char* end = nullptr;
  long threads = std::strtol(value, &end, 10);
  require<ProgramError>(*end == 0 && threads >= 1 && threads <= ThreadPool::kMostThreads, "PM_NUM_THREADS is '",
                        printable(value, 40), "', it must be an integer from 1 to ", ThreadPool::kMostThreads);
  return static_cast<int>(threads);
}

}  // namespace

double container_cpu_quota(const std::string& root) {
  double least = 0;
  each_control_group(root, "cpu", [&](const std::string& directory, bool is_v2) {
    double quota = quota_in(directory, is_v2);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  });
  return least;
}

int UsableCpus::count() const { return quota > 0 && quota < affinity ? static_cast<int>(std::ceil(quota)) : affinity; }

UsableCpus usable_cpus() { return {cpus_of_affinity(), container_cpu_quota("")}; }

int num_threads() {
  if (int threads = chosen.load(std::memory_order_relaxed)) return threads;
  // Not a static that is initialized once: a forked child would wait for the thread that does so, and which it does not have.
  static std::atomic<int> found{0};
  int threads = found.load(std::memory_order_relaxed);
  if (threads == 0) {
    int given = threads_of_environment();
    threads = given ? given : std::min(usable_cpus().count(), ThreadPool::kMostThreads);
    found.store(threads, std::memory_order_relaxed);
  }
  return threads;
}

void set_num_threads(int threads) {
  require_threads(threads);
  chosen = threads;
}

std::string num_threads_reason() {
  if (chosen.load()) return "set_num_threads";
  if (threads_of_environment()) return "PM_NUM_THREADS";
  UsableCpus cpus = usable_cpus();
  return cpus.count() < cpus.affinity ? "CPU quota of the container" : "CPUs of this process";
}

void require_threads(int threads) {
  require<ProgramError>(threads >= 1 && threads <= ThreadPool::kMostThreads, "the number of threads is ", threads,
                        ", it must be from 1 to ", ThreadPool::kMostThreads);
}

}  // namespace paddle_mini
