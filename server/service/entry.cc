// Entries as bytes. Little-endian. u8 format, u8 kind, u64 epoch, previous, state before, i64 time,
// texts (u32 length, bytes) id, name, settings, u32 number of events, texts, u8 whether there is an
// answer, and the answer: text key, u64 request, i64 time, u16 status, text body.
#include "service/entry.h"

#include <cstring>
#include <type_traits>

namespace dpcache::server {

namespace {

constexpr std::uint8_t kFormat = 1;

class Writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_integral_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  void reserve(std::size_t size) { out_.reserve(size); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// After a failure every read gives nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view from = take(sizeof value);
    if (ok_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  std::size_t left() const { return left_.size(); }
  bool at_end() const { return ok_ && left_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view take(std::size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace

std::string encode(const Entry& entry) {
  std::size_t size = 64 + entry.cache.size() + entry.name.size() + entry.settings.size();
  for (const std::string& event : entry.events) size += event.size() + 4;
  if (entry.answer) size += 32 + entry.answer->key.size() + entry.answer->body.size();
  Writer writer;
  writer.reserve(size);
  writer.number(kFormat);
  writer.number(static_cast<std::uint8_t>(entry.kind));
  writer.number(entry.epoch);
  writer.number(entry.previous);
  writer.number(entry.state_before);
  writer.number(entry.time);
  writer.text(entry.cache);
  writer.text(entry.name);
  writer.text(entry.settings);
  writer.number(static_cast<std::uint32_t>(entry.events.size()));
  for (const std::string& event : entry.events) writer.text(event);
  writer.number(static_cast<std::uint8_t>(entry.answer.has_value()));
  if (entry.answer) {
    writer.text(entry.answer->key);
    writer.number(entry.answer->request);
    writer.number(entry.answer->time);
    writer.number(entry.answer->status);
    writer.text(entry.answer->body);
  }
  return writer.take();
}

std::optional<Entry> decode_entry(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.number<std::uint8_t>() != kFormat) return {};
  Entry entry;
  const auto kind = reader.number<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(EntryKind::remove)) return {};
  entry.kind = static_cast<EntryKind>(kind);
  entry.epoch = reader.number<std::uint64_t>();
  entry.previous = reader.number<Position>();
  entry.state_before = reader.number<std::uint64_t>();
  entry.time = reader.number<std::int64_t>();
  entry.cache = reader.text();
  entry.name = reader.text();
  entry.settings = reader.text();
  const auto events = reader.number<std::uint32_t>();
  if (events > reader.left() / sizeof(std::uint32_t)) return {};
  entry.events.reserve(events);
  for (std::uint32_t i = 0; i < events; ++i) entry.events.push_back(reader.text());
  const auto answered = reader.number<std::uint8_t>();
  if (answered > 1) return {};
  if (answered == 1) {
    Answer answer;
    answer.key = reader.text();
    answer.request = reader.number<std::uint64_t>();
    answer.time = reader.number<std::int64_t>();
    answer.status = reader.number<std::uint16_t>();
    answer.body = reader.text();
    entry.answer = std::move(answer);
  }
  if (!reader.at_end()) return {};
  return entry;
}

}  // namespace dpcache::server
