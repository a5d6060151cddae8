// JSON of configs, counters and safetensors headers.
#include "json.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>

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

std::optional<Json> parse_object(std::string_view text) {
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
  if (!json) return Status{Error::bad_request, 0, "", "the config is not a JSON object"};
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

std::string to_json(const SafetensorsHeader& header) {
  Json json;
  Json& metadata = json["__metadata__"] = Json::object();
  for (const auto& [key, value] : header.metadata) metadata[key] = value;
  for (const TensorInfo& tensor : header.tensors) {
    json[tensor.name] = {{"dtype", tensor.dtype},
                         {"shape", tensor.shape},
                         {"data_offsets", {tensor.begin, tensor.end}}};
  }
  return dump(json);
}

std::optional<SafetensorsHeader> header_from_json(std::string_view text) {
  const std::optional<Json> json = parse_object(text);
  if (!json) return {};
  const auto unsigned_list = [](const Json& list, std::vector<std::uint64_t>& out) {
    if (!list.is_array()) return false;
    for (const Json& number : list) {
      if (!number.is_number_unsigned()) return false;
      out.push_back(number.get<std::uint64_t>());
    }
    return true;
  };
  SafetensorsHeader header;
  for (const auto& [name, entry] : json->items()) {
    if (!entry.is_object()) return {};
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) return {};
        header.metadata[key] = value.get_ref<const std::string&>();
      }
      continue;
    }
    const auto dtype = entry.find("dtype");
    const auto shape = entry.find("shape");
    const auto offsets = entry.find("data_offsets");
    if (dtype == entry.end() || shape == entry.end() || offsets == entry.end()) return {};
    TensorInfo tensor;
    std::vector<std::uint64_t> ends;
    if (!dtype->is_string() || !unsigned_list(*shape, tensor.shape) ||
        !unsigned_list(*offsets, ends) || ends.size() != 2) {
      return {};
    }
    tensor.name = name;
    tensor.dtype = dtype->get_ref<const std::string&>();
    tensor.begin = ends[0];
    tensor.end = ends[1];
    header.tensors.push_back(std::move(tensor));
  }
  return header;
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
