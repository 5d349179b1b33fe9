/* starving.h: calls without memory. The file that includes it has the allocator, and says what a call may not change. */
#ifndef STARVING_H_
#define STARVING_H_

#include "calls.h"

#include <sys/wait.h>
#include <unistd.h>

static uint64_t digest(void); /* which a failed call may not change */
static uint64_t made; /* the handle that a call has made */

enum { BY_REPETITION = 100 };
static long step, place;
static int is_child, running;

/* For a call whose allocation has failed: a status says so. Where only one fails, the call may do without it. */
static void check_refusal(const char* name, long n, int status, uint64_t before) {
  if (once && status == PM_OK && made) return;
  int right = status == PM_ERROR_RESOURCE && pm_last_error()[0] && !made;
  if (!right) fprintf(stderr, "%s with %ld allocations: status %d\n", name, n, status);
  EXPECT(right);
  if (digest() != before) {
    fprintf(stderr, "%s changed the scope or the file, allocation %ld\n", name, n);
    ++failures;
  }
}

/* `call` with memory for 0, 1, 2 … allocations, with a larger step after the first ones, or without the one after them, until
   that is enough. */
static void starve(int (*call)(void), const char* name) {
  uint64_t before = digest();
  for (long n = 0; n < 100000; n += n < BY_REPETITION && step < BY_REPETITION ? 1 : step) {
    made = 0;
    allowed = n;
    int status = call();
    int has_failed = once && allowed < 0;
    allowed = -1;
    if (status != PM_OK) {
      check_refusal(name, n, status, before);
    } else if (has_failed) { /* a sort does without its buffer */
      DONE(pm_release(made));
      before = digest();
    } else {
      return;
    }
  }
  failed(__FILE__, __LINE__, name);
}

static uint64_t starved(int (*call)(void), const char* name) {
  starve(call, name);
  EXPECT(made != 0);
  return made;
}

/* Waits until so many children are left; one that fails is a failure of this process. */
static void await_children(int most) {
  for (int status = 0; running > most; --running) {
    if (wait(&status) < 0 || status) ++failures;
  }
}

/* A child process continues without memory, and this one with memory. */
static int fails_in_a_child(void) {
  if (place++ < BY_REPETITION || place % step) return 0;
  pid_t child = _Fork(); /* fork() would take locks that this call may have */
  if (child) {
    if (child < 0) ++failures;
    running += child > 0;
    await_children(15);
    return 0;
  }
  alarm(60); /* a deadlock */
  is_child = 1;
  asked = NULL;
  allowed = once ? -1 : 0;
  return 1;
}

/* For what a process does once, in many allocations: those before a place are not repeated for it, but made in this process,
   which ends. A child does not call again: it can't release the locks that this process has. The first places, where the loader
   of libraries has its lock, are tried in processes of their own. */
static void starve_in_children(int (*call)(void), const char* name) {
  uint64_t before = digest();
  for (long n = 0; n <= BY_REPETITION; ++n) {
    int status = 0;
    pid_t child = fork();
    if (child) {
      int right = child > 0 && waitpid(child, &status, 0) == child && status == 0;
      if (!right) fprintf(stderr, "%s with %ld allocations ends a process\n", name, n);
      EXPECT(right);
      continue;
    }
    if (n < BY_REPETITION) {
      allowed = n;
      status = call();
      allowed = -1;
      check_refusal(name, n, status, before);
      _exit(failures ? 1 : 0);
    }
    asked = fails_in_a_child;
    status = call();
    asked = NULL;
    allowed = -1;
    if (is_child) {
      check_refusal(name, place, status, before);
    } else {
      await_children(0);
      EXPECT(status == PM_OK && made && place > BY_REPETITION);
    }
    _exit(failures ? 1 : 0);
  }
}

#endif
