#include "verify/interrupt.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>

namespace certicone::verify {

namespace {

std::atomic<int> signal_seen{0};
std::atomic<std::int64_t> seen_at{0};
std::atomic<bool> guarded{false}, threads_behind{false};

constexpr std::int64_t kMillisecond = 1'000'000;
/// `timeout` sends its signal to the process and to its group: the second of two that come together is an echo.
constexpr std::int64_t kEcho = 100 * kMillisecond;

/// Nanoseconds of a clock that only goes forward; safe in a signal handler.
std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1000 * kMillisecond + time.tv_nsec;
}

extern "C" void note_signal(int number) {
    int none = 0;
    if (signal_seen == 0) seen_at = now();  // before the signal shows, so that nobody reads an older time
    if (!signal_seen.compare_exchange_strong(none, number) && now() > seen_at + kEcho) {
        std::signal(number, SIG_DFL);
        std::raise(number);
    }
}

void install(struct sigaction* old_interrupt, struct sigaction* old_terminate) {
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
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
    signal_seen = 0;
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
}

int interrupted() { return signal_seen; }

bool out_of_patience() { return signal_seen != 0 && now() > seen_at + std::chrono::nanoseconds(kPatience).count(); }

void take_over_interrupt() {
    if (!guarded) return;
    if (signal_seen == 0) {
        seen_at = now();
        signal_seen = SIGINT;
    }
    install(nullptr, nullptr);
}

void leave_threads_behind() { threads_behind = true; }

int end_process(int code) {
    if (!threads_behind) return code;
    std::cout.flush();
    std::fflush(stdout);
    std::_Exit(code);
}

}  // namespace certicone::verify
