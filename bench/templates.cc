// What a line costs that templates are learned from: lines a second of processor time, on one core.
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/templates.h"

namespace {

constexpr int kRounds = 7;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "templates: %s\n", why.c_str());
  std::exit(1);
}

// The whole file, plain or gzip.
std::string read_file(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) fail(path + ": cannot be opened");
  std::string text;
  std::vector<char> buffer(1U << 16U);
  int size = 0;
  while ((size = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  gzclose(file);
  if (size < 0) fail(path + ": cannot be read");
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Processor time, which others on the machine disturb less than the clock.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Prints: name, lines, bytes a line, lines a second (median and best of the rounds), templates.
void time_file(const std::string& path) {
  const std::string text = read_file(path);
  const auto lines = lines_of(text);
  std::vector<double> taken;
  std::size_t size = 0;
  for (int round = 0; round < kRounds; ++round) {
    dpcache::Templates templates;
    const double begin = seconds();
    for (const std::string_view line : lines) {
      if (!templates.learn(line)) fail("a line was refused");
    }
    taken.push_back(seconds() - begin);
    size = templates.size();
  }
  std::sort(taken.begin(), taken.end());
  const auto count = static_cast<double>(lines.size());
  std::printf("%s\t%zu\t%.0f\t%.0f\t%.0f\t%zu\n", path.substr(path.find_last_of('/') + 1).c_str(),
              lines.size(), static_cast<double>(text.size()) / count,
              count / taken[taken.size() / 2], count / taken.front(), size);
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) time_file(words[i]);
  return 0;
}
