// What the server is compared with: bare Boost.Beast servers of one thread that hold no memory.
//
//   peers echo|nlohmann PORT
//
// `echo` sends each body back. `nlohmann` parses {"queries": [{"key": [...]}]} with nlohmann/json
// into floats and answers how many there were: what a plain handler would do before any work.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <nlohmann/json.hpp>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;
using Handler = std::string (*)(std::string& body);

std::string echo(std::string& body) {
  return std::move(body);
}

std::string count_floats(std::string& body) {
  std::vector<float> floats;
  const auto json = nlohmann::json::parse(body);
  for (const auto& query : json.at("queries")) {
    for (const auto& number : query.at("key")) floats.push_back(number.get<float>());
  }
  return R"({"floats":)" + std::to_string(floats.size()) + "}";
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Handler handler) : stream_(std::move(socket)), handler_(handler) {}

  void read() {
    request_ = {};
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

 private:
  void answer() {
    response_ = Response(http::status::ok, request_.version());
    response_.keep_alive(request_.keep_alive());
    response_.body() = handler_(request_.body());
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error && self->request_.keep_alive()) self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  Request request_;
  Response response_;
  Handler handler_;
};

void accept(tcp::acceptor& acceptor, Handler handler) {
  acceptor.async_accept([&acceptor, handler](beast::error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<Session>(std::move(socket), handler)->read();
    }
    accept(acceptor, handler);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 3 ? argv[1] : "";
  if (kind != "echo" && kind != "nlohmann") {
    std::fprintf(stderr, "peers: usage: peers echo|nlohmann PORT\n");
    return 2;
  }
  asio::io_context io(1);
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), port});
  accept(acceptor, kind == "echo" ? echo : count_floats);
  io.run();
}
