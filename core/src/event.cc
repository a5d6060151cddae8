// The canonical bytes of events, written and read.
//
// Little-endian. u8 format, u8 kind, u64 seq, i64 time, then by kind:
//   observe      key and value (u32 length, floats each), payload (u64 length, bytes), exact key
//   (u8
//                flag, then u64 length, bytes), ttl (u8 flag, then i64), and the decision: u8
//                action, u64 slot, f32 novelty, threshold, gate, similarity, nearest (u8 flag, then
//                u64, f32), evicted (u64 count, u64 each), folded (u64 count, two u64 each), f32
//                surprise, budget (u8 flag, then f32)
//   erase, expire  ids (u64 count, u64 each)
//   consolidate  folds (u64 count, two u64 each)
//   config       JSON (u64 length, bytes)
// The format is 1. It is 2 for an observed item that has what only a cache with an uncertain band,
// guards or an audit knows; that follows: id, text and scope (u64 length, bytes each), u8
// uncertain, verdict (u8 flag, then u8), u32 guarded. The kinds of corrections:
//   split           u64 slot, other, member, u8 flag, then the item that was brought: key and value
//                   (u32 length, floats each), payload, text and scope (u64 length, bytes each)
//   must_not_merge, must_merge  u64 slot, other
//   review          u64 slot, other, u8 verdict
#include "dpcache/event.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "event_bytes.h"

namespace dpcache {

namespace {

constexpr std::uint8_t kFormat = 1;
#if DPCACHE_TRUST
constexpr std::uint8_t kTrustFormat = 2;

bool has_trust(const Event& event) noexcept {
  const Decision& decision = event.decision;
  return event.kind == EventKind::observe &&
         (!event.item.id.empty() || !event.item.text.empty() || decision.uncertain ||
          !event.item.scope.empty() || decision.verdict || !decision.guarded.empty());
}
#endif
constexpr std::size_t kNoKey = SIZE_MAX;  // the action is none that there is

// Writes where there is room for most_bytes().
class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}

  std::byte* at() const noexcept { return at_; }
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    raw(&value, sizeof value);
  }
  void floats(std::span<const float> x) {
    number(static_cast<std::uint32_t>(x.size()));
    raw(x.data(), x.size_bytes());
  }
  void bytes(std::string_view s) {
    number(static_cast<std::uint64_t>(s.size()));
    raw(s.data(), s.size());
  }
  void ids(const std::vector<SlotId>& ids) {
    number(static_cast<std::uint64_t>(ids.size()));
    raw(ids.data(), ids.size() * sizeof(SlotId));
  }
  void folds(const std::vector<Fold>& folds) {
    number(static_cast<std::uint64_t>(folds.size()));
    for (const Fold& fold : folds) {
      number(fold.slot);
      number(fold.into);
    }
  }
  // A flag, and whether to go on with the value.
  template <class T>
  bool flag(const std::optional<T>& value) {
    number(static_cast<std::uint8_t>(value.has_value()));
    return value.has_value();
  }

 private:
  void raw(const void* data, std::size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }
  std::byte* at_;
};

// Reads with every length checked against what is left; after a failure all reads fail.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return ok_ && left_.empty(); }

  template <class T>
  T number() {
    T value{};
    const std::span<const std::byte> from = take(sizeof value);
    if (ok_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  bool flag() {
    const auto value = number<std::uint8_t>();
    if (value > 1) ok_ = false;
    return value == 1;
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> floats() {
    const auto count = number<std::uint32_t>();
    return take(std::uint64_t{count} * sizeof(float));
  }
  std::string_view bytes() {
    const std::span<const std::byte> taken = take(number<std::uint64_t>());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  // A count of things of `size` bytes each, if so many can be left.
  std::size_t count(std::size_t size) {
    const auto value = number<std::uint64_t>();
    if (value > left_.size() / size) ok_ = false;
    return ok_ ? static_cast<std::size_t>(value) : 0;
  }
  std::vector<SlotId> ids() {
    std::vector<SlotId> ids(count(sizeof(SlotId)));
    for (SlotId& id : ids) id = number<SlotId>();
    return ids;
  }
  std::vector<Fold> folds() {
    std::vector<Fold> folds(count(2 * sizeof(SlotId)));
    for (Fold& fold : folds) {
      fold.slot = number<SlotId>();
      fold.into = number<SlotId>();
    }
    return folds;
  }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

void write_observed(Writer& writer, const Item& item, const Decision& decision) {
  writer.floats(item.key);
  writer.floats(item.value);
  writer.bytes(item.payload);
  if (writer.flag(item.exact_key)) writer.bytes(*item.exact_key);
  if (writer.flag(item.ttl_ms)) writer.number(*item.ttl_ms);
  writer.number(static_cast<std::uint8_t>(decision.action));
  writer.number(decision.slot);
  writer.number(decision.novelty);
  writer.number(decision.threshold);
  writer.number(decision.gate);
  writer.number(decision.similarity);
  if (writer.flag(decision.nearest)) {
    writer.number(decision.nearest->slot);
    writer.number(decision.nearest->similarity);
  }
  writer.ids(decision.evicted);
  writer.folds(decision.folded);
  writer.number(decision.surprise);
  if (writer.flag(decision.budget)) writer.number(*decision.budget);
}

#if DPCACHE_TRUST
void write_trust(Writer& writer, const Item& item, const Decision& decision) {
  writer.bytes(item.id);
  writer.bytes(item.text);
  writer.bytes(item.scope);
  writer.number(static_cast<std::uint8_t>(decision.uncertain));
  if (writer.flag(decision.verdict)) writer.number(static_cast<std::uint8_t>(*decision.verdict));
  writer.number(decision.guarded.bits());
}

void write_correction(Writer& writer, const Event& event) {
  const Correction& correction = event.correction;
  writer.number(correction.slot);
  writer.number(correction.other);
  if (event.kind == EventKind::review) {
    writer.number(static_cast<std::uint8_t>(correction.verdict));
  }
  if (event.kind != EventKind::split) return;
  writer.number(correction.member);
  const Item& item = event.item;
  writer.number(static_cast<std::uint8_t>(!item.key.empty()));
  if (item.key.empty()) return;
  writer.floats(item.key);
  writer.floats(item.value);
  writer.bytes(item.payload);
  writer.bytes(item.text);
  writer.bytes(item.scope);
}

// Whether it is one of those there are.
bool read_verdict(Reader& reader, Judgement& verdict) {
  const auto value = reader.number<std::uint8_t>();
  verdict = static_cast<Judgement>(value);
  return value <= static_cast<std::uint8_t>(Judgement::unknown);
}

// False: it says nothing that the first format could not.
bool read_trust(Reader& reader, Event& event) {
  Decision& decision = event.decision;
  event.item.id = reader.bytes();
  event.item.text = reader.bytes();
  event.item.scope = reader.bytes();
  decision.uncertain = reader.flag();
  if (reader.flag() && !read_verdict(reader, decision.verdict.emplace())) return false;
  const auto guarded = reader.number<std::uint32_t>();
  decision.guarded = GuardSet::of_bits(guarded);
  return decision.guarded.bits() == guarded && has_trust(event);
}
#endif

// `floats` receives key and value, one behind the other; returns the length of the key.
std::size_t read_vectors(Reader& reader, std::vector<float>& floats) {
  const std::span<const std::byte> key = reader.floats();
  const std::span<const std::byte> value = reader.floats();
  floats.resize((key.size() + value.size()) / sizeof(float));
  if (!key.empty()) std::memcpy(floats.data(), key.data(), key.size());
  if (!value.empty()) {
    std::memcpy(floats.data() + key.size() / sizeof(float), value.data(), value.size());
  }
  return key.size() / sizeof(float);
}

// As read_vectors().
std::size_t read_observed(Reader& reader, Event& event, std::vector<float>& floats) {
  Item& item = event.item;
  Decision& decision = event.decision;
  const std::size_t key = read_vectors(reader, floats);
  item.payload = reader.bytes();
  if (reader.flag()) item.exact_key = reader.bytes();
  if (reader.flag()) item.ttl_ms = reader.number<std::int64_t>();
  item.time = event.time;
  const auto action = reader.number<std::uint8_t>();
  decision.action = action == 0 ? Action::allocate : Action::merge;
  decision.slot = reader.number<SlotId>();
  decision.novelty = reader.number<float>();
  decision.threshold = reader.number<float>();
  decision.gate = reader.number<float>();
  decision.similarity = reader.number<float>();
  if (reader.flag()) {
    Match nearest;
    nearest.slot = reader.number<SlotId>();
    nearest.similarity = reader.number<float>();
    decision.nearest = nearest;
  }
  decision.evicted = reader.ids();
  decision.folded = reader.folds();
  decision.surprise = reader.number<float>();
  if (reader.flag()) decision.budget = reader.number<float>();
  return action > 1 ? kNoKey : key;
}

#if DPCACHE_TRUST
bool read_correction(Reader& reader, Event& event, std::vector<float>& floats) {
  Correction& correction = event.correction;
  correction.slot = reader.number<SlotId>();
  correction.other = reader.number<SlotId>();
  if (event.kind == EventKind::review) return read_verdict(reader, correction.verdict);
  if (event.kind != EventKind::split) return true;
  correction.member = reader.number<std::uint64_t>();
  if (!reader.flag()) return true;
  const std::size_t key = read_vectors(reader, floats);
  Item& item = event.item;
  item.key = std::span(floats).first(key);
  item.value = std::span(floats).subspan(key);
  item.payload = reader.bytes();
  item.text = reader.bytes();
  item.scope = reader.bytes();
  item.time = event.time;
  return key != 0;
}
#endif

Status bad_event(const char* detail) {
  return {Error::bad_request, 0, "", detail};
}

}  // namespace

std::span<const std::byte> encode_into(const Event& event, std::vector<std::byte>& buffer) {
  std::string config;
  if (event.kind == EventKind::config) config = to_json(event.config ? *event.config : Config{});
  const std::size_t most = most_bytes(event) + config.size();
  if (buffer.size() < most) buffer.resize(most);
  Writer writer(buffer.data());
#if DPCACHE_TRUST
  writer.number(has_trust(event) ? kTrustFormat : kFormat);
#else
  writer.number(kFormat);
#endif
  writer.number(static_cast<std::uint8_t>(event.kind));
  writer.number(event.seq);
  writer.number(event.time);
  switch (event.kind) {
    case EventKind::observe:
      write_observed(writer, event.item, event.decision);
#if DPCACHE_TRUST
      if (has_trust(event)) write_trust(writer, event.item, event.decision);
#endif
      break;
    case EventKind::erase:
    case EventKind::expire:
      writer.ids(event.decision.evicted);
      break;
    case EventKind::consolidate:
      writer.folds(event.decision.folded);
      break;
    case EventKind::config:
      writer.bytes(config);
      break;
#if DPCACHE_TRUST
    case EventKind::split:
    case EventKind::must_not_merge:
    case EventKind::must_merge:
    case EventKind::review:
      write_correction(writer, event);
      break;
#endif
  }
  return {buffer.data(), writer.at()};
}

void encode(const Event& event, std::vector<std::byte>& out) {
  std::vector<std::byte> buffer;
  const std::span<const std::byte> bytes = encode_into(event, buffer);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Result<DecodedEvent> decode_event(std::span<const std::byte> bytes) {
  DecodedEvent decoded;
  decoded.bytes_.assign(bytes.begin(), bytes.end());
  Reader reader(decoded.bytes_);
  Event& event = decoded.event_;
  const auto format = reader.number<std::uint8_t>();
  const auto kind = reader.number<std::uint8_t>();
#if DPCACHE_TRUST
  constexpr EventKind kLast = EventKind::review;
  const bool trusts =
      format == kTrustFormat && kind == static_cast<std::uint8_t>(EventKind::observe);
#else
  constexpr EventKind kLast = EventKind::config;
  constexpr bool trusts = false;
#endif
  if (format != kFormat && !trusts) return bad_event("not an event of format 1");
  if (kind > static_cast<std::uint8_t>(kLast)) return bad_event("unknown kind of event");
  event.kind = static_cast<EventKind>(kind);
  event.seq = reader.number<std::uint64_t>();
  event.time = reader.number<std::int64_t>();
  switch (event.kind) {
    case EventKind::observe: {
      const std::size_t key = read_observed(reader, event, decoded.floats_);
      if (key == kNoKey) return bad_event("unknown action");
      event.item.key = std::span(decoded.floats_).first(key);
      event.item.value = std::span(decoded.floats_).subspan(key);
#if DPCACHE_TRUST
      if (trusts && !read_trust(reader, event)) return bad_event("the event is damaged");
#endif
      break;
    }
    case EventKind::erase:
    case EventKind::expire:
      event.decision.evicted = reader.ids();
      break;
    case EventKind::consolidate:
      event.decision.folded = reader.folds();
      break;
    case EventKind::config: {
      Result<Config> config = config_from_json(reader.bytes());
      if (!config) return bad_event("the event's config is damaged");
      event.config = std::move(*config);
      break;
    }
#if DPCACHE_TRUST
    case EventKind::split:
    case EventKind::must_not_merge:
    case EventKind::must_merge:
    case EventKind::review:
      if (!read_correction(reader, event, decoded.floats_)) {
        return bad_event("the event is damaged");
      }
      break;
#endif
  }
  if (!reader.at_end()) return bad_event("the event is cut, or bytes follow it");
  return decoded;
}

}  // namespace dpcache
