// Talk: what the program says to people on stderr, one clear line each. Data goes to stdout and not
// through here.
//
//   dyetrace: recording 4 CPUs                          say
//   dyetrace: warning: 120 events lost on CPU 3         warn, yellow on a terminal
//   dyetrace: error: opening 'x': ... (ENOENT)          fail, red on a terminal
//
// A line is written with one system call, so that lines of several threads do not mix. Line breaks
// and control characters inside become \n and \x1b: a traced file name cannot move the cursor. main
// makes one and hands it down.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace dyetrace::base {

// A terminal, and neither NO_COLOR nor TERM=dumb.
bool wants_color(int fd);

class Log {
  public:
    static Log to_stderr();
    Log(int fd, bool color) : fd_(fd), color_(color) {}  // borrows fd

    bool is_terminal() const;
    // On a terminal: a line that the next one is written over, cut to its width. An empty one takes it away: do so before anything is said.
    void show(std::string_view message) const;

    void say(std::string_view message) const;
    void warn(std::string_view message) const;
    void fail(std::string_view message) const;
    void fail(const Error& error) const { fail(error.text()); }

  private:
    void write_line(std::string_view color,
                    std::string_view severity,
                    std::string_view message) const;

    int fd_;
    bool color_;
};

}  // namespace dyetrace::base
