// Puts the parts of a server together.
#include "serve/serve.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "api/app.h"
#include "api/json_writer.h"
#include "http/server.h"
#include "log/data_lock.h"
#include "log/folder_snapshots.h"
#include "log/sqlite_log.h"
#include "serve/page.h"
#include "service/service.h"

namespace dpcache::server {

namespace {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

Address parse_address(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  const std::string wrong = "--listen: '" + listen + "' is not ADDRESS:PORT, e.g. 127.0.0.1:8080";
  if (colon == listen.npos) throw std::runtime_error(wrong);
  Address address;
  address.host = listen.substr(0, colon);
  if (address.host.size() > 1 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const char* end = listen.data() + listen.size();
  const auto result = std::from_chars(listen.data() + colon + 1, end, address.port);
  if (result.ec != std::errc() || result.ptr != end || address.host.empty()) {
    throw std::runtime_error(wrong);
  }
  return address;
}

std::string read_file(const std::string& path, const char* option) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string(option) + ": " + path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
}

// Lines of JSON, whole ones, from any thread.
class Journal {
 public:
  Journal(LogLevel level, std::function<void(const std::string&)> say)
      : level_(level), say_(std::move(say)) {}

  void access(std::string_view line) { write(std::string(line)); }
  void info(std::string_view text) {
    if (level_ >= LogLevel::info) write(line("info", text));
  }
  void error(std::string_view text) { write(line("error", text)); }

 private:
  static std::string line(std::string_view level, std::string_view text) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.name("time").number(App::now());
    json.name("level").text(level);
    json.name("message").text(text);
    json.end_object();
    return out;
  }
  void write(const std::string& line) {
    const std::lock_guard lock(mutex_);
    say_(line);
  }

  LogLevel level_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
};

void print_log_metrics(const SqliteLog& log, std::string& out) {
  const SqliteLogStatistics figures = log.statistics();
  const auto one = [&out](const char* name, const char* type, const char* help, double value) {
    print_head(out, name, type, help);
    print_sample(out, name, "", value);
  };
  one("dpcache_log_appends_total", "counter", "Entries on the disk.",
      static_cast<double>(figures.appends));
  one("dpcache_log_bytes_total", "counter", "Bytes of those.", static_cast<double>(figures.bytes));
  one("dpcache_log_failures_total", "counter", "Appends that failed.",
      static_cast<double>(figures.failed));
  one("dpcache_log_queue", "gauge", "Entries that wait for the disk.",
      static_cast<double>(figures.queue));
  const char* name = "dpcache_log_commit_seconds";
  print_head(out, name, "histogram", "Time of a group commit, with its fsync.");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < figures.commit_seconds.size(); ++i) {
    count += figures.commit_seconds[i];
    std::string bound = "+Inf";
    if (i < SqliteLogStatistics::kBounds.size()) {
      char text[40];
      bound.assign(text,
                   std::to_chars(text, text + sizeof text, SqliteLogStatistics::kBounds[i]).ptr);
    }
    print_sample(out, std::string(name) + "_bucket", label("le", bound),
                 static_cast<double>(count));
  }
  print_sample(out, std::string(name) + "_sum", "", figures.commit_seconds_sum);
  print_sample(out, std::string(name) + "_count", "", static_cast<double>(count));
}

AppOptions app_options(const ServeOptions& options, Journal& journal) {
  AppOptions app;
  app.max_body = options.max_body;
  app.max_dimension = static_cast<std::uint32_t>(options.max_dimension);
  app.rate = options.rate;
  app.cors = options.cors;
  if (options.token_file) {
    try {
      app.tokens = Tokens::parse(read_file(*options.token_file, "--token-file"));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("--token-file: " + *options.token_file + ": " + error.what());
    }
  }
  const std::string page = options.page.value_or(find_page());
  if (!page.empty()) app.page = read_page(page);
  if (options.log_level == LogLevel::access) {
    app.access = [&journal](std::string_view line) { journal.access(line); };
  }
  return app;
}

}  // namespace

std::string default_data_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return std::string(data) + "/dpcache";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    throw std::runtime_error("there is no home folder: give --data FOLDER");
  }
  return std::string(home) + "/.local/share/dpcache";
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

void serve(const ServeOptions& options, const std::function<void()>& wait_for_stop,
           const std::function<void(const std::string&)>& say,
           const std::function<void(const std::string&)>& ready) {
  const Address address = parse_address(options.listen);
  const bool guarded = options.token_file || options.tls_cert;
  if (!is_loopback(address.host) && !guarded && !options.open) {
    throw std::runtime_error("--listen: " + address.host +
                             " is open to other machines: give --token-file or --tls-cert, or "
                             "--open if everybody may do everything");
  }
  if (options.tls_cert.has_value() != options.tls_key.has_value()) {
    throw std::runtime_error("--tls-cert and --tls-key go together");
  }
  constexpr std::uint64_t kMostBody = 256U << 20U;  // what it changes is one entry of the log
  if (options.max_body > kMostBody) throw std::runtime_error("--max-body: at most 256M");
  Journal journal(options.log_level, say);
  AppOptions of_app = app_options(options, journal);

  const std::string data =
      options.data.value_or("").empty() ? default_data_folder() : *options.data;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(data).parent_path(), ignored);
  const DataLock lock(data);
  SqliteLog log(data);
  FolderSnapshots snapshots(data + "/snapshots");
  of_app.more_metrics = [&log](std::string& out) { print_log_metrics(log, out); };

  const unsigned threads = options.threads > 0 ? static_cast<unsigned>(options.threads)
                                               : std::max(1U, std::thread::hardware_concurrency());
  ServiceOptions of_service;
  of_service.threads = threads;
  of_service.max_memory = options.max_memory > 0 ? options.max_memory : machine_memory() / 4 * 3;
  of_service.max_caches = options.max_caches;
  of_service.snapshot_interval = options.snapshot_interval;
  of_service.info = [&journal](const std::string& text) { journal.info(text); };
  of_service.error = [&journal](const std::string& text) { journal.error(text); };
  Service service(log, snapshots, of_service);
  journal.info(std::to_string(service.size()) + " caches in " + data);
  App app(service, std::move(of_app));

  HttpOptions http;
  http.address = address.host == "localhost" ? "127.0.0.1" : address.host;
  http.port = address.port;
  http.threads = threads;
  http.max_connections = options.max_connections;
  http.tls_certificate = options.tls_cert.value_or("");
  http.tls_key = options.tls_key.value_or("");
  HttpServer server(http, app);
  const std::string host =
      address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  ready((options.tls_cert ? "https://" : "http://") + host + ":" + std::to_string(server.port()) +
        "/");
  std::thread stopper([&] {
    wait_for_stop();
    app.stop();
    journal.info("stopping: requests under way are finished, then snapshots are made");
    server.stop(options.patience);
  });
  server.run();
  stopper.join();
  service.stop();
  journal.info("stopped");
}

}  // namespace dpcache::server
