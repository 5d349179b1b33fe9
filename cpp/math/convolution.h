// Convolution of images [images, channels, height, width] with filters, and its two gradients: Convolution<T>.
#pragma once

#include "core/target.h"

#include PM_LAUNCHERS(convolution)
