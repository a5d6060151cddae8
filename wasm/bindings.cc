// The library as a few coarse calls for JavaScript: numbers and heap offsets only. Arguments stand
// in the request, the answer in the reply (wire.h). Every reply begins with its number of errors.
//
// Caches and encoders are named by handles: places in a table, from 1 up.
#include <emscripten/bind.h>
#include <emscripten/em_js.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"
#include "wire.h"

// A mask of the user's own: JavaScript's RegExp. Writes the match's begin and end to `range`, or
// answers that it failed.
EM_JS(bool, dpcache_find,
      (double pattern, const char* text, std::size_t length, std::size_t from, std::size_t* range),
      { return Module["find"](pattern, text, length, from, range); })

namespace dpcache::wasm {
namespace {

Request request;
Reply reply;
Reply events;  // of the call at hand, for a cache that is listened to
std::uint64_t event_count = 0;
std::vector<std::byte> file;  // of the last save, until JavaScript has copied it

using Address = double;  // an integer above 2 GiB would arrive in JavaScript as a negative one

Address address(const void* pointer) {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer));
}

// Things by handle.
template <class T>
class Table {
 public:
  std::uint32_t add(std::unique_ptr<T> thing) {
    if (free_.empty()) {
      things_.push_back(std::move(thing));
      return static_cast<std::uint32_t>(things_.size());
    }
    const std::uint32_t handle = free_.back();
    free_.pop_back();
    things_[handle - 1] = std::move(thing);
    return handle;
  }
  T& at(std::uint32_t handle) { return *things_[handle - 1]; }
  void remove(std::uint32_t handle) {
    things_[handle - 1].reset();
    free_.push_back(handle);
  }

 private:
  std::vector<std::unique_ptr<T>> things_;
  std::vector<std::uint32_t> free_;
};

struct Memory {
  Cache cache;
  Encoder encoder;
  Status text;  // why text is refused, or ok
};

Table<Memory> memories;
Table<Encoder> encoders;

// --- Replies

Address answer() {
  return address(reply.data());
}

void begin() {
  request.rewind();
  reply.clear();
  events.clear();
  event_count = 0;
}

void write(const Status& status) {
  reply.count(status.index);
  reply.bytes(to_string(status.code));
  reply.bytes(status.pointer);
  reply.bytes(status.detail);
}

Address refuse(std::span<const Status> errors) {
  reply.count(errors.size());
  for (const Status& error : errors) write(error);
  return answer();
}

Address refuse(const Status& error) {
  return refuse(std::span(&error, 1));
}

// The start of an answer that is none of the errors.
void accept() {
  reply.number(0.0);
}

Address done() {
  accept();
  return answer();
}

void write(Reply& out, std::span<const Fold> folds) {
  out.count(folds.size());
  for (const Fold& fold : folds) {
    out.count(fold.slot);
    out.count(fold.into);
  }
}

void write(Reply& out, const Decision& decision) {
  const double cells[] = {
      decision.action == Action::merge ? 1.0 : 0.0,
      static_cast<double>(decision.slot),
      decision.novelty,
      decision.threshold,
      decision.gate,
      decision.similarity,
      decision.nearest ? static_cast<double>(decision.nearest->slot) : kNone,
      decision.nearest ? decision.nearest->similarity : kNone,
      decision.surprise,
      decision.budget ? static_cast<double>(*decision.budget) : kNone,
      static_cast<double>(decision.evicted.size()),
  };
  out.numbers(cells);
  for (const SlotId id : decision.evicted) out.count(id);
  write(out, decision.folded);
}

void write(std::span<const Match> matches) {
  reply.count(matches.size());
  for (const Match& match : matches) {
    reply.count(match.slot);
    reply.number(match.similarity);
  }
}

void write(const Slot& slot) {
  reply.count(slot.id);
  reply.floats(slot.key);
  reply.floats(slot.value);
  reply.bytes(slot.payload);
  reply.count(slot.exact_keys.size());
  for (const std::string_view key : slot.exact_keys) reply.bytes(key);
  reply.number(slot.usage);
  reply.count(slot.count);
  reply.time(slot.first_time);
  reply.time(slot.last_time);
  reply.maybe(slot.expires);
}

void record(const Event& event) {
  const bool observed = event.kind == EventKind::observe;
  ++event_count;
  events.count(event.seq);
  events.number(static_cast<double>(event.kind));
  events.time(event.time);
  if (observed) {
    events.floats(event.item.key);
    events.floats(event.item.value);
    events.bytes(event.item.payload);
    events.maybe_bytes(event.item.exact_key);
    events.maybe(event.item.ttl_ms);
    write(events, event.decision);
  } else {
    events.count(event.decision.evicted.size());
    for (const SlotId id : event.decision.evicted) events.count(id);
    write(events, event.decision.folded);
  }
  std::optional<std::string_view> config;
  std::string text;
  if (event.config) config = text = to_json(*event.config);
  events.maybe_bytes(config);
  std::vector<std::byte> canonical;
  encode(event, canonical);
  events.bytes({reinterpret_cast<const char*>(canonical.data()), canonical.size()});
}

// --- Requests

std::vector<Pattern> read_patterns() {
  std::vector<Pattern> patterns(static_cast<std::size_t>(request.number()));
  for (Pattern& pattern : patterns) {
    pattern.name = request.bytes();
    pattern.source = request.bytes();
    const double index = request.number();
    pattern.find = [index](std::string_view text, std::size_t from) -> std::optional<Range> {
      std::size_t range[2] = {0, 0};
      if (!dpcache_find(index, text.data(), text.size(), from, range)) return {};
      return Range{range[0], range[1]};
    };
  }
  return patterns;
}

// A key or a text; of a text the key is written to `own`, which must outlive the item.
Status read_key(const Memory& memory, std::vector<float>& own, std::span<const float>& key) {
  if (request.number() == 0.0) {
    key = request.floats();
    return {};
  }
  const std::string_view text = request.bytes();
  key = {};
  if (!memory.text) return memory.text;
  own.resize(memory.encoder.config().dimension);
  key = own;
  return memory.encoder.encode(text, own);
}

Status read_item(const Memory& memory, std::vector<float>& own, Item& item) {
  const Status status = read_key(memory, own, item.key);
  item.value = request.floats();
  item.payload = request.bytes();
  item.exact_key = request.maybe_bytes();
  item.time = *request.time();
  item.ttl_ms = request.time();
  item.encoder = request.bytes();
  return status;
}

QueryOptions read_options() {
  QueryOptions options;
  options.k = static_cast<std::size_t>(request.whole(SIZE_MAX - 1));
  options.time = request.time();
  options.encoder = request.bytes();
  return options;
}

// --- Caches

Address add(Cache cache, std::vector<Pattern> patterns) {
  auto memory = std::make_unique<Memory>();
  memory->cache = std::move(cache);
  const bool own = !patterns.empty();
  const auto& id = memory->cache.config().encoder;
  if (!id) {
    memory->text = {Error::encoder_mismatch, 0, "/text",
                    "this cache was made without a text encoder"};
  } else if (auto encoder = Encoder::from_id(*id, std::move(patterns))) {
    memory->encoder = std::move(*encoder);
    if (memory->encoder.config().dimension != memory->cache.config().dimension) {
      memory->text = {Error::encoder_mismatch, 0, "/text", "the encoder has another dimension"};
    }
  } else if (own) {
    encoder.status.pointer = "/masks/own";
    return refuse(encoder.status);
  } else {
    memory->text = {Error::encoder_mismatch, 0, "/text", encoder.status.detail};
  }
  accept();
  reply.count(memories.add(std::move(memory)));
  return answer();
}

Address create_cache() {
  begin();
  const auto config = config_from_json(request.bytes());
  if (!config) return refuse(config.status);
  auto cache = Cache::create(*config);
  if (!cache) return refuse(cache.status);
  return add(std::move(*cache), read_patterns());
}

Address load_cache() {
  begin();
  const std::string_view bytes = request.bytes();
  auto cache = Cache::load(std::as_bytes(std::span(bytes)));
  if (!cache) return refuse(cache.status);
  return add(std::move(*cache), read_patterns());
}

void free_cache(std::uint32_t handle) {
  memories.remove(handle);
}

Address observe(std::uint32_t handle) {
  begin();
  Memory& memory = memories.at(handle);
  static std::vector<float> own;
  Item item;
  if (Status status = read_item(memory, own, item); !status) return refuse(status);
  const auto decision = memory.cache.observe(item);
  if (!decision) return refuse(decision.status);
  accept();
  write(reply, *decision);
  return answer();
}

Address observe_batch(std::uint32_t handle) {
  begin();
  Memory& memory = memories.at(handle);
  const auto count = static_cast<std::size_t>(request.number());
  std::vector<Item> items(count);
  std::vector<std::vector<float>> own(count);
  std::vector<Status> texts(count);  // what is wrong with them; their items have no key then
  for (std::size_t i = 0; i < count; ++i) texts[i] = read_item(memory, own[i], items[i]);
  BatchResult result = memory.cache.observe_batch(items);
  for (Status& error : result.errors) {
    Status& text = texts[error.index];
    if (text) continue;
    text.index = error.index;
    error = text;
  }
  if (!result) return refuse(result.errors);
  accept();
  for (const Decision& decision : result.decisions) write(reply, decision);
  return answer();
}

Address read(std::uint32_t handle) {
  begin();
  const Memory& memory = memories.at(handle);
  static std::vector<float> own;
  std::span<const float> key;
  if (Status status = read_key(memory, own, key); !status) return refuse(status);
  const auto reading = memory.cache.read(key, read_options());
  if (!reading) return refuse(reading.status);
  accept();
  reply.number(reading->empty ? 1.0 : 0.0);
  reply.floats(reading->value);
  reply.number(reading->null_weight);
  reply.count(reading->top.size());
  for (const Weighted& one : reading->top) {
    reply.count(one.slot);
    reply.number(one.similarity);
    reply.number(one.weight);
    reply.bytes(memory.cache.slot(one.slot)->payload);
  }
  return answer();
}

Address nearest(std::uint32_t handle) {
  begin();
  Memory& memory = memories.at(handle);
  // What load() left: by and by, so that no call takes long.
  constexpr std::size_t kKeys = 1024;
  memory.cache.prepare(kKeys);
  static std::vector<float> own;
  std::span<const float> key;
  if (Status status = read_key(memory, own, key); !status) return refuse(status);
  const auto match = memory.cache.nearest(key, read_options());
  if (!match) return refuse(match.status);
  accept();
  reply.number(*match ? static_cast<double>((*match)->slot) : kNone);
  reply.number(*match ? (*match)->similarity : kNone);
  return answer();
}

Address score(std::uint32_t handle) {
  begin();
  const Memory& memory = memories.at(handle);
  const auto count = static_cast<std::size_t>(request.number());
  std::vector<std::vector<float>> own(count);
  std::vector<std::span<const float>> keys(count);
  std::vector<Status> errors;
  const auto fail = [&](std::size_t i, Status status) {
    status.index = i;
    errors.push_back(std::move(status));
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (Status status = read_key(memory, own[i], keys[i]); !status) fail(i, std::move(status));
  }
  const QueryOptions options = read_options();
  if (!errors.empty()) return refuse(errors);
  std::vector<std::vector<Match>> results(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i].size() != memory.cache.config().dimension) {
      // score() would take several keys, or none; nearest() takes one, and says what is wrong.
      fail(i, memory.cache.nearest(keys[i], options).status);
    } else if (auto matches = memory.cache.score(keys[i], options)) {
      results[i] = std::move(matches->front());
    } else {
      fail(i, std::move(matches.status));
    }
  }
  if (!errors.empty()) return refuse(errors);
  accept();
  for (const auto& matches : results) write(matches);
  return answer();
}

Address slot(std::uint32_t handle) {
  begin();
  const auto slot = memories.at(handle).cache.slot(request.whole(kMaxInteger));
  if (!slot) return refuse(slot.status);
  accept();
  write(*slot);
  return answer();
}

Address slots(std::uint32_t handle) {
  begin();
  const std::uint64_t after = request.whole(kMaxInteger);
  const auto list =
      memories.at(handle).cache.slots(after, static_cast<std::size_t>(request.number()));
  accept();
  reply.count(list.size());
  for (const Slot& one : list) write(one);
  return answer();
}

double size(std::uint32_t handle) {
  return static_cast<double>(memories.at(handle).cache.size());
}

Address erase(std::uint32_t handle) {
  begin();
  const SlotId id = request.whole(kMaxInteger);
  const Status status = memories.at(handle).cache.erase(id, *request.time());
  return status ? done() : refuse(status);
}

Address consolidate(std::uint32_t handle) {
  begin();
  const std::optional<float> similarity = request.maybe_float();
  const auto folds = memories.at(handle).cache.consolidate(similarity, *request.time());
  if (!folds) return refuse(folds.status);
  accept();
  write(reply, *folds);
  return answer();
}

Address configure(std::uint32_t handle) {
  begin();
  const auto config = config_from_json(request.bytes());
  if (!config) return refuse(config.status);
  const Status status = memories.at(handle).cache.configure(*config, *request.time());
  return status ? done() : refuse(status);
}

Address config(std::uint32_t handle) {
  begin();
  accept();
  reply.bytes(to_json(memories.at(handle).cache.config()));
  return answer();
}

Address stats(std::uint32_t handle) {
  begin();
  const Stats stats = memories.at(handle).cache.stats();
  std::string hash;
  for (int shift = 60; shift >= 0; shift -= 4) {
    hash += "0123456789abcdef"[stats.state_hash >> shift & 15U];
  }
  accept();
  for (const std::uint64_t count :
       {stats.slots, stats.items, stats.allocations, stats.merges, stats.evictions, stats.folds,
        stats.expirations, stats.erasures, stats.next_id, stats.seq}) {
    reply.count(count);
  }
  reply.bytes(hash);
  reply.number(stats.surprise);
  reply.maybe(stats.budget);
  reply.count(stats.bytes);
  return answer();
}

Address warning(std::uint32_t handle) {
  begin();
  accept();
  reply.bytes(memories.at(handle).cache.warning());
  return answer();
}

// Whether the events of a cache's calls are to be kept for take_events().
void listen(std::uint32_t handle, std::uint32_t on) {
  memories.at(handle).cache.on_event(on != 0 ? std::function<void(const Event&)>(record) : nullptr);
}

// The events of the last call. Their number, then one after the other.
double count_events() {
  return static_cast<double>(event_count);
}
Address take_events() {
  return address(events.data());
}

Address apply(std::uint32_t handle) {
  begin();
  const std::string_view bytes = request.bytes();
  const auto event = decode_event(std::as_bytes(std::span(bytes)));
  if (!event) return refuse(event.status);
  const Status status = memories.at(handle).cache.apply(event->event());
  return status ? done() : refuse(status);
}

Address metadata(std::uint32_t handle) {
  begin();
  const auto& metadata = memories.at(handle).cache.metadata();
  accept();
  reply.count(metadata.size());
  for (const auto& [key, value] : metadata) {
    reply.bytes(key);
    reply.bytes(value);
  }
  return answer();
}

Address set_metadata(std::uint32_t handle) {
  begin();
  std::map<std::string, std::string> metadata;
  for (auto left = static_cast<std::size_t>(request.number()); left > 0; --left) {
    const std::string_view key = request.bytes();
    metadata[std::string(key)] = request.bytes();
  }
  memories.at(handle).cache.metadata() = std::move(metadata);
  return done();
}

// The memory file's address and length; free_file() gives it back.
Address save(std::uint32_t handle) {
  begin();
  const Cache& cache = memories.at(handle).cache;
  // The file is about as large as the cache, and a vector that cannot grow would end the instance.
  void* volatile probe = std::malloc(static_cast<std::size_t>(cache.stats().bytes) + (1U << 20U));
  std::free(probe);
  if (probe == nullptr) return refuse({Error::full, 0, "", "there is no memory for the file"});
  file = cache.save();
  accept();
  reply.number(address(file.data()));
  reply.count(file.size());
  return answer();
}

void free_file() {
  file = std::vector<std::byte>();
}

// --- Encoders

Address create_encoder() {
  begin();
  const auto masks = Masks::parse(request.bytes());
  if (!masks) {
    Status status = masks.status;
    status.pointer = "/masks";
    return refuse(status);
  }
  EncoderConfig config;
  config.dimension = static_cast<std::uint32_t>(request.whole(UINT32_MAX - 1));
  config.seed = request.whole(kMaxInteger);
  config.masks = *masks;
  config.masks.own = read_patterns();
  auto encoder = Encoder::create(std::move(config));
  if (!encoder) return refuse(encoder.status);
  accept();
  reply.count(encoder->config().dimension);
  reply.bytes(encoder->id());
  reply.count(encoders.add(std::make_unique<Encoder>(std::move(*encoder))));
  return answer();
}

void free_encoder(std::uint32_t handle) {
  encoders.remove(handle);
}

Address encode_text(std::uint32_t handle) {
  begin();
  const Encoder& encoder = encoders.at(handle);
  static std::vector<float> vector;
  vector.resize(encoder.config().dimension);
  if (Status status = encoder.encode(request.bytes(), vector); !status) return refuse(status);
  accept();
  reply.floats(vector);
  return answer();
}

Address mask_text(std::uint32_t handle) {
  begin();
  const auto masked = encoders.at(handle).mask(request.bytes());
  if (!masked) return refuse(masked.status);
  accept();
  reply.bytes(*masked);
  return answer();
}

// --- The border itself

Address reserve(std::uint32_t cells) {
  return address(request.reserve(cells));
}

// Gives back what a large call left behind; the request has no cells then.
void trim() {
  request.free();
  reply.free();
  events.free();
}

double text_tau() {
  return static_cast<double>(kTextTau);
}

EMSCRIPTEN_BINDINGS(dpcache) {
  using emscripten::function;
  function("reserve", &reserve);
  function("trim", &trim);
  function("textTau", &text_tau);
  function("createCache", &create_cache);
  function("loadCache", &load_cache);
  function("freeCache", &free_cache);
  function("observe", &observe);
  function("observeBatch", &observe_batch);
  function("read", &read);
  function("nearest", &nearest);
  function("score", &score);
  function("slot", &slot);
  function("slots", &slots);
  function("size", &size);
  function("erase", &erase);
  function("consolidate", &consolidate);
  function("configure", &configure);
  function("config", &config);
  function("stats", &stats);
  function("warning", &warning);
  function("listen", &listen);
  function("countEvents", &count_events);
  function("takeEvents", &take_events);
  function("apply", &apply);
  function("metadata", &metadata);
  function("setMetadata", &set_metadata);
  function("save", &save);
  function("freeFile", &free_file);
  function("createEncoder", &create_encoder);
  function("freeEncoder", &free_encoder);
  function("encodeText", &encode_text);
  function("maskText", &mask_text);
}

}  // namespace
}  // namespace dpcache::wasm
