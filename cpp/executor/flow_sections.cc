// Finding and recording sections.
#include "executor/flow_sections.h"

#include <cstdlib>
#include <cstring>

namespace paddle_mini {

FlowSections::FlowSections(const std::vector<FlowStep>& steps, const std::vector<FlowLane>& lanes,
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
    if (lanes[steps[begin].lane].accelerator) add(begin, end);
  }
}

void FlowSections::add(size_t begin, size_t end) {
  if (end - begin < 2) return;
  sections_[begin] = std::make_unique<Section>();
  sections_[begin]->sections = this;
  sections_[begin]->begin = begin;
  sections_[begin]->end = end;
}

void FlowSections::Section::run() {
  for (at = begin; at < end; ++at) {
    const FlowStep& step = sections->steps_[at];
    Device& device = *sections->lanes_[step.lane].device;
    device.step = at;
    step.kernel->run(device);
  }
}

const FlowSections::Section* FlowSections::recorded(size_t step) {
  constexpr int kRunsBefore = 2;  // by then every kernel has allocated what it needs
  if (sections_[step] && sections_[step]->runs++ == kRunsBefore) record(*sections_[step]);
  Section* section = sections_[step].get();
  return section && section->recording ? section : nullptr;
}

// If a step can't be recorded, it is excluded, and the parts before and after it become sections of their own.
void FlowSections::record(Section& section) {
  section.at = section.end;
  section.recording = lanes_[steps_[section.begin].lane].accelerator->record(section);
  if (section.recording) return;
  size_t begin = section.begin, at = section.at, end = section.end;
  sections_[begin].reset();
  if (at == end) return;  // no step threw: the device does not support recording
  add(begin, at);
  add(at + 1, end);
}

void FlowSections::forget_recordings() {
  for (auto& section : sections_) {
    if (!section) continue;
    section->recording.reset();
    section->runs = 0;
  }
}

}  // namespace paddle_mini
