// One line on standard error that tells how far a long run has come.
#ifndef DPCACHE_CLI_PROGRESS_H_
#define DPCACHE_CLI_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dpcache::cli {

// Whether there is anybody to look at a progress line, and whether it would stand in the way.
enum class Show : bool { no, yes };

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  struct State {
    std::uint64_t items = 0;
    std::uint64_t bytes = 0;  // unpacked
    std::uint64_t slots = 0;
    std::optional<double> share;  // of the input, [0, 1], where its size is known
  };

  // `unit` names the items: "lines".
  Progress(Show show, const char* unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws the line anew if a fifth of a second has gone by, from the end of the first second on.
  // Cheap enough to be called every few thousand items.
  void update(const State& state);
  // The same for work whose end is known: "trying 12 thresholds  41 %, 3 s left".
  void update(const std::string& what, double share);
  // Takes the line away.
  void clear();

  std::chrono::duration<double> elapsed() const { return Clock::now() - start_; }

  // Times from now on are those of another piece of work.
  void restart();

 private:
  bool is_due();
  void draw(const std::string& line);

  Show show_;
  const char* unit_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_PROGRESS_H_
