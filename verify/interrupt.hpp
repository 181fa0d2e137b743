// Ctrl-C and termination requests: nothing new is begun, what is finished is reported, and the process ends within two
// seconds whatever is being computed.
//
// No loop and no solver is asked to stop. Work runs in threads that own what they touch; the thread that reports waits for
// them no longer than kPatience after the signal, leaves them behind (verify/parallel.hpp), writes the reports and ends the
// process under them (`end_process`).
#pragma once

#include <chrono>
#include <csignal>

namespace certicone::verify {

/// While an object of this class lives, SIGINT and SIGTERM set a flag instead of ending the process; another one ends it
/// at once.
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

/// How long work in hand may go on after the signal.
inline constexpr std::chrono::milliseconds kPatience{500};
/// Whether a signal came, kPatience ago or longer.
bool out_of_patience();

/// A solver library with a handler of its own took the signal and stopped: makes it ours, and puts our handler back.
void take_over_interrupt();

/// Some threads go on with work that nobody waits for.
void leave_threads_behind();

/// The last call of `main`, which returns what this returns. Where threads were left behind the process ends here, without
/// the destructors that would pull the ground from under them.
int end_process(int code);

}  // namespace certicone::verify
