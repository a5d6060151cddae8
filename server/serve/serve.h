// A whole server: data folder, log, caches, API and sockets, from its options to its end.
#ifndef DPCACHE_SERVER_SERVE_SERVE_H_
#define DPCACHE_SERVER_SERVE_SERVE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dpcache::server {

enum class LogLevel : std::uint8_t { error, info, access };
enum class ScorerChoice : std::uint8_t {
  automatic,  // a GPU if there is one
  cpu,
  cuda,  // a GPU; that there is none is an error in the log, and the CPU scores
};

struct ServeOptions {
  std::string listen = "127.0.0.1:8080";  // address:port; an IPv6 address in brackets
  std::optional<std::string> data;        // folder; default: the user's own
  std::uint64_t threads = 0;              // 0: one for each processor
  std::uint64_t scan_threads = 1;         // that search a large cache together
  std::optional<std::string> token_file;
  std::optional<std::string> tls_cert;
  std::optional<std::string> tls_key;
  bool open = false;  // to serve other machines without token or TLS
  std::uint64_t max_body = 64U << 20U;
  std::uint64_t max_memory = 0;  // 0: three quarters of the machine's
  std::uint64_t max_caches = 10'000;
  std::uint64_t max_dimension = 65'536;
  std::uint64_t max_connections = 16'384;
  double rate = 0;  // requests a second for each token, or address; 0: any
  std::vector<std::string> cors;
  std::optional<std::string> page;
  std::chrono::milliseconds snapshot_interval{300'000};
  std::chrono::milliseconds patience{10'000};  // for requests under way, at the end
  LogLevel log_level = LogLevel::info;
  ScorerChoice scorer = ScorerChoice::automatic;
};

// The user's folder for data: $XDG_DATA_HOME/dpcache, or ~/.local/share/dpcache.
std::string default_data_folder();
// Whether an address is this machine's alone.
bool is_loopback(const std::string& address);

// Serves until `wait_for_stop` returns, which it calls on a thread of its own. `say`: a line for
// the operator. `ready` gets the address at which it listens. std::runtime_error: it cannot start;
// the text says why and what to do.
void serve(const ServeOptions& options, const std::function<void()>& wait_for_stop,
           const std::function<void(const std::string& line)>& say,
           const std::function<void(const std::string& address)>& ready);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_SERVE_SERVE_H_
