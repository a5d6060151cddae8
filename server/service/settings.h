// What the server keeps about a cache beside its config.
#ifndef DPCACHE_SERVER_SERVICE_SETTINGS_H_
#define DPCACHE_SERVER_SERVICE_SETTINGS_H_

#include <string>
#include <string_view>

namespace dpcache::server {

// When a change is acknowledged: when it is on the disk, or when it is made (a crash of the machine
// or the server may then lose the last moments).
enum class Durability { sync, relaxed };

struct Settings {
  Durability durability = Durability::sync;

  bool operator==(const Settings&) const = default;
};

inline std::string to_json(const Settings& settings) {
  return settings.durability == Durability::sync ? R"({"durability":"sync"})"
                                                 : R"({"durability":"relaxed"})";
}

// Of what to_json() wrote.
inline Settings settings_from_json(std::string_view json) {
  return {json == to_json(Settings{Durability::relaxed}) ? Durability::relaxed : Durability::sync};
}

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVICE_SETTINGS_H_
