/* calls.h: what the tests of the C interface in C share: a model in files that the tests have written. */
#ifndef CALLS_H_
#define CALLS_H_

#include <paddle_mini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reports the place and continues: one run shows all failures. */
#define EXPECT(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))
#define DONE(call) EXPECT((call) == PM_OK)

enum { INPUTS = 6, ROWS = 2 };

void failed(const char* file, int line, const char* what);
extern int failures;

static inline pm_tensor rows_of(const float* values, int rows) {
  pm_tensor made = {0};
  made.data = values;
  made.bytes = (size_t)rows * INPUTS * sizeof(float);
  made.dtype = PM_FLOAT32;
  made.rank = 2;
  made.shape[0] = rows;
  made.shape[1] = INPUTS;
  return made;
}

#endif
