// The progress line.
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kEvery{200};

void put(const std::string& text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(Show show, const char* unit)
    : show_(show), unit_(unit), next_(start_ + kFirst) {}

Progress::~Progress() {
  clear();
}

void Progress::update(const State& state) {
  if (show_ == Show::no) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kEvery;
  const double seconds = elapsed().count();
  std::string line =
      grouped(state.items) + ' ' + unit_ + "  " + in_bytes(state.bytes) + "  " +
      grouped(static_cast<std::uint64_t>(static_cast<double>(state.items) / seconds)) + ' ' +
      unit_ + "/s  " + grouped(state.slots) + " distinct";
  if (state.share && *state.share > 0) {
    const double share = std::min(*state.share, 1.0);
    line += "  " + std::to_string(static_cast<int>(share * 100)) + " %, " +
            in_time(std::chrono::duration<double>(seconds * (1 - share) / share)) + " left";
  }
  put("\r" + printable(line, terminal_columns(STDERR_FILENO) - 1) + "\x1b[K");
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) put("\r\x1b[K");
  drawn_ = false;
}

}  // namespace dpcache::cli
