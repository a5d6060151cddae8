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

// "  41 %, 3 s left" after so many seconds; nothing as long as nothing is done.
std::string left(double share, double seconds) {
  if (!(share > 0)) return "";
  share = std::min(share, 1.0);
  return "  " + std::to_string(static_cast<int>(share * 100)) + " %, " +
         in_time(std::chrono::duration<double>(seconds * (1 - share) / share)) + " left";
}

}  // namespace

Progress::Progress(Show show, const char* unit)
    : show_(show), unit_(unit), next_(start_ + kFirst) {}

Progress::~Progress() {
  clear();
}

void Progress::update(const State& state) {
  if (!is_due()) return;
  const double seconds = elapsed().count();
  std::string line =
      grouped(state.items) + ' ' + unit_ + "  " + in_bytes(state.bytes) + "  " +
      grouped(static_cast<std::uint64_t>(static_cast<double>(state.items) / seconds)) + ' ' +
      unit_ + "/s  " + grouped(state.slots) + " distinct";
  if (state.share) line += left(*state.share, seconds);
  draw(line);
}

void Progress::update(const std::string& what, double share) {
  if (is_due()) draw(what + left(share, elapsed().count()));
}

void Progress::restart() {
  start_ = Clock::now();
}

bool Progress::is_due() {
  if (show_ == Show::no) return false;
  const auto now = Clock::now();
  if (now < next_) return false;
  next_ = now + kEvery;
  return true;
}

void Progress::draw(const std::string& line) {
  put("\r" + printable(line, terminal_columns(STDERR_FILENO) - 1) + "\x1b[K");
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) put("\r\x1b[K");
  drawn_ = false;
}

}  // namespace dpcache::cli
