// Fibers, barriers and exchanges.
#include "cuda/host_grid.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

// What switches fibers must not be watched by the thread sanitizer: it runs on all of them.
#define DPCACHE_UNWATCHED __attribute__((no_sanitize("thread")))

#if defined(__SANITIZE_THREAD__)
#define DPCACHE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DPCACHE_TSAN 1
#endif
#endif

#if defined(DPCACHE_TSAN)
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

#if defined(__x86_64__)
// Keeps what a function must keep on the stack, the stack in *from, and goes on with another's.
extern "C" void dpcache_switch_stacks(void** from, void* to);
asm(R"(
.text
.globl dpcache_switch_stacks
.type dpcache_switch_stacks, @function
dpcache_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size dpcache_switch_stacks, .-dpcache_switch_stacks
)");
#endif

namespace dpcache::host_grid {

namespace {

constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kStack = std::size_t{64} << 10U;
constexpr std::size_t kGuard = 4096;  // bytes that must stay as they are, at the end of each stack
constexpr std::byte kGuardByte{0xA5};

enum class State : unsigned char { ready, at_barrier, at_meeting, ended };

// Some lanes of a warp exchange bytes. Closed when all have come, free when all have read.
struct Meeting {
  unsigned mask = 0;
  unsigned arrived = 0;
  unsigned left_to_read = 0;
  std::array<std::byte, 32 * kLaneBytes> bytes;
};

struct Fiber {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
  std::unique_ptr<std::byte[]> stack;
  State state = State::ended;
  Meeting* meeting = nullptr;
#if defined(DPCACHE_TSAN)
  void* tsan = nullptr;
#endif
};

struct Warp {
  unsigned used = 0;  // meetings, bit by bit; each lane is in one at most
  std::array<Meeting, 32> meetings;
};

// The block that runs on a thread.
struct Block {
  Fiber main;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  const std::function<void()>* body = nullptr;
  unsigned threads = 0;
  unsigned current = 0;
  unsigned index = 0;
  unsigned at_barrier = 0;
  unsigned ended = 0;
  char start = 0;  // addresses that stand for the order that a block's beginning, its barriers and
  char barrier = 0;  // its end make
  char end = 0;

  ~Block() {
#if defined(DPCACHE_TSAN)
    for (const Fiber& fiber : fibers) __tsan_destroy_fiber(fiber.tsan);
#endif
  }
};

thread_local Block block;

DPCACHE_UNWATCHED inline void acquire([[maybe_unused]] void* address) {
#if defined(DPCACHE_TSAN)
  __tsan_acquire(address);
#endif
}
DPCACHE_UNWATCHED inline void release([[maybe_unused]] void* address) {
#if defined(DPCACHE_TSAN)
  __tsan_release(address);
#endif
}

DPCACHE_UNWATCHED void switch_to(Fiber& from, Fiber& to) {
#if defined(DPCACHE_TSAN)
  __tsan_switch_to_fiber(to.tsan, 1);  // 1: no order between the two
#endif
#if defined(__x86_64__)
  dpcache_switch_stacks(&from.stack_pointer, to.stack_pointer);
#else
  swapcontext(&from.context, &to.context);
#endif
}

// The next fiber that can go on; the main one if none can.
DPCACHE_UNWATCHED void go_on() {
  Block& here = block;
  Fiber& from = here.fibers[here.current];
  for (unsigned step = 1; step <= here.threads; ++step) {
    const unsigned next = (here.current + step) % here.threads;
    if (here.fibers[next].state != State::ready) continue;
    if (next == here.current) return;
    here.current = next;
    switch_to(from, here.fibers[next]);
    return;
  }
  switch_to(from, here.main);
}

DPCACHE_UNWATCHED void open_barrier_if_all_came() {
  Block& here = block;
  if (here.at_barrier == 0 || here.at_barrier + here.ended < here.threads) return;
  for (unsigned i = 0; i < here.threads; ++i) {
    if (here.fibers[i].state == State::at_barrier) here.fibers[i].state = State::ready;
  }
  here.at_barrier = 0;
}

DPCACHE_UNWATCHED void run_fiber() {
  for (;;) {
    acquire(&block.start);
    (*block.body)();
    release(&block.end);
    block.fibers[block.current].state = State::ended;
    ++block.ended;
    open_barrier_if_all_came();
    go_on();  // comes back for the next block
  }
}

void prepare(Fiber& fiber) {
  fiber.stack = std::make_unique<std::byte[]>(kStack);
  std::fill_n(fiber.stack.get(), kGuard, kGuardByte);
#if defined(__x86_64__)
  auto* top = reinterpret_cast<void**>(
      reinterpret_cast<std::uintptr_t>(fiber.stack.get() + kStack) / 16 * 16);
  *--top = nullptr;                              // where run_fiber would return to
  *--top = reinterpret_cast<void*>(&run_fiber);  // where the first switch returns to
  for (int i = 0; i < 6; ++i) *--top = nullptr;  // the registers that it restores
  fiber.stack_pointer = top;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, run_fiber, 0);
#endif
#if defined(DPCACHE_TSAN)
  fiber.tsan = __tsan_create_fiber(0);
#endif
}

DPCACHE_UNWATCHED void run_block(unsigned index) {
  Block& here = block;
  here.index = index;
  here.at_barrier = 0;
  here.ended = 0;
  for (unsigned i = 0; i < here.threads; ++i) here.fibers[i].state = State::ready;
  release(&here.start);
  here.current = 0;
  switch_to(here.main, here.fibers[0]);
  acquire(&here.end);
}

}  // namespace

DPCACHE_UNWATCHED Place place() noexcept {
  return {{block.current}, {block.index}};
}

DPCACHE_UNWATCHED unsigned lane() noexcept {
  return block.current % 32;
}

void run(unsigned blocks, unsigned threads, const std::function<void()>& body) {
  if (threads == 0 || threads > kMostThreads || threads % 32 != 0) {
    throw std::logic_error("a block has whole warps, at most 1024 threads");
  }
  Block& here = block;
  while (here.fibers.size() < threads) prepare(here.fibers.emplace_back());
  // A launch that failed may have left fibers and meetings in the middle.
  if (here.ended != here.threads) throw std::logic_error("an earlier launch of this thread failed");
  here.warps.resize(here.fibers.size() / 32);
  here.threads = threads;
#if defined(DPCACHE_TSAN)
  here.main.tsan = __tsan_get_current_fiber();
#endif
  here.body = &body;
  for (unsigned index = 0; index < blocks; ++index) {
    run_block(index);
    if (here.ended != threads) {
      throw std::logic_error("block " + std::to_string(index) + ": " +
                             std::to_string(threads - here.ended) +
                             " threads wait for others that do not come");
    }
  }
  for (const Fiber& fiber : here.fibers) {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (fiber.stack[i] != kGuardByte) throw std::logic_error("a kernel has used up its stack");
    }
  }
  here.ended = here.threads;
}

DPCACHE_UNWATCHED void wait_for_block() noexcept {
  Block& here = block;
  release(&here.barrier);
  here.fibers[here.current].state = State::at_barrier;
  ++here.at_barrier;
  open_barrier_if_all_came();
  go_on();
  acquire(&here.barrier);
}

DPCACHE_UNWATCHED const std::array<std::byte, 32 * kLaneBytes>& exchange(
    unsigned mask, const void* bytes, std::size_t size) noexcept {
  Block& here = block;
  Fiber& me = here.fibers[here.current];
  const unsigned warp = here.current / 32;
  const unsigned bit = 1U << here.current % 32;
  if ((mask & bit) == 0) std::abort();  // undefined in CUDA
  Warp& all = here.warps[warp];
  auto chosen = static_cast<unsigned>(__builtin_ctz(~all.used));
  for (unsigned left = all.used; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    const Meeting& meeting = all.meetings[i];
    const bool is_open = meeting.left_to_read == 0 && (meeting.arrived & bit) == 0;
    if (is_open && meeting.mask == mask) chosen = i;
  }
  all.used |= 1U << chosen;
  Meeting& meeting = all.meetings[chosen];
  meeting.mask = mask;
  meeting.arrived |= bit;
  std::byte* mine = meeting.bytes.data() + here.current % 32 * kLaneBytes;
  for (std::size_t i = 0; i < size; ++i) mine[i] = static_cast<const std::byte*>(bytes)[i];
  me.meeting = &meeting;
  release(&meeting);
  if (meeting.arrived == mask) {
    meeting.left_to_read = static_cast<unsigned>(__builtin_popcount(mask));
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1U) != 0) here.fibers[warp * 32 + lane].state = State::ready;
    }
  } else {
    me.state = State::at_meeting;
    go_on();
  }
  acquire(&meeting);
  return meeting.bytes;
}

DPCACHE_UNWATCHED void exchanged() noexcept {
  Block& here = block;
  Warp& all = here.warps[here.current / 32];
  Meeting& meeting = *here.fibers[here.current].meeting;
  if (--meeting.left_to_read != 0) return;
  meeting.arrived = 0;
  all.used &= ~(1U << (&meeting - all.meetings.data()));
}

}  // namespace dpcache::host_grid
