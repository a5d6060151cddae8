// Caches on a disk and the routes to them, for a program that has an HTTP server of its own.
#ifndef DPCACHE_SERVER_MOUNT_H_
#define DPCACHE_SERVER_MOUNT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/server/application.h"

namespace dpcache::server {

struct MountOptions {
  std::string data;      // folder of log and snapshots; made if its parent is there
  unsigned threads = 2;  // for long work, at least 1
  std::string tokens;    // lines of "read|write|admin TOKEN [NAME-PATTERN]"; none: all may do all
  std::uint64_t max_body = 64U << 20U;       // bytes, at most 256 MiB
  std::uint64_t max_snapshot = 4ULL << 30U;  // bytes of a memory file that comes in
  std::uint64_t max_memory = 0;              // bytes of all caches together; 0: no limit
  std::uint64_t max_caches = 10'000;
  std::uint32_t max_dimension = 65'536;
  double rate = 0;                // requests a second for each token, or address; 0: any
  std::vector<std::string> cors;  // origins whose pages may ask; "*": all
  std::chrono::milliseconds snapshot_interval{300'000};
  // What an operator should know, in a sentence. Called from any thread.
  std::function<void(const std::string&)> info;
  std::function<void(const std::string&)> error;
};

// Routes are those of /openapi.json: /v1/caches…, /livez, /readyz, /healthz, /metrics and
// /openapi.json. For each request: application().admit() when its head is there, handle() when its
// body is; both answer by value or callback, and nothing here knows of sockets.
// Thread rule: stop() once, from one thread; the rest from any.
class Mount {
 public:
  // Takes the folder's lock and brings back what is there. std::runtime_error: another process has
  // the folder, it cannot be read or written, or an option is wrong; the text says which.
  explicit Mount(MountOptions options);
  // As stop(), if it was not called. No request may be under way.
  ~Mount();
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  Application& application() noexcept;
  // Whether a request's target is one of the routes' (else it is the program's own).
  static bool is_route(std::string_view target) noexcept;
  // From here on /readyz says no and streams of events end; a program that stops calls this first,
  // and takes no new requests.
  void drain() noexcept;
  // drain(), then a snapshot of what has changed.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_MOUNT_H_
