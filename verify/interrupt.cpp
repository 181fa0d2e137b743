#include "verify/interrupt.hpp"

#include <atomic>
#include <ctime>

namespace certicone::verify {

namespace {

std::atomic<int> signal_seen{0};
std::atomic<std::time_t> seen_at{0};
std::atomic<bool> guarded{false};

/// Seconds of a clock that only goes forward; safe in a signal handler.
std::time_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

extern "C" void note_signal(int number) {
    if (signal_seen.exchange(number) == 0) {
        seen_at = now();
    } else if (now() > seen_at + 1) {  // not the echo that `timeout` and process groups send
        std::signal(number, SIG_DFL);
        std::raise(number);
    }
}

void install(struct sigaction* old_interrupt, struct sigaction* old_terminate) {
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, old_interrupt);
    sigaction(SIGTERM, &action, old_terminate);
}

}  // namespace

InterruptGuard::InterruptGuard() {
    signal_seen = 0;
    guarded = true;
    install(&old_interrupt_, &old_terminate_);
}

InterruptGuard::~InterruptGuard() {
    guarded = false;
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
}

int interrupted() { return signal_seen; }

void take_over_interrupt() {
    if (!guarded) return;
    signal_seen = SIGINT;
    install(nullptr, nullptr);
}

}  // namespace certicone::verify
