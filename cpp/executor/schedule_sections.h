// schedule_sections: neighbouring steps of one device that are recorded after some runs, and launched as one from then on.
#pragma once

#include <memory>
#include <vector>

#include "core/device.h"
#include "core/kernel.h"
#include "core/thread_queue.h"

namespace paddle_mini {

struct ScheduledStep {
  Kernel* kernel = nullptr;
  int lane = 0;
  std::vector<int> waits;  // order.h
  bool poll = false;  // check after this step whether the user wants to stop
  bool* begun = nullptr;  // set in each run, also where a recording contains the step
  bool is_short = false;  // runs on the submitting thread if its queue is idle
};

// A queue and the context of its kernels.
struct ScheduleLane {
  Queue* queue = nullptr;
  ThreadQueue* thread = nullptr;  // the same queue, if it carries values to a GPU
  Device* device = nullptr;  // the device of its kernels; nullptr for transfers and the CPU
  KernelContext* context = nullptr;  // the running executor's; nullptr for transfers
};

// Neighbours that do not wait for each other. PM_GRAPHS=0 turns recording off.
class ScheduleSections {
 public:
  // `marked`: steps that others wait for. Everything referred to must outlive it.
  ScheduleSections(const std::vector<ScheduledStep>& steps, const std::vector<ScheduleLane>& lanes,
                   const std::vector<bool>& marked, size_t gate);

  struct Section : Work {
    ScheduleSections* sections = nullptr;
    size_t begin = 0, end = 0;
    size_t at = 0;  // the step that is being recorded
    int runs = 0;
    std::unique_ptr<Work> recording;
    void run() override;
  };
  // The section that begins with this step, once it is recorded; nullptr until then. Counts the run.
  const Section* recorded(size_t step);
  void forget_recordings();

 private:
  void add(size_t begin, size_t end);
  void record(Section& section);

  const std::vector<ScheduledStep>& steps_;
  const std::vector<ScheduleLane>& lanes_;
  std::vector<std::unique_ptr<Section>> sections_;  // indexed by their first step
};

}  // namespace paddle_mini
