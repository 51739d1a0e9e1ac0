// Clang proves at compile time that a member is touched under its mutex only (preset `clang`; GCC
// ignores it).
//
//   Mutex mutex_;
//   int waiting_ GUARDED_BY(mutex_) = 0;
//   void add() { const MutexLock lock(mutex_); ++waiting_; }
#pragma once

#include <mutex>

#ifdef __clang__
#define DYETRACE_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define DYETRACE_THREAD_ATTRIBUTE(attribute)
#endif

#undef GUARDED_BY  // abseil, which gRPC's headers include, has the same word for the same thing
#define GUARDED_BY(mutex) DYETRACE_THREAD_ATTRIBUTE(guarded_by(mutex))
#define REQUIRES(mutex) DYETRACE_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace dyetrace::base {

class DYETRACE_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
  public:
    void lock() DYETRACE_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
    void unlock() DYETRACE_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

class DYETRACE_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
  public:
    explicit MutexLock(Mutex& mutex) DYETRACE_THREAD_ATTRIBUTE(acquire_capability(mutex))
        : mutex_(mutex) {
        mutex_.lock();
    }
    ~MutexLock() DYETRACE_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

  private:
    Mutex& mutex_;
};

}  // namespace dyetrace::base
