#include "apps/cancel_on_interrupt.h"

namespace dyetrace::apps {
namespace {

std::atomic<bool> was_cancelled = false;  // a signal's handler is given nothing else

void cancel(int) {
    was_cancelled = true;
}

}  // namespace

const std::atomic<bool>& CancelOnInterrupt::cancelled() {
    return was_cancelled;
}

CancelOnInterrupt::CancelOnInterrupt() {
    was_cancelled = false;
    struct sigaction action {};
    action.sa_handler = &cancel;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, &before_);
}

CancelOnInterrupt::~CancelOnInterrupt() {
    ::sigaction(SIGINT, &before_, nullptr);
}

}  // namespace dyetrace::apps
