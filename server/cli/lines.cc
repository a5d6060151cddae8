// Lines out of an input.
#include "cli/lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/failure.h"
#include "cli/signals.h"

namespace dpcache::cli {
namespace {
constexpr std::size_t kBuffer = 256 * 1024;
}

LineReader::LineReader(Input input)
    : input_(std::move(input)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)),
      capacity_(kBuffer) {}

bool LineReader::next(std::string_view& line) {
  for (;;) {
    const char* from = buffer_.get() + scanned_;
    if (const void* found = std::memchr(from, '\n', end_ - scanned_)) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.get());
      line = {buffer_.get() + begin_, at - begin_};
      begin_ = scanned_ = at + 1;
      bytes_ += line.size() + 1;
      return true;
    }
    scanned_ = end_;
    make_room();
    const auto got = input_.read(buffer_.get() + end_, capacity_ - end_);
    if (got == 0) return false;
    end_ += got;
  }
}

bool LineReader::next_or_last(std::string_view& line) {
  if (next(line)) return true;
  if (stopping()) return false;
  line = take_rest();
  return !line.empty();
}

std::string_view LineReader::take_rest() {
  const std::string_view rest(buffer_.get() + begin_, end_ - begin_);
  bytes_ += rest.size();
  begin_ = scanned_ = end_;
  return rest;
}

// Moves the unfinished line to the front, into a larger buffer if it fills this one, and back into
// a small one after a long line.
void LineReader::make_room() {
  const auto kept = end_ - begin_;
  if (kept >= kMaxLine) {
    throw Failure(Exit::input, input_.title() + ": has a line of 1 GiB or more (is it text?)");
  }
  auto wanted = capacity_;
  if (kept == capacity_) {
    wanted = capacity_ * 2;
  } else if (kept < kBuffer / 2) {
    wanted = kBuffer;
  }
  if (wanted != capacity_) {
    auto buffer = std::make_unique_for_overwrite<char[]>(wanted);
    std::memcpy(buffer.get(), buffer_.get() + begin_, kept);
    buffer_ = std::move(buffer);
    capacity_ = wanted;
  } else if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
  }
  scanned_ -= begin_;
  end_ = kept;
  begin_ = 0;
}

}  // namespace dpcache::cli
