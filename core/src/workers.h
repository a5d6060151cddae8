// Divides loops among threads; see dpcache/threads.h.
#ifndef DPCACHE_SRC_WORKERS_H_
#define DPCACHE_SRC_WORKERS_H_

#include <cstddef>
#include <type_traits>

#include "kernels_codes.h"

namespace dpcache {

#if DPCACHE_NIBBLES

// How many threads there are to divide among, the calling one included.
std::size_t workers() noexcept;

// Calls call(context, part) once for each part in [0, parts), in any order and on any thread;
// returns when all have ended. No call may throw.
void divide(std::size_t parts, void* context,
            void (*call)(void* context, std::size_t part)) noexcept;

template <class Body>
void divide(std::size_t parts, Body&& body) noexcept {
  divide(parts, &body, [](void* context, std::size_t part) {
    (*static_cast<std::remove_reference_t<Body>*>(context))(part);
  });
}

#else

constexpr std::size_t workers() noexcept {
  return 1;
}

template <class Body>
void divide(std::size_t parts, Body&& body) noexcept {
  for (std::size_t part = 0; part < parts; ++part) body(part);
}

#endif

}  // namespace dpcache

#endif  // DPCACHE_SRC_WORKERS_H_
