"""angle: Out = the angle of a real number in the complex plane."""

import numpy as np

from families.unary import unary_tests

test_angle = unary_tests("angle", lambda x: np.where(x < 0, np.pi, 0), domain=(-3, 3))
