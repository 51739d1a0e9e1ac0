// Owns one file descriptor and closes it.
//
//   TRY(Fd file, open_file(path, O_RDONLY));      (base/file.h)
//   read(file.get(), ...);
//
// Moved-from and default-made ones are empty: get() is -1. The destructor ignores what close()
// says; a writer that has to know calls close().
#pragma once

#include "base/result.h"

namespace dyetrace::base {

class Fd {
  public:
    Fd() = default;
    explicit Fd(int number) : number_(number) {}  // takes it over
    Fd(Fd&& other) noexcept : number_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept;
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    int get() const { return number_; }
    bool valid() const { return number_ >= 0; }

    // Gives it away unclosed.
    [[nodiscard]] int release();
    void reset();

    // Closes and says whether the kernel could write everything. Empty afterwards in either case.
    Result<void> close();

  private:
    int number_ = -1;
};

struct Pipe {
    Fd read, write;  // neither passes an execve
};
Result<Pipe> make_pipe();

// What of the first three is closed becomes what can neither be read nor written, so that no file of ours gets its number and then what was meant for a
// terminal. Programs that this one runs find it closed. To be called first.
void hold_standard_descriptors();

// Lets this process have as many open as its hard limit allows, instead of a shell's 1,024: a trace of many hosts is many files.
void allow_all_descriptors();

}  // namespace dyetrace::base
