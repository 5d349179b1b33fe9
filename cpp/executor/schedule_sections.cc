// Finding and recording sections.
#include "executor/schedule_sections.h"

#include <cstdlib>
#include <cstring>

namespace paddle_mini {

ScheduleSections::ScheduleSections(const std::vector<ScheduledStep>& steps, const std::vector<ScheduleLane>& lanes,
                                   const std::vector<bool>& marked, size_t gate)
    : steps_(steps), lanes_(lanes), sections_(steps.size()) {
  const char* wanted = std::getenv("PM_GRAPHS");
  if (wanted && std::strcmp(wanted, "0") == 0) return;
  auto goes_on = [&](size_t i) {
    return i < steps.size() && steps[i].lane == steps[i - 1].lane && steps[i].waits.empty() && !marked[i - 1] &&
           i != gate;
  };
  for (size_t begin = 0, end; begin < steps.size(); begin = end) {
    end = begin + 1;
    while (goes_on(end)) ++end;
    if (lanes[steps[begin].lane].device) add(begin, end);
  }
}

void ScheduleSections::add(size_t begin, size_t end) {
  if (end - begin < 2) return;
  sections_[begin] = std::make_unique<Section>();
  sections_[begin]->sections = this;
  sections_[begin]->begin = begin;
  sections_[begin]->end = end;
}

void ScheduleSections::Section::run() {
  for (at = begin; at < end; ++at) {
    const ScheduledStep& step = sections->steps_[at];
    KernelContext& context = *sections->lanes_[step.lane].context;
    context.step = at;
    step.kernel->run(context);
  }
}

const ScheduleSections::Section* ScheduleSections::recorded(size_t step) {
  constexpr int kRunsBefore = 2;  // by then every kernel has allocated what it needs
  if (sections_[step] && sections_[step]->runs++ == kRunsBefore) record(*sections_[step]);
  Section* section = sections_[step].get();
  return section && section->recording ? section : nullptr;
}

// If a step can't be recorded, it is excluded, and the parts before and after it become sections of their own.
void ScheduleSections::record(Section& section) {
  section.at = section.end;
  section.recording = lanes_[steps_[section.begin].lane].device->record(section);
  if (section.recording) return;
  size_t begin = section.begin, at = section.at, end = section.end;
  sections_[begin].reset();
  if (at == end) return;  // no step threw: the device does not support recording
  add(begin, at);
  add(at + 1, end);
}

void ScheduleSections::forget_recordings() {
  for (auto& section : sections_) {
    if (!section) continue;
    section->recording.reset();
    section->runs = 0;
  }
}

}  // namespace paddle_mini
