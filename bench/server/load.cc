// Loads an HTTP server: so many connections, each sends its next request when it has its answer, or
// at a steady rate.
//
//   load PORT REQUESTS CONNECTIONS SECONDS [RATE | spin]
//
// REQUESTS: a file of whole HTTP/1.1 requests, each behind its length (uint32, little-endian); they
// are sent in turn. RATE: requests a second of all connections together; latency then runs from
// when a request was due, so that a server that stalls cannot hide it. spin: never sleeps, for a
// load with a core of its own; else a server pays for waking it, which takes some 20 us in a
// virtual machine. A tenth of the time warms up and is not counted. Prints one line of JSON:
// requests, errors, seconds, and latencies in ms.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> read_requests(const char* name) {
  std::ifstream in(name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> requests;
  for (std::size_t at = 0; at + 4 <= bytes.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data() + at, 4);
    if (size > bytes.size() - at - 4) throw std::runtime_error("the requests end too early");
    requests.push_back(bytes.substr(at + 4, size));
    at += 4 + size;
  }
  if (requests.empty()) throw std::runtime_error("there are no requests");
  return requests;
}

struct Connection {
  int socket = -1;
  std::string_view out;  // what is left to send
  std::string in;
  Clock::time_point due;
  bool busy = false;
};

class Load {
 public:
  Load(const char* port, std::vector<std::string> requests, int connections, double rate,
       bool spins)
      : requests_(std::move(requests)), rate_(rate), spins_(spins), epoll_(epoll_create1(0)) {
    connections_.resize(static_cast<std::size_t>(connections));
    for (auto& connection : connections_) connect_to(connection, std::atoi(port));
  }

  void run(double seconds) {
    const auto begun = Clock::now();
    begun_ = begun;
    const auto counted = begun + std::chrono::duration<double>(seconds / 10);
    const auto end = begun + std::chrono::duration<double>(seconds);
    if (rate_ <= 0) {
      for (auto& connection : connections_) start(connection, begun);
    }
    std::vector<epoll_event> events(connections_.size());
    auto now = begun;
    while (now < end) {
      if (rate_ > 0) start_due(now);
      // A millisecond is the least that epoll sleeps.
      const int count =
          epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), spins_ ? 0 : 1);
      now = Clock::now();
      for (int i = 0; i < count; ++i) {
        auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
        go_on(connection, now, now >= counted);
      }
    }
    report(std::chrono::duration<double>(now - counted).count());
  }

 private:
  void connect_to(Connection& connection, int port) {
    connection.socket = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(connection.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.socket, &event);
  }

  void start(Connection& connection, Clock::time_point due) {
    connection.busy = true;
    connection.due = due;
    connection.in.clear();
    connection.out = requests_[next_++ % requests_.size()];
    // Requests are short beside a socket's buffer: sending does not wait for long.
    while (!connection.out.empty()) {
      const auto sent = send(connection.socket, connection.out.data(), connection.out.size(), 0);
      if (sent <= 0) throw std::runtime_error("the server has closed a connection");
      connection.out.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void start_due(Clock::time_point now) {
    for (auto& connection : connections_) {
      const auto due = begun_ + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(double(given_) / rate_));
      if (due > now) return;
      if (connection.busy) continue;
      ++given_;
      start(connection, due);
    }
  }

  void go_on(Connection& connection, Clock::time_point now, bool counts) {
    char buffer[65536];
    const auto got = recv(connection.socket, buffer, sizeof buffer, 0);
    if (got <= 0) throw std::runtime_error("the server has closed a connection");
    connection.in.append(buffer, static_cast<std::size_t>(got));
    const std::size_t head = connection.in.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const std::size_t field = connection.in.find("Content-Length: ");
    if (field >= head) throw std::runtime_error("an answer without a length");
    const auto length = std::strtoul(connection.in.c_str() + field + 16, nullptr, 10);
    if (connection.in.size() < head + 4 + length) return;
    if (counts) {
      latencies_.push_back(std::chrono::duration<float, std::milli>(now - connection.due).count());
      if (connection.in.compare(9, 1, "2") != 0) ++errors_;
    }
    connection.busy = false;
    if (rate_ <= 0) start(connection, now);
  }

  void report(double seconds) {
    std::sort(latencies_.begin(), latencies_.end());
    const auto at = [&](double part) {
      return latencies_.empty() ? 0.0F
                                : latencies_[static_cast<std::size_t>(
                                      part * static_cast<double>(latencies_.size() - 1))];
    };
    std::printf(
        "{\"requests\": %zu, \"errors\": %zu, \"seconds\": %.3f, \"p50\": %.4f, \"p99\": %.4f, "
        "\"most\": %.4f}\n",
        latencies_.size(), errors_, seconds, double(at(.5)), double(at(.99)), double(at(1)));
  }

  const std::vector<std::string> requests_;
  const double rate_;
  const bool spins_;
  const int epoll_;
  std::vector<Connection> connections_;
  std::vector<float> latencies_;
  Clock::time_point begun_;
  std::size_t next_ = 0;
  std::size_t given_ = 0;
  std::size_t errors_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "load: usage: load PORT REQUESTS CONNECTIONS SECONDS [RATE | spin]\n");
    return 2;
  }
  try {
    const std::string_view how = argc > 5 ? argv[5] : "";
    const bool spins = how == "spin";
    Load load(argv[1], read_requests(argv[2]), std::atoi(argv[3]),
              how.empty() || spins ? 0.0 : std::atof(argv[5]), spins);
    load.run(std::atof(argv[4]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load: %s\n", error.what());
    return 1;
  }
}
