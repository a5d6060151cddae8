// A gate's file.
#include <array>
#include <nlohmann/json.hpp>

#include "cli/failure.h"
#include "cli/gate_file.h"
#include "cli/input.h"
#include "cli/json_text.h"

namespace dpcache::cli {

std::string gate_text(const Config& config) {
  nlohmann::ordered_json json;
  json["dimension"] = config.dimension;
  if (config.gate) {
    json["gate"]["a"] = json_number(config.gate->a);
    json["gate"]["b"] = json_number(config.gate->b);
  }
  if (config.tau) json["tau"] = json_number(*config.tau);
  if (config.encoder) json["encoder"] = *config.encoder;
  return json_text(json) + '\n';
}

namespace {

Config read_config(const std::string& path, const std::string& is_not) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  Input input(path);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = input.read(part.data(), part.size())) > 0;) {
    text.append(part.data(), got);
    if (text.size() > kMost) throw Failure(Exit::input, path + is_not + "it has more than 1 MiB");
  }
  auto config = config_from_json(text);
  if (!config) throw Failure(Exit::input, path + is_not + config.status.detail);
  return std::move(*config);
}

}  // namespace

Config read_gate_file(const std::string& path) {
  auto config = read_config(path, ": is not a gate's file: ");
  if (!config.gate && !config.tau) {
    throw Failure(Exit::input, path + ": names neither a gate nor a tau");
  }
  return config;
}

Config read_settings_file(const std::string& path) {
  return read_config(path, ": are no settings of a cache: ");
}

}  // namespace dpcache::cli
