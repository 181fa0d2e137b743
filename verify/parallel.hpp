// Independent pieces of work over threads, with results that do not depend on how many there are, and a reporter that an
// interrupt sets free whatever the threads are at.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "network/network.hpp"
#include "support/dyadic.hpp"
#include "verify/interrupt.hpp"

namespace certicone::verify {

/// What the threads of one `in_order` share. Each holds it, so that it outlives the call where threads are left behind.
template <class Item, class Work>
class WorkInOrder {
  public:
    WorkInOrder(Index count, Index chunk, Index threads, Work work)
        : count_(count), chunk_(chunk), chunks_((count + chunk - 1) / chunk), work_(std::move(work)) {
        threads_ = threads > 0 ? threads : std::max<Index>(1, std::thread::hardware_concurrency());
    }

    /// See `in_order`.
    template <class Take, class Missing>
    static void run(const std::shared_ptr<WorkInOrder>& self, Take&& take, Missing&& missing) {
        std::vector<std::thread> helpers = self->start(self);
        std::unique_lock lock(self->mutex_);
        try {
            while (true) {
                while (self->next_waits() && !out_of_patience())
                    self->hand_over(lock, take);
                if (self->running_ == 0 || out_of_patience()) break;
                self->look(lock, [&] { return self->next_waits(); });
            }
        } catch (...) {  // `take` refused: nothing more is begun
            self->fail(-1);
            while (self->running_ > 0 && !out_of_patience())
                self->look(lock, [] { return false; });
        }
        const bool behind = self->running_ > 0;
        self->closed_ = true;
        self->moved_.notify_all();
        lock.unlock();
        for (std::thread& helper : helpers)
            behind ? helper.detach() : helper.join();
        if (behind) leave_threads_behind();
        if (self->failure_) std::rethrow_exception(self->failure_);
        // After an interrupt: what is finished, and what stands for the rest.
        for (; self->taken_ < self->count_; ++self->taken_) {
            const auto found = self->waiting_.find(self->taken_);
            take(found != self->waiting_.end() ? std::move(found->second) : missing(self->taken_));
        }
    }

  private:
    static constexpr std::chrono::milliseconds kLook{20};  ///< how often an interrupt is looked for
    struct Stop {};                                        ///< thrown through `work` where nothing more is wanted of it

    static std::vector<std::thread> start(const std::shared_ptr<WorkInOrder>& self) {
        std::vector<std::thread> helpers;
        for (Index t = 0; t < std::min(self->threads_, self->chunks_); ++t) {
            const std::unique_lock lock(self->mutex_);
            try {
                helpers.emplace_back([self] {
                    self->loop();
                    release_thread_cache();
                    const std::unique_lock over(self->mutex_);
                    --self->running_;
                    self->moved_.notify_all();
                });
                ++self->running_;
            } catch (const std::system_error&) {  // the system has no more threads to give: fewer do
                if (helpers.empty()) throw;
                break;
            }
        }
        return helpers;
    }

    /// Waits until the threads are done, `more` holds, or it is time to look for an interrupt.
    void look(std::unique_lock<std::mutex>& lock, auto&& more) {
        moved_.wait_for(lock, kLook, [&] { return running_ == 0 || more(); });
        if (interrupted() != 0) moved_.notify_all();  // those who wait for their turn: it will not come
    }

    bool next_waits() const { return !waiting_.empty() && waiting_.begin()->first == taken_; }

    template <class Take>
    void hand_over(std::unique_lock<std::mutex>& lock, Take&& take) {
        auto first = waiting_.extract(waiting_.begin());
        lock.unlock();
        try {
            take(std::move(first.mapped()));
        } catch (...) {
            lock.lock();
            throw;
        }
        lock.lock();
        if (++taken_ % chunk_ == 0) moved_.notify_all();
    }

    /// The exception in hand is that of a chunk; of several the first counts.
    void fail(Index k) {
        if (k < failed_chunk_) {
            failed_chunk_ = k;
            failure_ = std::current_exception();
        }
        moved_.notify_all();
    }

    void loop() {
        std::unique_lock lock(mutex_);
        while (true) {
            const Index k = next_chunk_++;
            const auto over = [&] { return closed_ || interrupted() != 0 || k >= std::min(chunks_, failed_chunk_); };
            moved_.wait(lock, [&] { return over() || k < taken_ / chunk_ + 2 * threads_; });
            if (over()) return;
            lock.unlock();
            try {
                Index index = k * chunk_;
                work_(index, std::min(count_, index + chunk_), [&](Item item) { give(index++, std::move(item)); });
                lock.lock();
            } catch (const Stop&) {
                lock.lock();
            } catch (...) {
                lock.lock();
                if (!closed_) fail(k);
            }
        }
    }

    void give(Index index, Item item) {
        const std::lock_guard lock(mutex_);
        if (closed_) throw Stop();
        waiting_.emplace(index, std::move(item));
        if (next_waits()) moved_.notify_all();
        if (interrupted() != 0 || failed_chunk_ < 0) throw Stop();
    }

    const Index count_, chunk_, chunks_;
    Index threads_;
    const Work work_;
    std::mutex mutex_;
    std::condition_variable moved_;
    std::map<Index, Item> waiting_;
    Index next_chunk_ = 0, taken_ = 0, running_ = 0, failed_chunk_ = chunks_;
    bool closed_ = false;
    std::exception_ptr failure_;
};

/// Calls work(begin, end, give) for the chunks [0, chunk), [chunk, 2·chunk), … of [0, count), each on one of `threads`
/// threads (0: all cores). The chunks do not depend on the number of threads. `work` calls give(Item) once an index, in
/// order; take(Item) gets the items of all chunks in order of index, as soon as those before are there, in the calling
/// thread. Chunks are begun at most 2·threads ahead of the first unfinished one, so at most 2·threads·chunk items wait.
/// After an exception no further chunk is begun, and the one of the first chunk in order is thrown again; items before
/// it have been taken.
///
/// After an interrupt nothing is begun, and kPatience later nobody waits any more: missing(index) stands for each item that
/// is not there. The threads that are left behind go on with `work`, which therefore owns all that it touches.
template <class Item, class Work, class Take, class Missing>
void in_order(Index count, Index chunk, Index threads, Work work, Take&& take, Missing&& missing) {
    const auto shared = std::make_shared<WorkInOrder<Item, Work>>(count, chunk, threads, std::move(work));
    WorkInOrder<Item, Work>::run(shared, take, missing);
}

/// The result of work() in a thread of its own; none where an interrupt came before it. `work` owns what it touches.
template <class Work>
auto unless_interrupted(Work work) {
    using Result = std::optional<std::decay_t<decltype(work())>>;
    Result result;
    in_order<Result>(
        1, 1, 1, [work = std::move(work)](Index, Index, const auto& give) { give(Result(work())); },
        [&](Result item) { result = std::move(item); }, [](Index) { return Result(); });
    return result;
}

}  // namespace certicone::verify
