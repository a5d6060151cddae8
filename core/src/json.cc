// JSON of configs, counters and safetensors headers.
#include "json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "validate.h"

namespace dpcache {

namespace {

using Json = nlohmann::ordered_json;

// The names of an enum's values, in the order of the values.
constexpr std::array kKeyUpdates = {"frozen", "centroid"};
constexpr std::array kValueUpdates = {"first", "last", "mean", "ema"};
constexpr std::array kBudgets = {"none", "fixed", "adaptive", "ghost"};
constexpr std::array kShrinks = {"evict", "merge"};

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Settings and counters are short. A longer text is refused unread, because the parser's time grows
// with the square of the number of keys; and so is a NUL, at which the parser would stop.
constexpr std::size_t kLongestText = 65536;

std::optional<Json> parse_object(std::string_view text) {
  if (text.size() > kLongestText || text.find('\0') != std::string_view::npos) return {};
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return {};
  return json;
}

// The double whose shortest decimal form is the shortest one that gives this float back: 0.4F is
// written as 0.4, not as 0.4000000059604645.
double shortest(float x) {
  std::array<char, 32> text;
  double value = 0.0;
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, static_cast<double>(x));
    value = std::strtod(text.data(), nullptr);
    if (static_cast<float>(value) == x) break;
  }
  return value;
}

// Reads the fields of an object one by one; keeps the first problem, and knows which keys are left.
class Fields {
 public:
  explicit Fields(const Json& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  Status status() const {
    if (!status_ || seen_ == object_.size()) return status_;
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        return {Error::bad_config, 0, prefix_ + "/" + escaped(key), "there is no such setting"};
      }
    }
    return status_;
  }

  // The value of a key that is there and not null.
  const Json* find(const char* key) {
    known_.emplace_back(key);
    const auto at = object_.find(key);
    if (at == object_.end()) return nullptr;
    ++seen_;
    return at->is_null() ? nullptr : &*at;
  }

  template <class T>
  void integer(const char* key, T& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number_integer()) return refuse(key, "must be an integer");
    const bool below_zero = !value->is_number_unsigned() && value->get<std::int64_t>() < 0;
    const bool too_large =
        value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{kMaxInteger};
    const auto number = too_large ? kMaxInteger + 1 : value->get<std::int64_t>();
    if (too_large || (below_zero && std::is_unsigned_v<T>) ||
        static_cast<std::int64_t>(static_cast<T>(number)) != number) {
      return refuse(key, "is out of its range");
    }
    out = static_cast<T>(number);
  }
  template <class T>
  void integer(const char* key, std::optional<T>& out) {
    if (!present(key)) return void(find(key));
    T value{};
    integer(key, value);
    out = value;
  }

  void number(const char* key, float& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number()) return refuse(key, "must be a number");
    out = static_cast<float>(value->get<double>());
  }
  void number(const char* key, std::optional<float>& out) {
    if (!present(key)) return void(find(key));
    float value = 0.0F;
    number(key, value);
    out = value;
  }

  void boolean(const char* key, bool& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return refuse(key, "must be true or false");
    out = value->get<bool>();
  }

  void text(const char* key, std::optional<std::string>& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return refuse(key, "must be a string");
    out = value->get_ref<const std::string&>();
  }

  template <class Enum, std::size_t N>
  void choice(const char* key, const std::array<const char*, N>& names, Enum& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    for (std::size_t i = 0; i < N; ++i) {
      if (value->is_string() && value->get_ref<const std::string&>() == names[i]) {
        out = static_cast<Enum>(i);
        return;
      }
    }
    std::string detail = "must be one of";
    for (const char* name : names) detail += std::string(" ") + name;
    refuse(key, detail.c_str());
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
  bool present(const char* key) const {
    const auto at = object_.find(key);
    return at != object_.end() && !at->is_null();
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

  const Json& object_;
  std::string prefix_;
  std::vector<std::string> known_;
  std::size_t seen_ = 0;
  Status status_;
};

// Reads the header of a safetensors file as it is parsed, and stops at the first thing that does
// not belong there, so that a hostile text costs no more than it is long.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader header() && { return std::move(header_); }

  bool start_object(std::size_t /*size*/) override {
    if (place_ == Place::outside) return go(Place::top);
    if (place_ != Place::entry) return false;
    if (key_ == "__metadata__") return go(Place::metadata);
    header_.tensors.emplace_back().name = key_;
    seen_ = 0;
    return go(Place::tensor);
  }
  bool end_object() override {
    if (place_ == Place::tensor && seen_ != (kDtype | kShape | kOffsets)) return false;
    return go(place_ == Place::top ? Place::outside : Place::top);
  }
  bool key(string_t& key) override {
    key_ = key;
    switch (place_) {
      case Place::top:
        return names_.insert(key).second && go(Place::entry);
      case Place::metadata:
        return !header_.metadata.contains(key);
      case Place::tensor:
        if (key == "dtype") return see(kDtype);
        if (key == "shape") return see(kShape);
        return key == "data_offsets" && see(kOffsets);
      default:
        return false;
    }
  }
  bool string(string_t& text) override {
    if (place_ == Place::metadata) return header_.metadata.emplace(key_, std::move(text)).second;
    if (place_ != Place::tensor || key_ != "dtype") return false;
    header_.tensors.back().dtype = std::move(text);
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    offsets_.clear();
    return place_ == Place::tensor && key_ != "dtype" && go(Place::list);
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (place_ != Place::list) return false;
    if (key_ == "shape") {
      header_.tensors.back().shape.push_back(number);
      return true;
    }
    offsets_.push_back(number);
    return offsets_.size() <= 2;
  }
  bool end_array() override {
    if (key_ == "data_offsets") {
      if (offsets_.size() != 2) return false;
      header_.tensors.back().begin = offsets_[0];
      header_.tensors.back().end = offsets_[1];
    }
    return go(Place::tensor);
  }
  bool null() override { return false; }
  bool boolean(bool /*value*/) override { return false; }
  bool number_integer(number_integer_t /*value*/) override { return false; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return false; }
  bool binary(binary_t& /*value*/) override { return false; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  enum class Place { outside, top, entry, metadata, tensor, list };
  static constexpr unsigned kDtype = 1;
  static constexpr unsigned kShape = 2;
  static constexpr unsigned kOffsets = 4;

  bool go(Place place) {
    place_ = place;
    return true;
  }
  bool see(unsigned field) {  // false: it stands there twice
    const bool fresh = (seen_ & field) == 0;
    seen_ |= field;
    return fresh;
  }

  SafetensorsHeader header_;
  std::set<std::string> names_;  // of tensors, and "__metadata__"
  Place place_ = Place::outside;
  std::string key_;
  unsigned seen_ = 0;  // fields of the tensor at hand
  std::vector<std::uint64_t> offsets_;
};

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
  Json json;
  json["dimension"] = config.dimension;
  json["value_dimension"] = config.value_dimension;
  if (config.tau) json["tau"] = shortest(*config.tau);
  if (config.gate)
    json["gate"] = {{"a", shortest(config.gate->a)}, {"b", shortest(config.gate->b)}};
  json["theta"] = shortest(config.theta);
  json["key_update"] = kKeyUpdates[static_cast<std::size_t>(config.key_update)];
  json["value_update"] = kValueUpdates[static_cast<std::size_t>(config.value_update)];
  json["ema"] = shortest(config.ema);
  json["usage_decay"] = shortest(config.usage_decay);
  json["budget"] = kBudgets[static_cast<std::size_t>(config.budget)];
  if (config.max_slots) json["max_slots"] = *config.max_slots;
  json["keep_sums"] = config.keep_sums;
  json["m0"] = shortest(config.m0);
  json["beta"] = shortest(config.beta);
  json["eta"] = shortest(config.eta);
  json["shrink"] = kShrinks[static_cast<std::size_t>(config.shrink)];
  if (config.null_similarity) json["null_similarity"] = shortest(*config.null_similarity);
  if (config.ttl_ms) json["ttl_ms"] = *config.ttl_ms;
  if (config.encoder) json["encoder"] = *config.encoder;
  return dump(json);
}

Result<Config> config_from_json(std::string_view text) {
  const std::optional<Json> json = parse_object(text);
  if (!json)
    return Status{Error::bad_request, 0, "", "the config is not a JSON object of at most 64 KiB"};
  Config config;
  Fields fields(*json);
  fields.integer("dimension", config.dimension);
  fields.integer("value_dimension", config.value_dimension);
  fields.number("tau", config.tau);
  if (const Json* gate = fields.find("gate")) {
    if (gate->is_object()) {
      Fields parts(*gate, "/gate");
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
  if (Status status = fields.status(); !status) return status;
  if (Status status = check(config); !status) return status;
  return config;
}

// Written piece by piece: in an object of this kind of JSON each new key is compared with all
// others.
std::string to_json(const SafetensorsHeader& header) {
  std::string out = "{\"__metadata__\":{";
  std::set<std::string> keys;  // two that are no UTF-8 may become one
  for (const auto& [key, value] : header.metadata) {
    const std::string text = dump(Json(key));
    if (!keys.insert(text).second) continue;
    if (out.back() != '{') out += ',';
    out += text + ':' + dump(Json(value));
  }
  out += '}';
  for (const TensorInfo& tensor : header.tensors) {
    const Json entry = {{"dtype", tensor.dtype},
                        {"shape", tensor.shape},
                        {"data_offsets", {tensor.begin, tensor.end}}};
    out += ',' + dump(Json(tensor.name)) + ':' + dump(entry);
  }
  return out + '}';
}

std::optional<SafetensorsHeader> header_from_json(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return {};  // where the parser would stop
  HeaderReader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return {};
  return std::move(reader).header();
}

std::string to_json(const Counters& counters) {
  Json json;
  each_counter(counters, [&](const char* name, std::uint64_t value) { json[name] = value; });
  return dump(json);
}

std::optional<Counters> counters_from_json(std::string_view text) {
  const std::optional<Json> json = parse_object(text);
  if (!json) return {};
  Counters counters;
  bool complete = true;
  each_counter(counters, [&](const char* name, std::uint64_t& value) {
    const auto at = json->find(name);
    complete = complete && at != json->end() && at->is_number_unsigned();
    if (complete) value = at->get<std::uint64_t>();
    complete = complete && value <= kMaxId + 1;
  });
  if (!complete) return {};
  return counters;
}

}  // namespace dpcache
