#include "apps/store/cancel_on_interrupt.h"

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

CancelOnInterrupt::CancelOnInterrupt(std::span<const int> signals) : signals_(signals) {
    was_cancelled = false;
    struct sigaction action {};
    action.sa_handler = &cancel;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (std::size_t i = 0; i < signals_.size(); ++i) {
        ::sigaction(signals_[i], nullptr, &before_[i]);
        if (before_[i].sa_handler != SIG_IGN) {
            ::sigaction(signals_[i], &action, nullptr);
        }
    }
}

CancelOnInterrupt::~CancelOnInterrupt() {
    for (std::size_t i = 0; i < signals_.size(); ++i) {
        ::sigaction(signals_[i], &before_[i], nullptr);
    }
}

}  // namespace dyetrace::apps
