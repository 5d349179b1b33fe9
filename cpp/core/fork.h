// fork() and devices: the child has neither the threads of queues nor the parent's context of a GPU.
#pragma once

namespace paddle_mini {

void note_device_use();  // before the first device is opened

// Whether this process is a child of fork() whose parent had used devices then. Waiting for a queue would never end here.
bool lost_devices();
void require_devices_kept();  // DeviceError where they are lost

}  // namespace paddle_mini
