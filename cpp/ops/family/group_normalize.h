// GroupNormalize<T>: normalizes groups of channels of each image separately, for group_norm and instance_norm.
#pragma once

#include "math/channel_rows.h"

#include PM_FAMILY(group_normalize)
