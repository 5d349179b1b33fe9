/* train.c: linear regression whose weights and table of items are each kept by an optimizer of the library.
 *
 *   target = weights . x + item . (the first numbers of x) + noise
 *
 * ./train [FILE]   FILE: an OptimizerConfig for the weights, in place of dense_config() */
#include <paddle_optimizer.h>

#include "optimizer_config.h"

enum { FEATURES = 16, ITEMS = 1000, WIDTH = 4, BATCH = 32, STEPS = 600 };

typedef struct {
  paddle_optimizer* dense; /* FEATURES weights */
  paddle_optimizer* table; /* ITEMS rows of WIDTH numbers */
} model;

typedef struct {
  float x[BATCH][FEATURES];
  int64_t item[BATCH];
  float target[BATCH];
} batch;

static void check(int done, const char* what) {
  if (done) return;
  fprintf(stderr, "%s: %s\n", what, paddle_optimizer_last_error());
  exit(1);
}

/* Momentum 0.9, learning rate 0.02, and an exponential average of the weights. */
static config_message dense_config(void) {
  config_message sgd = {.size = 0}, rate = {.size = 0}, average = {.size = 0}, config = {.size = 0};
  put_double(&sgd, 21, 0.9);             /* momentum */
  put_double(&rate, 1, 0.02);            /* learning_rate */
  put_whole(&average, 1, 4);             /* scheme: exponential */
  put_double(&average, 5, 0.99);         /* decay */
  put_whole(&config, 1, 1);              /* optimizer: SGD */
  put_message(&config, 3, &sgd);
  put_message(&config, 12, &rate);       /* const_lr */
  put_message(&config, 108, &average);   /* averaging */
  return config;
}

/* Adagrad, for rows of which some come often and some seldom. */
static config_message table_config(void) {
  config_message rate = {.size = 0}, config = {.size = 0};
  put_double(&rate, 1, 0.3);             /* learning_rate */
  put_whole(&config, 1, 3);              /* optimizer: Adagrad */
  put_message(&config, 12, &rate);       /* const_lr */
  put_whole(&config, 107, WIDTH);        /* row_width */
  return config;
}

static config_message read_config(const char* path) {
  config_message config = {.size = 0};
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  for (int byte = getc(file); byte != EOF; byte = getc(file)) put_byte(&config, (unsigned char)byte);
  fclose(file);
  return config;
}

/* From -1 to 1, and the same for the same seed and index (Steele, Lea & Flood 2014). */
static float random_number(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x100000001b3 + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (float)((double)((z ^ z >> 31) >> 11) / 4503599627370496.0 - 1.0);
}

static batch make_batch(uint64_t step) {
  batch made;
  for (int i = 0; i < BATCH; ++i) {
    uint64_t seed = 1000 + step * BATCH + (uint64_t)i;
    made.item[i] = (int64_t)((random_number(seed, FEATURES) + 1) / 2 * (ITEMS - 1));
    made.target[i] = 0.1f * random_number(seed, FEATURES + 1);
    for (int k = 0; k < FEATURES; ++k) {
      float x = made.x[i][k] = random_number(seed, (uint64_t)k);
      made.target[i] += random_number(1, (uint64_t)k) * x;
      if (k < WIDTH) made.target[i] += random_number(2, (uint64_t)(made.item[i] * WIDTH + k)) * x;
    }
  }
  return made;
}

/* The mean of the squared errors; error: of each sample. */
static double loss_of(const batch* data, const float* weights, float items[BATCH][WIDTH], float error[BATCH]) {
  double sum = 0;
  for (int i = 0; i < BATCH; ++i) {
    error[i] = -data->target[i];
    for (int k = 0; k < FEATURES; ++k) error[i] += weights[k] * data->x[i][k];
    for (int k = 0; k < WIDTH; ++k) error[i] += items[i][k] * data->x[i][k];
    sum += (double)error[i] * error[i];
  }
  return sum / BATCH;
}

static void read_items(const model* m, const batch* data, float items[BATCH][WIDTH]) {
  check(paddle_optimizer_get_rows(m->table, PADDLE_ELEMENT_TYPE_FLOAT32, data->item, BATCH, items,
                                  sizeof(float[BATCH][WIDTH])) == PADDLE_OPTIMIZER_OK,
        "get_rows");
}

static double train_step(const model* m, uint64_t step) {
  batch data = make_batch(step);
  float items[BATCH][WIDTH], error[BATCH], dense[FEATURES] = {0}, rows[BATCH][WIDTH];
  const float* weights = paddle_optimizer_param(m->dense, NULL);
  check(weights != NULL, "param");
  read_items(m, &data, items);
  double loss = loss_of(&data, weights, items, error);
  for (int i = 0; i < BATCH; ++i) {
    float slope = 2 * error[i] / BATCH;
    for (int k = 0; k < FEATURES; ++k) dense[k] += slope * data.x[i][k];
    for (int k = 0; k < WIDTH; ++k) rows[i][k] = slope * data.x[i][k];
  }
  check(paddle_update_parameter(m->dense, PADDLE_ELEMENT_TYPE_FLOAT32, dense, sizeof dense) == PADDLE_OPTIMIZER_OK,
        "update_parameter");
  check(paddle_update_parameter_rows(m->table, PADDLE_ELEMENT_TYPE_FLOAT32, data.item, BATCH, rows, sizeof rows) ==
            PADDLE_OPTIMIZER_OK,
        "update_parameter_rows");
  return loss;
}

static double train(const model* m, uint64_t from, uint64_t to) {
  double loss = 0;
  for (uint64_t step = from; step < to; ++step) {
    loss = train_step(m, step);
    if (step % 100 == 0) printf("step %3d  loss %.4f\n", (int)step, loss);
  }
  return loss;
}

/* With a state, what was saved; the values given here are a beginning. */
static paddle_optimizer* create(const config_message* config, size_t count, const void* state, size_t state_size) {
  float* zeros = calloc(count, sizeof(float));
  paddle_optimizer* made = paddle_create_optimizer(config->bytes, config->size, PADDLE_ELEMENT_TYPE_FLOAT32, zeros,
                                                   count * sizeof(float), state, state_size);
  free(zeros);
  check(made != NULL, "create_optimizer");
  return made;
}

/* A second object that goes on from the first one's state. In a program these bytes would be a checkpoint's. */
static paddle_optimizer* copy_of(paddle_optimizer* original, const config_message* config, size_t count) {
  const void* state;
  size_t size;
  check(paddle_optimizer_get_state(original, &state, &size) == PADDLE_OPTIMIZER_OK, "get_state");
  paddle_optimizer* copy = create(config, count, state, size);
  paddle_optimizer_free_state(state);
  return copy;
}

static int same_state(const paddle_optimizer* a, const paddle_optimizer* b) {
  const void *left, *right;
  size_t left_size, right_size;
  check(paddle_optimizer_get_state(a, &left, &left_size) == PADDLE_OPTIMIZER_OK, "get_state");
  check(paddle_optimizer_get_state(b, &right, &right_size) == PADDLE_OPTIMIZER_OK, "get_state");
  int same = left_size == right_size && memcmp(left, right, left_size) == 0;
  paddle_optimizer_free_state(left);
  paddle_optimizer_free_state(right);
  return same;
}

/* How far the weights are from those that made the data. */
static double distance(const float* weights) {
  double sum = 0;
  for (int k = 0; k < FEATURES; ++k) {
    double difference = weights[k] - random_number(1, (uint64_t)k);
    sum += difference * difference;
  }
  return sum;
}

int main(int argc, char** argv) {
  config_message dense = argc > 1 ? read_config(argv[1]) : dense_config(), table = table_config();
  model first = {create(&dense, FEATURES, NULL, 0), create(&table, ITEMS * WIDTH, NULL, 0)};
  train(&first, 0, STEPS / 2);
  model second = {copy_of(first.dense, &dense, FEATURES), copy_of(first.table, &table, ITEMS * WIDTH)};
  printf("the state is saved, and a second model made of it\n");
  double loss = train(&first, STEPS / 2, STEPS);
  train(&second, STEPS / 2, STEPS);
  int same = same_state(first.dense, second.dense) && same_state(first.table, second.table);
  printf("step %d  loss %.4f\nboth models have %s bits\n", STEPS, loss, same ? "the same" : "DIFFERENT");

  float average[FEATURES];
  if (paddle_optimizer_average(first.dense, 0, PADDLE_ELEMENT_TYPE_FLOAT32, average, sizeof average) ==
      PADDLE_OPTIMIZER_OK) {
    const float* last = paddle_optimizer_param(first.dense, NULL);
    printf("squared distance to the true weights: last %.6f, averaged %.6f\n", distance(last), distance(average));
  }
  paddle_release_optimizer(first.dense);
  paddle_release_optimizer(first.table);
  paddle_release_optimizer(second.dense);
  paddle_release_optimizer(second.table);
  return same ? 0 : 1;
}
