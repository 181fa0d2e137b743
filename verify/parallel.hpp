// Independent pieces of work over threads, with results that do not depend on how many there are.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "network/network.hpp"
#include "support/dyadic.hpp"

namespace certicone::verify {

/// Calls work(begin, end, give) for the chunks [0, chunk), [chunk, 2·chunk), … of [0, count), each on one of `threads`
/// threads (0: all cores). The chunks do not depend on the number of threads. `work` calls give(Item) once an index, in
/// order; take(Item) gets the items of all chunks in order of index, as soon as those before are there, by one thread at
/// a time. Chunks are begun at most 2·threads ahead of the first unfinished one, so at most 2·threads·chunk items wait.
/// After an exception no further chunk is begun, and the one of the first chunk in order is thrown again; items before
/// it have been taken.
template <class Item, class Work, class Take>
void in_order(Index count, Index chunk, Index threads, Work&& work, Take&& take) {
    const Index chunks = (count + chunk - 1) / chunk;
    if (threads <= 0) threads = std::max<Index>(1, std::thread::hardware_concurrency());
    std::mutex mutex;
    std::condition_variable moved;
    std::map<Index, Item> waiting;
    Index next_chunk = 0, taken = 0, failed_chunk = chunks;
    bool taking = true;
    std::exception_ptr failure;

    const auto give = [&](Index index, Item item) {
        const std::lock_guard lock(mutex);
        waiting.emplace(index, std::move(item));
        while (taking && !waiting.empty() && waiting.begin()->first == taken) {
            auto first = waiting.extract(waiting.begin());
            taking = false;  // stays so if take throws
            take(std::move(first.mapped()));
            taking = true;
            if (++taken % chunk == 0) moved.notify_all();
        }
    };
    const auto loop = [&] {
        while (true) {
            std::unique_lock lock(mutex);
            const Index k = next_chunk++;
            const auto over = [&] { return k >= std::min(chunks, failed_chunk); };
            moved.wait(lock, [&] { return over() || k < taken / chunk + 2 * threads; });
            if (over()) return;
            lock.unlock();
            try {
                Index index = k * chunk;
                work(index, std::min(count, index + chunk), [&](Item item) { give(index++, std::move(item)); });
            } catch (...) {
                lock.lock();
                if (k < failed_chunk) {
                    failed_chunk = k;
                    failure = std::current_exception();
                }
                moved.notify_all();
            }
        }
    };
    std::vector<std::thread> helpers;
    for (Index t = 1; t < std::min(threads, chunks); ++t)
        helpers.emplace_back([&] {
            loop();
            release_thread_cache();
        });
    loop();
    for (std::thread& helper : helpers)
        helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace certicone::verify
