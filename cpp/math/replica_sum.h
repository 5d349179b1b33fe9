// ReplicaSum: sums tensors over replicas, each of which has a device of the same kind.
#pragma once

#include "core/target.h"

#include PM_LAUNCHERS(replica_sum)
