// Normalization of groups of channels, each image by itself: group_norm and instance_norm. GroupNormalize<T>.
#pragma once

#include "math/channel_rows.h"

#include PM_FAMILY(group_normalize)
