// JSON of configs, counters and safetensors headers.
#include "json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "digits.h"
#include "json_text.h"
#include "validate.h"

namespace dpcache {

namespace {

// The names of an enum's values, in the order of the values.
constexpr std::array kKeyUpdates = {"frozen", "centroid"};
constexpr std::array kValueUpdates = {"first", "last", "mean", "ema"};
constexpr std::array kBudgets = {"none", "fixed", "adaptive", "ghost"};
constexpr std::array kShrinks = {"evict", "merge"};
#if DPCACHE_TRUST
constexpr std::array kAudits = {"none", "ids", "full"};
#endif

// Settings and counters are short: a longer text is refused unread.
constexpr std::size_t kLongestText = 65536;

// Reads the fields of an object one by one; keeps the first problem, and knows which keys are left.
// Of a key that stands there twice the last value counts.
class Fields {
 public:
  // The text must outlive this.
  explicit Fields(std::string_view object, std::string prefix = "") : prefix_(std::move(prefix)) {
    if (object.size() > kLongestText) return;
    JsonReader reader(object);
    if (reader.next() != JsonToken::begin_object) return;
    while (reader.next() == JsonToken::key) {
      std::string key = reader.take_text();
      const std::size_t begin = reader.position();
      int depth = 0;
      do {
        const JsonToken token = reader.next();
        if (token == JsonToken::fault) return;
        if (token == JsonToken::begin_object || token == JsonToken::begin_array) ++depth;
        if (token == JsonToken::end_object || token == JsonToken::end_array) --depth;
      } while (depth > 0);
      fields_.push_back({std::move(key), object.substr(begin, reader.position() - begin)});
    }
    is_object_ = reader.next() == JsonToken::end;
  }

  bool is_object() const { return is_object_; }

  Status status() const {
    if (!status_) return status_;
    for (const Field& field : fields_) {
      if (std::find(known_.begin(), known_.end(), field.key) == known_.end()) {
        return {Error::bad_config, 0, prefix_ + "/" + escaped(field.key),
                "there is no such setting"};
      }
    }
    return status_;
  }

  // Whether the key is there and not null.
  bool find(std::string_view key) {
    known_.push_back(key);
    value_ = {};
    for (const Field& field : fields_) {
      if (field.key == key) value_ = field.value;
    }
    reader_ = JsonReader(value_);
    token_ = value_.empty() ? JsonToken::null : reader_.next();
    return token_ != JsonToken::null;
  }
  // The value that was found last: its text, or what kind it is of and what it is.
  std::string_view value() const { return value_; }
  JsonToken token() const { return token_; }
  const JsonReader& read() const { return reader_; }

  template <class T>
  void integer(const char* key, T& out) {
    if (!find(key)) return;
    constexpr auto kLeast = std::is_unsigned_v<T> ? 0 : std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost =
        std::min(std::uint64_t{kMaxInteger}, std::uint64_t{std::numeric_limits<T>::max()});
    if (is_integer(key, kLeast, kMost)) out = static_cast<T>(reader_.natural());
  }
  template <class T>
  void integer(const char* key, std::optional<T>& out) {
    T value{};
    integer(key, value);
    if (token_ != JsonToken::null) out = value;
  }

  void number(const char* key, float& out) {
    if (!find(key)) return;
    const bool is_number = token_ == JsonToken::natural || token_ == JsonToken::negative ||
                           token_ == JsonToken::fraction;
    if (!is_number) return refuse(key, "must be a number");
    out = static_cast<float>(reader_.number());
  }
  void number(const char* key, std::optional<float>& out) {
    float value = 0.0F;
    number(key, value);
    if (token_ != JsonToken::null) out = value;
  }

  void boolean(const char* key, bool& out) {
    if (!find(key)) return;
    if (token_ != JsonToken::yes && token_ != JsonToken::no) {
      return refuse(key, "must be true or false");
    }
    out = token_ == JsonToken::yes;
  }

  void text(const char* key, std::optional<std::string>& out) {
    if (!find(key)) return;
    if (token_ != JsonToken::string) return refuse(key, "must be a string");
    out = reader_.take_text();
  }

  template <class Enum>
  void choice(const char* key, std::span<const char* const> names, Enum& out) {
    if (find(key)) out = static_cast<Enum>(place(key, names, static_cast<std::size_t>(out)));
  }

  void refuse(const char* key, const char* detail) {
    if (status_) {
      status_ = {Error::bad_config, 0, prefix_ + "/" + key, std::string(key) + " " + detail};
    }
  }
  void adopt(const Status& status) {
    if (status_ && !status) status_ = status;
  }

 private:
  struct Field {
    std::string key;
    std::string_view value;
  };

  bool is_integer(const char* key, std::int64_t least, std::uint64_t most) {
    if (token_ != JsonToken::natural && token_ != JsonToken::negative) {
      refuse(key, "must be an integer");
      return false;
    }
    const bool fits =
        token_ == JsonToken::natural ? reader_.natural() <= most : reader_.negative() >= least;
    if (!fits) refuse(key, "is out of its range");
    return fits;
  }

  // The place of the found value among the names, or `otherwise`.
  std::size_t place(const char* key, std::span<const char* const> names, std::size_t otherwise) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (token_ == JsonToken::string && reader_.text() == names[i]) return i;
    }
    std::string detail = "must be one of";
    for (const char* name : names) detail.append(" ").append(name);
    refuse(key, detail.c_str());
    return otherwise;
  }

  // RFC 6901, section 3.
  static std::string escaped(const std::string& key) {
    std::string out;
    for (char c : key) {
      if (c == '~') {
        out += "~0";
      } else if (c == '/') {
        out += "~1";
      } else {
        out += c;
      }
    }
    return out;
  }

  std::string prefix_;
  std::vector<Field> fields_;
  bool is_object_ = false;
  std::vector<std::string_view> known_;
  std::string_view value_;
  JsonReader reader_{""};
  JsonToken token_ = JsonToken::null;
  Status status_;
};

// Reads the header of a safetensors file, and stops at the first thing that does not belong there,
// so that a hostile text costs no more than it is long.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : reader_(text) {}

  std::optional<SafetensorsHeader> read() && {
    if (reader_.next() != JsonToken::begin_object) return {};
    while (key()) {
      std::string name = reader_.take_text();
      if (!names_.insert(name).second) return {};
      if (name == "__metadata__" ? !metadata() : !tensor(std::move(name))) return {};
    }
    if (token_ != JsonToken::end_object || reader_.next() != JsonToken::end) return {};
    return std::move(header_);
  }

 private:
  bool key() {
    token_ = reader_.next();
    return token_ == JsonToken::key;
  }

  bool metadata() {
    if (reader_.next() != JsonToken::begin_object) return false;
    while (key()) {
      std::string name = reader_.take_text();
      if (reader_.next() != JsonToken::string) return false;
      if (!header_.metadata.emplace(std::move(name), reader_.take_text()).second) {
        return false;
      }
    }
    return token_ == JsonToken::end_object;
  }

  // Each of the three fields once.
  bool tensor(std::string name) {
    TensorInfo& tensor = header_.tensors.emplace_back();
    tensor.name = std::move(name);
    std::vector<std::uint64_t> offsets;
    unsigned seen = 0;
    if (reader_.next() != JsonToken::begin_object) return false;
    while (key()) {
      const std::string field = reader_.take_text();
      unsigned mark = 0;
      bool sane = false;
      if (field == "dtype") {
        mark = 1;
        sane = reader_.next() == JsonToken::string;
        tensor.dtype = reader_.take_text();
      } else if (field == "shape") {
        mark = 2;
        sane = list(tensor.shape, std::numeric_limits<std::size_t>::max());
      } else if (field == "data_offsets") {
        mark = 4;
        sane = list(offsets, 2) && offsets.size() == 2;
      }
      if (!sane || (seen & mark) != 0) return false;
      seen |= mark;
    }
    if (token_ != JsonToken::end_object || seen != 7) return false;
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    return true;
  }

  // Appends up to `most` numbers.
  bool list(std::vector<std::uint64_t>& out, std::size_t most) {
    if (reader_.next() != JsonToken::begin_array) return false;
    for (;;) {
      const JsonToken token = reader_.next();
      if (token == JsonToken::end_array) return true;
      if (token != JsonToken::natural || out.size() == most) return false;
      out.push_back(reader_.natural());
    }
  }

  JsonReader reader_;
  JsonToken token_ = JsonToken::fault;
  SafetensorsHeader header_;
  std::set<std::string> names_;  // of tensors, and "__metadata__"
};

#if DPCACHE_TRUST
// A list of names of guards. False: it is none.
bool read_guards(std::string_view list, GuardSet& guards) {
  JsonReader reader(list);
  if (reader.next() != JsonToken::begin_array) return false;
  for (;;) {
    const JsonToken token = reader.next();
    if (token == JsonToken::end_array) return true;
    if (token != JsonToken::string) return false;
    const std::string name = reader.take_text();
    const auto at = std::find(kGuardNames.begin(), kGuardNames.end(), name);
    if (at == kGuardNames.end()) return false;
    guards.add(static_cast<Guard>(at - kGuardNames.begin()));
  }
}
#endif

// Every counter under its name.
template <class C, class Visit>
void each_counter(C& counters, Visit visit) {
  visit("items", counters.items);
  visit("allocations", counters.allocations);
  visit("merges", counters.merges);
  visit("evictions", counters.evictions);
  visit("folds", counters.folds);
  visit("expirations", counters.expirations);
  visit("erasures", counters.erasures);
  visit("next_id", counters.next_id);
  visit("seq", counters.seq);
}

}  // namespace

std::string to_json(const Config& config) {
  const auto name = [](const auto& names, auto value) {
    return names[static_cast<std::size_t>(value)];
  };
  JsonObject json;
  json.natural("dimension", config.dimension);
  json.natural("value_dimension", config.value_dimension);
  if (config.tau) json.number("tau", *config.tau);
  if (config.gate) {
    JsonObject gate;
    gate.number("a", config.gate->a);
    gate.number("b", config.gate->b);
    json.raw("gate", std::move(gate).text());
  }
  json.number("theta", config.theta);
  json.string("key_update", name(kKeyUpdates, config.key_update));
  json.string("value_update", name(kValueUpdates, config.value_update));
  json.number("ema", config.ema);
  json.number("usage_decay", config.usage_decay);
  json.string("budget", name(kBudgets, config.budget));
  if (config.max_slots) json.natural("max_slots", *config.max_slots);
  json.boolean("keep_sums", config.keep_sums);
  json.number("m0", config.m0);
  json.number("beta", config.beta);
  json.number("eta", config.eta);
  json.string("shrink", name(kShrinks, config.shrink));
  if (config.null_similarity) json.number("null_similarity", *config.null_similarity);
  if (config.ttl_ms) json.integer("ttl_ms", *config.ttl_ms);
  if (config.encoder) json.string("encoder", *config.encoder);
#if DPCACHE_TRUST  // only what is used: a config of before is the same text
  if (config.tau_merge) json.number("tau_merge", *config.tau_merge);
  if (config.audit != Audit::none) json.string("audit", name(kAudits, config.audit));
  if (config.audit_members != Config{}.audit_members) {
    json.natural("audit_members", config.audit_members);
  }
  if (!config.guards.empty()) {
    std::string names;
    for (const std::string_view guard : config.guards.list()) {
      names += names.empty() ? '[' : ',';
      append_quoted(guard, names);
    }
    json.raw("guards", names + ']');
  }
  if (config.correction_rate) json.number("correction_rate", *config.correction_rate);
#endif
  return std::move(json).text();
}

Result<Config> config_from_json(std::string_view text) {
  Fields fields(text);
  Result<Config> result;
  if (!fields.is_object()) {
    result.status = {Error::bad_request, 0, "",
                     "the config is not a JSON object of at most 64 KiB"};
    return result;
  }
  Config& config = result.value;
  fields.integer("dimension", config.dimension);
  fields.integer("value_dimension", config.value_dimension);
  fields.number("tau", config.tau);
  if (fields.find("gate")) {
    if (fields.token() == JsonToken::begin_object) {
      Fields parts(fields.value(), "/gate");
      config.gate.emplace();
      parts.number("a", config.gate->a);
      parts.number("b", config.gate->b);
      fields.adopt(parts.status());
    } else {
      fields.refuse("gate", "must be an object with a and b");
    }
  }
  fields.number("theta", config.theta);
  fields.choice("key_update", kKeyUpdates, config.key_update);
  fields.choice("value_update", kValueUpdates, config.value_update);
  fields.number("ema", config.ema);
  fields.number("usage_decay", config.usage_decay);
  fields.choice("budget", kBudgets, config.budget);
  fields.integer("max_slots", config.max_slots);
  fields.boolean("keep_sums", config.keep_sums);
  fields.number("m0", config.m0);
  fields.number("beta", config.beta);
  fields.number("eta", config.eta);
  fields.choice("shrink", kShrinks, config.shrink);
  fields.number("null_similarity", config.null_similarity);
  fields.integer("ttl_ms", config.ttl_ms);
  fields.text("encoder", config.encoder);
#if DPCACHE_TRUST
  fields.number("tau_merge", config.tau_merge);
  fields.choice("audit", kAudits, config.audit);
  fields.integer("audit_members", config.audit_members);
  fields.number("correction_rate", config.correction_rate);
  if (fields.find("guards") && !read_guards(fields.value(), config.guards)) {
    fields.refuse("guards", ("must be a list of names: " + GuardSet::all().names()).c_str());
  }
#endif
  result.status = fields.status();
  if (result) result.status = check(config);
  return result;
}

std::string to_json(const SafetensorsHeader& header) {
  JsonObject metadata;
  std::set<std::string> keys;  // two that are no UTF-8 may become one
  for (const auto& [key, value] : header.metadata) {
    std::string quoted;
    append_quoted(key, quoted);
    if (keys.insert(quoted).second) metadata.string(key, value);
  }
  JsonObject json;
  json.raw("__metadata__", std::move(metadata).text());
  for (const TensorInfo& tensor : header.tensors) {
    std::string shape;
    for (std::uint64_t length : tensor.shape) {
      shape += shape.empty() ? '[' : ',';
      shape += whole_number(length);
    }
    JsonObject entry;
    entry.string("dtype", tensor.dtype);
    entry.raw("shape", shape.empty() ? "[]" : shape + ']');
    entry.raw("data_offsets",
              '[' + whole_number(tensor.begin) + ',' + whole_number(tensor.end) + ']');
    json.raw(tensor.name, std::move(entry).text());
  }
  return std::move(json).text();
}

std::optional<SafetensorsHeader> header_from_json(std::string_view text) {
  return HeaderReader(text).read();
}

std::string to_json(const Counters& counters) {
  JsonObject json;
  each_counter(counters, [&](const char* name, std::uint64_t value) { json.natural(name, value); });
#if DPCACHE_TRUST
  if (counters.splits != 0) json.natural("splits", counters.splits);
#endif
  return std::move(json).text();
}

std::optional<Counters> counters_from_json(std::string_view text) {
  Fields fields(text);
  if (!fields.is_object()) return {};
  Counters counters;
  bool complete = true;
  each_counter(counters, [&](const char* name, std::uint64_t& value) {
    complete = complete && fields.find(name) && fields.token() == JsonToken::natural &&
               fields.read().natural() <= kMaxId + 1;
    if (complete) value = fields.read().natural();
  });
  if (!complete) return {};
#if DPCACHE_TRUST
  if (fields.find("splits")) {
    if (fields.token() != JsonToken::natural || fields.read().natural() > kMaxId) return {};
    counters.splits = fields.read().natural();
  }
#endif
  return counters;
}

}  // namespace dpcache
