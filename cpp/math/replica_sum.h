// The sum over replicas, each of which has a device of one kind: ReplicaSum.
#pragma once

#include "core/target.h"

#include PM_LAUNCHERS(replica_sum)
