// Defines functions of glibc 2.30 to 2.36 that Debian's libstdc++ calls, by means of glibc 2.28. Wheels contain them, hidden.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

// Since 2.32. True would promise that the process has one thread, so that shared_ptr needs no atomic instructions.
char __libc_single_threaded = 0;

// Since 2.30. A change of the system's time makes the wait shorter or longer; libstdc++ asks the clock again afterwards, as it did
// before there was this function.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  enum { kSecond = 1000000000 };
  struct timespec now, end;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &end) != 0) return errno;
  end.tv_sec += until->tv_sec - now.tv_sec;
  end.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (end.tv_nsec < 0) {
    end.tv_nsec += kSecond;
    --end.tv_sec;
  } else if (end.tv_nsec >= kSecond) {
    end.tv_nsec -= kSecond;
    ++end.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &end);
}

// Since 2.36, for std::random_device. It can't fail.
uint32_t arc4random(void) {
  uint32_t bits;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    if (errno != EINTR) abort();
  }
  return bits;
}
