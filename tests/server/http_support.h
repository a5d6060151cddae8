// For tests of the HTTP server: one that runs, an application that is told what to do, and a client
// that sends any bytes it likes.
#ifndef DPCACHE_TESTS_SERVER_HTTP_SUPPORT_H_
#define DPCACHE_TESTS_SERVER_HTTP_SUPPORT_H_

#include <openssl/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/server.h"

namespace dpcache::server {

// Waits up to 20 seconds for it.
bool eventually(const std::function<bool()>& true_now);

// Answers "/echo" with the body and other targets with "METHOD target". A test may replace what it
// does.
class TinyApplication : public Application {
 public:
  struct Completed {
    Request request;
    unsigned status = 0;
    std::uint64_t bytes_sent = 0;
  };

  Admission admit(const Request& head) override;
  void handle(Request request, Respond respond) override;
  Response refuse(unsigned status, std::string_view detail, const Request& head) override;
  void completed(const Request& request, unsigned status, std::uint64_t bytes_sent,
                 double seconds) override;

  std::vector<Completed> all_completed() const;
  // Waits until `count` are completed, and returns them.
  std::vector<Completed> completed_of(std::size_t count) const;

  std::function<Admission(const Request&)> on_admit;
  std::function<void(Request, Respond)> on_handle;

 private:
  mutable std::mutex mutex_;
  std::vector<Completed> completed_;
};

Response text(std::string body, unsigned status = 200);

// Serves in the background until it is stopped or destroyed.
class Running {
 public:
  explicit Running(Application& application, HttpOptions options = {});
  ~Running();
  HttpServer& server() { return *server_; }
  std::uint16_t port() const { return server_->port(); }
  // Waits until run() has returned.
  void join();

 private:
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

struct Reply {
  unsigned status = 0;
  std::string head;  // status line and headers, as they came
  std::string body;
  bool whole = false;  // the body ended as its framing says

  std::string header(std::string_view name) const;  // its name as the server writes it
};

// A connection. It throws std::runtime_error when the server says nothing for 20 seconds.
class Client {
 public:
  explicit Client(std::uint16_t port, const char* address = "127.0.0.1");
  Client(std::uint16_t port, int receive_buffer);
  virtual ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False if the server does not take it all.
  bool send(std::string_view bytes);
  // The answer to a HEAD request has no body.
  Reply reply(std::string_view method = "GET");
  Reply get(const std::string& target);
  // True if the server has closed, after what it may still have sent.
  bool closed();
  // Bytes, up to `most`; empty at the end.
  std::string receive(std::size_t most);
  // Waits until this has come, and returns all before it and itself.
  std::string until(std::string_view mark);
  void shutdown_send();
  void close();
  void reset();  // closes so that the server sees an error

 protected:
  virtual long write_some(std::string_view bytes);
  virtual long read_some(char* into, std::size_t size);
  int descriptor() const { return socket_; }

 private:
  bool more();
  std::string take(std::size_t size);
  std::string chunks(bool& whole);

  int socket_ = -1;
  std::string ahead_;  // came and was not asked for yet
};

// A certificate for localhost and its key, in files that are removed.
class TlsFiles {
 public:
  TlsFiles();
  ~TlsFiles();
  TlsFiles(const TlsFiles&) = delete;
  TlsFiles& operator=(const TlsFiles&) = delete;

  std::string certificate;
  std::string key;
  std::string encrypted_key;
  std::string folder;
};

class TlsClient : public Client {
 public:
  // `newest`: the highest version it speaks, e.g. TLS1_2_VERSION; 0 for any.
  explicit TlsClient(std::uint16_t port, int newest = 0);
  ~TlsClient() override;
  bool connected() const { return connected_; }
  std::string version() const;
  std::string protocol() const;  // by ALPN
  bool shut_down();              // says goodbye and waits for the server's

 protected:
  long write_some(std::string_view bytes) override;
  long read_some(char* into, std::size_t size) override;

 private:
  SSL_CTX* context_ = nullptr;
  SSL* tls_ = nullptr;
  bool connected_ = false;
};

}  // namespace dpcache::server

#endif  // DPCACHE_TESTS_SERVER_HTTP_SUPPORT_H_
