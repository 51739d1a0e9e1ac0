#include "apps/cli/output.h"

#include <stdio_ext.h>

#include <cerrno>
#include <cstdio>

#include "apps/cli/exit_status.h"
#include "base/log.h"

namespace dyetrace::apps {
namespace {

int failure = 0;  // of stdout, which itself knows only that there was one

void note_failure() {
    failure = failure == 0 ? errno : failure;
    ::__fpurge(stdout);  // or it is tried again at the end
}

}  // namespace

void put(std::string_view text) {
    if (failure == 0 && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        note_failure();
    }
}

bool is_output_written() {
    if (std::fflush(stdout) != 0) {
        note_failure();
    }
    return failure == 0;
}

int finish_output(int exit_status) {
    if (is_output_written()) {
        return exit_status;
    }
    if (failure != EPIPE) {
        base::Log::to_stderr().fail(base::Error::from_errno(failure, kCannotWrite));
    }
    failure = 0;
    return exit_status == 0 ? kExitFailure : exit_status;
}

}  // namespace dyetrace::apps
