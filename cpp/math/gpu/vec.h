// A GPU has no Vec: a functor runs on plain numbers, one in each thread.
#pragma once

#include "math/number.h"
