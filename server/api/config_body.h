// Small bodies: configs and options, as JSON.
#ifndef DPCACHE_SERVER_API_CONFIG_BODY_H_
#define DPCACHE_SERVER_API_CONFIG_BODY_H_

#include <optional>
#include <string>
#include <string_view>

#include "dpcache/advise.h"
#include "dpcache/config.h"
#include "dpcache/trust.h"
#include "service/settings.h"

namespace dpcache::server {

struct SentConfig {
  Config config;
  std::optional<Settings> settings;
};

// A config with the server's own settings among it: "durability", and "text" instead of an
// encoder's id: {"dimension", "seed", "masks"}, or true. bad_config, bad_request.
Result<SentConfig> read_config(std::string_view body);
// {"similarity": .9}, or nothing. bad_request.
Result<std::optional<float>> read_similarity(std::string_view body);
// {"sample": 5000, "taus": [.1, .2]}, or nothing; at most kMostAdvised slots. The dimension is to
// be set. bad_request.
inline constexpr std::size_t kMostAdvised = 20000;
Result<AdvisorOptions> read_advisor_options(std::string_view body);

struct SentVerdict {
  SlotId slot = 0;
  SlotId other = 0;
  Judgement verdict = Judgement::unknown;
  SlotId into = 0;  // the one that is to stay; 0: not said
};
// {"slot": 3, "other": 1, "verdict": "different"}; "into" goes with "same". bad_request.
Result<SentVerdict> read_verdict(std::string_view body);
// {"verdict": "different"}. bad_request.
Result<Judgement> read_judgement(std::string_view body);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_CONFIG_BODY_H_
