"""transpose: X with its axes in another order."""

from families.shapes import kinds_tests, transpose_reference, transpose_tests

test_transpose = transpose_tests("transpose")
test_kinds = kinds_tests("transpose", transpose_reference, {"axis": [1, 0, 2]}, ("bool", "int32", "int64"), (7, 4, 3), ())
