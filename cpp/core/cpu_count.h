// The number of threads that operators use, and the CPUs that this process may use.
#pragma once

#include <string>

namespace paddle_mini {

struct UsableCpus {
  int affinity;  // CPUs in the affinity mask of the process
  double quota;  // CPU time per time that its control groups (v2 and v1) allow; 0: unlimited
  int count() const;  // the smaller of both, rounded up
};
UsableCpus usable_cpus();
double container_cpu_quota(const std::string& root);  // reads root/proc and root/sys

// The number of threads of executors that have none of their own: what set_num_threads() was given, else PM_NUM_THREADS,
// else the number of usable CPUs. Reads the environment once; if PM_NUM_THREADS is invalid, it throws ProgramError.
int num_threads();
void set_num_threads(int threads);  // throws ProgramError unless 1 <= threads <= ThreadPool::kMostThreads
std::string num_threads_reason();  // "set_num_threads", "PM_NUM_THREADS", or the limits of this process
void require_threads(int threads);  // throws ProgramError unless that many threads are allowed

}  // namespace paddle_mini
