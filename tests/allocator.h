/* allocator.h: the allocator of a program in which memory runs out; one source file of the program includes it. */
#pragma once

#include <stddef.h>

/* Internal names of these functions in the GNU C library. */
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static long allowed = -1; /* allocations until they fail; below 0: all succeed */
static int once;          /* whether only one fails */
static int (*asked)(void); /* unless NULL, says whether an allocation fails */

static int fails(void) {
  if (asked) return asked();
  if (allowed < 0) return 0;
  if (allowed > 0) {
    --allowed;
    return 0;
  }
  if (once) allowed = -1;
  return 1;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) { return fails() ? NULL : __libc_realloc(memory, size); }
void* aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = fails() ? NULL : __libc_memalign(alignment, size);
  return *memory ? 0 : 12;
}
