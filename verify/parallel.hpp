// Independent pieces of work over threads, with results that do not depend on how many there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "network/network.hpp"

namespace certicone::verify {

/// Calls work(begin, end) for the chunks [0, chunk), [chunk, 2·chunk), … of [0, count), each on one of `threads` threads
/// (0: all cores), in any order. The chunks do not depend on the number of threads. After an exception no further chunk
/// is begun, and the one of the first chunk in order is thrown again.
template <class Work>
void in_chunks(Index count, Index chunk, Index threads, Work&& work) {
    const Index chunks = (count + chunk - 1) / chunk;
    if (threads <= 0) threads = std::max<Index>(1, std::thread::hardware_concurrency());
    std::atomic<Index> next{0};
    std::mutex mutex;
    Index failed_chunk = chunks;
    std::exception_ptr failure;
    const auto loop = [&] {
        for (Index k = next++; k < chunks; k = next++) {
            try {
                work(k * chunk, std::min(count, (k + 1) * chunk));
            } catch (...) {
                const std::lock_guard lock(mutex);
                next = chunks;
                if (k < failed_chunk) {
                    failed_chunk = k;
                    failure = std::current_exception();
                }
            }
        }
    };
    std::vector<std::thread> helpers;
    for (Index t = 1; t < std::min(threads, chunks); ++t)
        helpers.emplace_back(loop);
    loop();
    for (std::thread& helper : helpers)
        helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace certicone::verify
