// Convolution<T>: convolves images [images, channels, height, width] with filters; includes both gradients.
#pragma once

#include "core/target.h"

#include PM_LAUNCHERS(convolution)
