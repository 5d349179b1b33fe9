// A GPU has no Vec: functors run on scalars, one element per thread.
#pragma once

#include "math/number.h"
