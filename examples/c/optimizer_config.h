/* optimizer_config.h: writes an OptimizerConfig (optimizer.proto) where there is no protobuf. */
#ifndef OPTIMIZER_CONFIG_H_
#define OPTIMIZER_CONFIG_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message is one field after the other: number and kind, then the value. Kinds: 0 is a varint (whole numbers, enums,
   bools), 1 eight bytes (double), 2 a length and as many bytes (a message). A varint has seven bits a byte, the lowest
   first, and the top bit of a byte says that another follows. Bytes of a double: the lowest first. */
typedef struct {
  unsigned char bytes[256];
  size_t size;
} config_message;

static inline void put_byte(config_message* message, unsigned char byte) {
  if (message->size == sizeof message->bytes) {
    fprintf(stderr, "a configuration needs more than %zu bytes\n", sizeof message->bytes);
    exit(1);
  }
  message->bytes[message->size++] = byte;
}

static inline void put_varint(config_message* message, uint64_t value) {
  for (; value >= 128; value >>= 7) put_byte(message, (unsigned char)(value | 128));
  put_byte(message, (unsigned char)value);
}

static inline void put_whole(config_message* message, unsigned field, uint64_t value) {
  put_varint(message, (uint64_t)field << 3);
  put_varint(message, value);
}

static inline void put_double(config_message* message, unsigned field, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_varint(message, (uint64_t)field << 3 | 1);
  for (int i = 0; i < 8; ++i) put_byte(message, (unsigned char)(bits >> 8 * i));
}

static inline void put_message(config_message* message, unsigned field, const config_message* inner) {
  put_varint(message, (uint64_t)field << 3 | 2);
  put_varint(message, inner->size);
  for (size_t i = 0; i < inner->size; ++i) put_byte(message, inner->bytes[i]);
}

#endif
