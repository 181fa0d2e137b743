// Ctrl-C and termination requests: the work in hand is finished, nothing new is begun, and what is done is reported.
#pragma once

#include <csignal>

namespace certicone::verify {

/// While an object of this class lives, SIGINT and SIGTERM set a flag instead of ending the process; another one,
/// a second or more later, ends it.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

  private:
    struct sigaction old_interrupt_, old_terminate_;
};

/// The signal that came, or 0.
int interrupted();

/// A solver library with a handler of its own took the signal and stopped: makes it ours, and puts our handler back.
void take_over_interrupt();

}  // namespace certicone::verify
