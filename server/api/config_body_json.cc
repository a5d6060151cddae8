// Configs, by nlohmann/json: they are small and rare.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/config_body.h"
#include "dpcache/text.h"

namespace dpcache::server {

namespace {

using nlohmann::json;

Status bad(std::string pointer, std::string detail, Error code = Error::bad_config) {
  return {code, 0, std::move(pointer), std::move(detail)};
}

Result<EncoderConfig> read_encoder(const json& text) {
  EncoderConfig config;
  config.masks = Masks::all();
  if (text.is_boolean() && text.get<bool>()) return config;
  if (!text.is_object()) return bad("/text", "must be true, or an object");
  for (const auto& [name, value] : text.items()) {
    if (name == "dimension" && value.is_number_unsigned() && value.get<std::uint64_t>() <= 65536) {
      config.dimension = value.get<std::uint32_t>();
    } else if (name == "seed" && value.is_number_unsigned()) {
      config.seed = value.get<std::uint64_t>();
    } else if (name == "masks" && value.is_string()) {
      auto masks = Masks::parse(value.get<std::string>());
      if (!masks) return bad("/text/masks", masks.status.detail);
      config.masks = std::move(*masks);
    } else {
      return bad("/text/" + name, "there is no such setting, or its type is wrong");
    }
  }
  return config;
}

// The encoder's id, dimension and tau, where none are given.
Status take_text(json& fields) {
  const auto config = read_encoder(fields["text"]);
  if (!config) return config.status;
  const auto encoder = Encoder::create(*config);
  if (!encoder) return bad("/text" + encoder.status.pointer, encoder.status.detail);
  fields.erase("text");
  const auto set = [&](const char* name, const json& value) -> Status {
    if (fields.contains(name) && fields[name] != value) {
      return bad("/" + std::string(name), "is not that of text");
    }
    fields[name] = value;
    return {};
  };
  if (Status status = set("dimension", encoder->config().dimension); !status) return status;
  if (Status status = set("encoder", encoder->id()); !status) return status;
  if (!fields.contains("tau") && !fields.contains("gate")) fields["tau"] = kTextTau;
  return {};
}

}  // namespace

Result<SentConfig> read_config(std::string_view body) {
  json fields = json::parse(body, nullptr, false);
  if (!fields.is_object()) return bad("", "the body must be a JSON object", Error::bad_request);
  SentConfig sent;
  if (fields.contains("durability")) {
    const json& durability = fields["durability"];
    if (durability != "sync" && durability != "relaxed") {
      return bad("/durability", "must be 'sync' or 'relaxed'");
    }
    sent.settings = Settings{durability == "sync" ? Durability::sync : Durability::relaxed};
    fields.erase("durability");
  }
  for (const char* name : {"text", "dimension", "encoder", "tau", "gate"}) {
    if (fields.contains(name) && fields[name].is_null()) fields.erase(name);
  }
  if (fields.contains("text")) {
    if (Status status = take_text(fields); !status) return status;
  }
  auto config = config_from_json(fields.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!config) return std::move(config.status);
  sent.config = std::move(*config);
  return sent;
}

Result<std::optional<float>> read_similarity(std::string_view body) {
  if (body.empty()) return std::optional<float>();
  const json fields = json::parse(body, nullptr, false);
  if (!fields.is_object()) return bad("", "the body must be a JSON object", Error::bad_request);
  std::optional<float> similarity;
  for (const auto& [name, value] : fields.items()) {
    if (name != "similarity") {
      return bad("/" + name, "there is no such field", Error::bad_request);
    }
    if (!value.is_number()) return bad("/similarity", "must be a number", Error::bad_request);
    similarity = value.get<float>();
  }
  return similarity;
}

namespace {

// The id of a slot or an event, from 1.
Status read_number(const json& value, const std::string& pointer, std::uint64_t& number) {
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 &&
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMaxInteger);
  if (!fits) return bad(pointer, "must be an integer from 1 to 2^53 - 1", Error::bad_request);
  number = value.get<std::uint64_t>();
  return {};
}

Status read_judgement(const json& value, Judgement& verdict) {
  for (const Judgement one : {Judgement::same, Judgement::different, Judgement::unknown}) {
    if (value != to_string(one)) continue;
    verdict = one;
    return {};
  }
  return bad("/verdict", "must be same, different or unknown", Error::bad_request);
}

}  // namespace

Result<Judgement> read_judgement(std::string_view body) {
  const json fields = json::parse(body, nullptr, false);
  if (!fields.is_object()) return bad("", "the body must be a JSON object", Error::bad_request);
  for (const auto& [name, value] : fields.items()) {
    if (name != "verdict") return bad("/" + name, "there is no such field", Error::bad_request);
  }
  if (!fields.contains("verdict")) return bad("/verdict", "is needed", Error::bad_request);
  Judgement verdict{};
  if (Status status = read_judgement(fields["verdict"], verdict); !status) return status;
  return verdict;
}

Result<SentVerdict> read_verdict(std::string_view body) {
  const json fields = json::parse(body, nullptr, false);
  if (!fields.is_object()) return bad("", "the body must be a JSON object", Error::bad_request);
  SentVerdict sent;
  for (const auto& [name, value] : fields.items()) {
    if (name == "slot" || name == "other" || name == "into") {
      SlotId& id = name == "slot" ? sent.slot : name == "other" ? sent.other : sent.into;
      if (Status status = read_number(value, "/" + name, id); !status) return status;
    } else if (name == "verdict") {
      if (Status status = read_judgement(value, sent.verdict); !status) return status;
    } else {
      return bad("/" + name, "there is no such field", Error::bad_request);
    }
  }
  for (const char* name : {"slot", "other", "verdict"}) {
    if (!fields.contains(name)) {
      return bad(std::string("/") + name, "is needed", Error::bad_request);
    }
  }
  const bool is_one = sent.into == sent.slot || sent.into == sent.other;
  if (sent.into != 0 && (!is_one || sent.verdict != Judgement::same)) {
    return bad("/into", "must be slot or other, and the verdict same", Error::bad_request);
  }
  return sent;
}

Result<AdvisorOptions> read_advisor_options(std::string_view body) {
  AdvisorOptions options;
  options.sample = std::min(options.sample, kMostAdvised);
  if (body.empty()) return options;
  const json fields = json::parse(body, nullptr, false);
  if (!fields.is_object()) return bad("", "the body must be a JSON object", Error::bad_request);
  for (const auto& [name, value] : fields.items()) {
    if (name == "sample") {
      if (!value.is_number_unsigned() || value < 2U || value > kMostAdvised) {
        return bad("/sample", "must be an integer from 2 to " + std::to_string(kMostAdvised),
                   Error::bad_request);
      }
      options.sample = value.get<std::size_t>();
    } else if (name == "taus") {
      if (!value.is_array() || value.empty() || value.size() > 64) {
        return bad("/taus", "must be an array of 1 to 64 numbers", Error::bad_request);
      }
      options.taus.clear();
      for (const json& tau : value) {
        if (!tau.is_number() || !(tau.get<double>() >= 0.0 && tau.get<double>() <= 2.0)) {
          return bad("/taus/" + std::to_string(options.taus.size()), "must be a number from 0 to 2",
                     Error::bad_request);
        }
        options.taus.push_back(tau.get<float>());
      }
    } else {
      return bad("/" + name, "there is no such field", Error::bad_request);
    }
  }
  return options;
}

}  // namespace dpcache::server
