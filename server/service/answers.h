// The answers that a cache keeps for requests with an Idempotency-Key. Part of its state: they
// stand in the log and in snapshots, so that a repetition gets the same answer after a restart too.
#ifndef DPCACHE_SERVER_SERVICE_ANSWERS_H_
#define DPCACHE_SERVER_SERVICE_ANSWERS_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "log/log.h"
#include "service/entry.h"

namespace dpcache::server {

// The latest answers: at most kMostAnswers, and about kMostBytes of them. Not for several threads.
class Answers {
 public:
  static constexpr std::size_t kMostAnswers = 10'000;
  static constexpr std::size_t kMostBytes = 16 << 20;

  struct Kept {
    Answer answer;
    Position position = 0;  // of the entry that holds it
  };
  // Null: no answer to this key is kept.
  const Kept* find(std::string_view key) const;
  void keep(Answer answer, Position position);
  std::size_t bytes() const { return bytes_; }

  // As a text for a snapshot's metadata, and back. A text that is damaged gives what it can.
  std::string pack() const;
  static Answers unpack(std::string_view text);

 private:
  std::unordered_map<std::string, Kept> by_key_;
  std::deque<std::string> order_;  // keys, the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_ANSWERS_H_
