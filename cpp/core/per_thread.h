// per_thread: memory that a thread keeps between calls.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace paddle_mini {

// The thread's own object of this type, made at its first call and deleted at its end. std::bad_alloc where memory runs out: a
// thread_local of a library that is loaded at run time would abort the process there.
template <class T>
T& per_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, [](void* object) { delete static_cast<T*>(object); }) != 0) throw std::bad_alloc();
    return made;
  }();
  if (void* here = pthread_getspecific(key)) return *static_cast<T*>(here);
  std::unique_ptr<T> made(new T);
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  return *made.release();
}

}  // namespace paddle_mini
