/* border.h: what the tests of the C library's border share. */
#ifndef BORDER_H_
#define BORDER_H_

#include <paddle_optimizer.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimizer_config.h"

/* Reports the place and continues: one run shows all failures. */
#define EXPECT(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))
/* The call was refused with this status, and there is a message. */
#define REFUSED_AS(status, call) EXPECT((call) == (status) && paddle_optimizer_last_error()[0] != '\0')
#define REFUSED(call) REFUSED_AS(PADDLE_OPTIMIZER_ERROR, call)
/* For functions that return a pointer. */
#define REFUSED_OBJECT(call) REFUSED((call) ? PADDLE_OPTIMIZER_OK : paddle_optimizer_last_status())
#define DONE(call) EXPECT((call) == PADDLE_OPTIMIZER_OK)

#define F32 PADDLE_ELEMENT_TYPE_FLOAT32
#define F64 PADDLE_ELEMENT_TYPE_FLOAT64

void failed(const char* file, int line, const char* what);
extern int divisor; /* divides the numbers of repetitions: more than 1 if each step is slow */

/* SGD with learning rate 0.5: results are exact. */
config_message sgd_config(void);
/* Adam with something in every kind of field. */
config_message full_config(void);
config_message config_of(unsigned optimizer);

paddle_optimizer* make(const config_message* config, size_t count); /* with float32 ones */
unsigned random_below(unsigned end);                                /* the same numbers in every run */

typedef struct {
  const void* bytes;
  size_t size;
} saved;
saved save(const paddle_optimizer* o);
int same(saved a, saved b); /* frees both */

void arguments(void);
void gradients(void);
void small_parameters(void);
void handles(void);
void configurations(void);
void states(void);
void threads(void);
void forks(void);
void endurance(void);

#endif
