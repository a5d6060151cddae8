// Keeps answers, and reads and writes them as a JSON list.
#include <nlohmann/json.hpp>
#include <utility>

#include "service/answers.h"

namespace dpcache::server {

namespace {

std::size_t size_of(const Answer& answer) {
  constexpr std::size_t kAround = 200;  // of the containers
  return kAround + 2 * answer.key.size() + answer.body.size();
}

}  // namespace

const Answers::Kept* Answers::find(std::string_view key) const {
  const auto found = by_key_.find(std::string(key));
  return found == by_key_.end() ? nullptr : &found->second;
}

void Answers::keep(Answer answer, Position position) {
  const std::string key = answer.key;
  const std::size_t size = size_of(answer);
  if (!by_key_.emplace(key, Kept{std::move(answer), position}).second) return;
  order_.push_back(key);
  bytes_ += size;
  while (order_.size() > kMostAnswers || (bytes_ > kMostBytes && order_.size() > 1)) {
    const auto oldest = by_key_.find(order_.front());
    bytes_ -= size_of(oldest->second.answer);
    by_key_.erase(oldest);
    order_.pop_front();
  }
}

std::string Answers::pack() const {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& key : order_) {
    const Answer& answer = by_key_.at(key).answer;
    list.push_back({answer.key, answer.request, answer.time, answer.status, answer.body});
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Answers Answers::unpack(std::string_view text) {
  Answers answers;
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return answers;
  for (const auto& one : list) {
    if (!one.is_array() || one.size() != 5 || !one[0].is_string() || !one[1].is_number_unsigned() ||
        !one[2].is_number_integer() || !one[3].is_number_unsigned() || !one[4].is_string()) {
      continue;
    }
    answers.keep({one[0], one[1], one[2], one[3], one[4]}, 0);
  }
  return answers;
}

}  // namespace dpcache::server
