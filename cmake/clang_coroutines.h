// For clang-tidy 14 alone, which looks for coroutines where they were before C++20: libstdc++'s
// under the names that it knows. No build includes it.
#pragma once
#if defined(__clang__) && __clang_major__ < 15
#define __cpp_impl_coroutine 201902L
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#include <coroutine>

namespace std::experimental {
using std::coroutine_handle;
using std::coroutine_traits;
using std::noop_coroutine;
using std::suspend_always;
using std::suspend_never;
}  // namespace std::experimental
#endif
