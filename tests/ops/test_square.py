"""square: Out = X^2."""

from families.unary import NOT_FINITE, integers_of, unary_tests

test_square = unary_tests(
    "square", lambda x: x**2, domain=(-1, 1), special=[0.0, *NOT_FINITE], values_only=integers_of(3, 5), wrong_type=None
)
