// A program with an HTTP server of its own, here a small synchronous one on Boost.Beast with a
// thread for each connection, which serves dpcache's routes beside its /hello.
//
// usage: mount_example DATA-FOLDER [PORT]      prints its address; ends in order on SIGTERM
#include <dpcache/server/mount.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>  // Boost 1.74 forgets it under C++20

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using dpcache::server::Application;
using dpcache::server::Mount;
using dpcache::server::Request;
using dpcache::server::Response;

constexpr std::uint64_t kOwnBodies = 1 << 20;
std::atomic<bool> stopping = false;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return text;
}

Request head_of(const http::request<http::string_body>& from, const std::string& remote) {
  static std::atomic<std::uint64_t> count = 0;
  Request head;
  head.method = std::string(from.method_string());
  head.target = std::string(from.target());
  for (const auto& field : from) {
    head.headers.push_back({lower(std::string(field.name_string())), std::string(field.value())});
  }
  head.remote = remote;
  head.id = "example-" + std::to_string(++count);
  return head;
}

// What dpcache answers to a request whose body has come. Waits for it, as all here does.
Response answer_of(Application& application, Request request) {
  const auto promise = std::make_shared<std::promise<Response>>();
  const auto first = std::make_shared<std::atomic<bool>>(true);
  auto answer = promise->get_future();
  const Request head = request;
  application.handle(std::move(request), [promise, first](Response response) {
    if (first->exchange(false)) promise->set_value(std::move(response));
  });
  try {
    return answer.get();
  } catch (const std::exception&) {
    return application.refuse(500, "The server failed.", head);
  }
}

Response hello() {
  Response response;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
  response.body = "Hello from a program of its own.\n";
  return response;
}

// Sends the parts of an answer without an end, as they come. False: the client has gone, or the
// program ends.
bool send_parts(tcp::socket& socket, const Response& response) {
  for (;;) {
    const auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
    auto part = promise->get_future();
    response.parts(
        [promise](std::optional<std::string> bytes) { promise->set_value(std::move(bytes)); });
    while (part.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
      if (stopping) return false;
    }
    const std::optional<std::string> bytes = part.get();
    beast::error_code error;
    if (!bytes) {
      asio::write(socket, http::make_chunk_last(), error);
      return !error;
    }
    asio::write(socket, http::make_chunk(asio::buffer(*bytes)), error);
    if (error) return false;
  }
}

bool send(tcp::socket& socket, const http::request<http::string_body>& request,
          const Response& response, bool keep) {
  http::response<http::string_body> message{static_cast<http::status>(response.status),
                                            request.version()};
  for (const auto& [name, value] : response.headers) message.insert(name, value);
  message.keep_alive(keep);
  const bool is_head = request.method() == http::verb::head;
  beast::error_code error;
  if (response.parts) {
    message.chunked(true);
    http::serializer<false, http::string_body> serializer{message};
    http::write_header(socket, serializer, error);
    return !error && (is_head || send_parts(socket, response)) && keep;
  }
  const bool has_body = response.status != 204 && response.status != 304;
  if (has_body) message.content_length(response.body.size());
  if (has_body && !is_head) message.body() = response.body;
  http::serializer<false, http::string_body> serializer{message};
  if (is_head) {
    http::write_header(socket, serializer, error);
  } else {
    http::write(socket, serializer, error);
  }
  return !error && keep;
}

// One request; false when it was the last.
bool serve_one(tcp::socket& socket, beast::flat_buffer& buffer, const std::string& remote,
               Application& application) {
  http::request_parser<http::string_body> parser;
  // None until it is known whose request it is; Boost 1.74 takes boost::none for 0.
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  beast::error_code error;
  http::read_header(socket, buffer, parser, error);
  if (error) return false;
  const auto begun = std::chrono::steady_clock::now();
  const auto& message = parser.get();
  const Request head = head_of(message, remote);
  const bool mounted = Mount::is_route(head.target);

  // What can be said before the body has come.
  Application::Admission admission;
  admission.body_limit = kOwnBodies;
  if (mounted) admission = application.admit(head);
  if (!admission.refusal && parser.content_length().value_or(0) > admission.body_limit) {
    admission.refusal = application.refuse(413, "The body is too large.", head);
  }
  if (!admission.refusal) {
    if (beast::iequals(message[http::field::expect], "100-continue")) {
      asio::write(socket, asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")), error);
    }
    parser.body_limit(admission.body_limit);
    http::read(socket, buffer, parser, error);
    if (error == http::error::body_limit) {
      admission.refusal = application.refuse(413, "The body is too large.", head);
    } else if (error) {
      return false;
    }
  }
  if (admission.refusal) {
    const bool bodiless = parser.is_done();
    const unsigned status = admission.refusal->status;
    const bool kept = send(socket, message, *admission.refusal, message.keep_alive() && bodiless);
    if (mounted) application.completed(head, status, 0, 0);
    return kept;
  }

  Response response;
  if (mounted) {
    Request request = head;
    request.body = std::move(parser.get().body());
    response = answer_of(application, std::move(request));
  } else if (head.target == "/hello") {
    response = hello();
  } else {
    response.status = 404;
    response.body = "Nothing here; try /hello or /openapi.json.\n";
  }
  const bool keep = send(socket, message, response, message.keep_alive() && !stopping);
  if (mounted) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    application.completed(head, response.status, response.body.size(), took.count());
  }
  return keep;
}

// Those that are open, so that they can be ended.
class Connections {
 public:
  void serve(tcp::socket socket, Application& application) {
    const auto shared = std::make_shared<tcp::socket>(std::move(socket));
    {
      const std::lock_guard lock(mutex_);
      open_.insert(shared);
    }
    std::thread([this, shared, &application] {
      try {
        beast::flat_buffer buffer;
        const std::string remote = shared->remote_endpoint().address().to_string();
        while (serve_one(*shared, buffer, remote, application)) {
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "a connection ended: %s\n", error.what());
      }
      const std::lock_guard lock(mutex_);
      open_.erase(shared);
      ended_.notify_all();
    }).detach();
  }
  // Takes no more requests, and waits for those under way.
  void end() {
    std::unique_lock lock(mutex_);
    for (const auto& socket : open_) {
      beast::error_code ignored;
      socket->shutdown(tcp::socket::shutdown_receive, ignored);
    }
    ended_.wait(lock, [this] { return open_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::shared_ptr<tcp::socket>> open_;
};

int run(const std::string& folder, std::uint16_t port) {
  dpcache::server::MountOptions options;
  options.data = folder;
  options.info =
      options.error = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  Mount mount(std::move(options));
  Connections connections;

  asio::io_context context;
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), port});
  asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const beast::error_code&, int) {
    stopping = true;
    acceptor.close();
  });
  std::function<void()> accept = [&] {
    acceptor.async_accept([&](const beast::error_code& error, tcp::socket socket) {
      if (!error) connections.serve(std::move(socket), mount.application());
      if (acceptor.is_open()) accept();
    });
  };
  accept();
  std::printf("http://127.0.0.1:%u/\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  context.run();
  mount.drain();
  connections.end();
  mount.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: mount_example DATA-FOLDER [PORT]\n");
    return 2;
  }
  try {
    return run(argv[1], argc == 3 ? static_cast<std::uint16_t>(std::atoi(argv[2])) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mount_example: %s\n", error.what());
    return 1;
  }
}
