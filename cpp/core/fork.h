// Detects fork() after devices were used: the child has neither the queues' threads nor the parent's GPU context.
#pragma once

namespace paddle_mini {

void note_device_use();  // called before the first device is opened

// Whether this process is a forked child whose parent had used devices. Waiting for a queue would block forever here.
bool lost_devices();
void require_devices_kept();  // throws DeviceError if lost_devices()

}  // namespace paddle_mini
