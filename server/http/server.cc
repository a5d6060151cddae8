// The HTTP/1.1 server: one coroutine a connection, by Boost.Asio.
//
// A connection has a strand of its own. What another thread has to say to it (an answer, the next
// part, that the server stops) is posted there; an answer given before handle() returns needs no
// post. At most one read is under way: the coroutine's own, or, while the application works, the
// watch, which notices that the client has gone and keeps what it sends meanwhile.
#include "http/server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>  // Boost 1.74 forgets it under C++20

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "http/chunked.h"
#include "http/head_parser.h"
#include "http/head_scan.h"
#include "http/mailbox.h"
#include "http/request_id.h"
#include "http/response_head.h"
#include "http/tls.h"

namespace dpcache::server {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using Error = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Executor = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
template <class T = void>
using Task = asio::awaitable<T, Executor>;

constexpr asio::use_awaitable_t<Executor> kAwait;
constexpr auto kNever = Clock::time_point::max();
constexpr std::size_t kReadSize = 4096;         // what an idle connection holds
constexpr std::size_t kBodyReadSize = 65536;    // of a body
constexpr std::size_t kMaxAhead = 65536;        // sent ahead while the application works
constexpr std::size_t kMaxDiscarded = 8 << 20;  // of a body that was refused
constexpr std::size_t kJoined = 16384;      // a shorter body goes into one TLS record with its head
constexpr unsigned kBlankLines = 4;         // before a request line; some clients send one
constexpr unsigned kTurns = 32;             // without a break, before others get theirs
constexpr std::size_t kMaxTurnedAway = 64;  // at a time; others are closed without a word
constexpr std::chrono::seconds kLeaveTimeout{2};
constexpr std::chrono::seconds kDiscardTimeout{5};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::hours kLongestPatience{24};
constexpr unsigned kClientGone = 499;  // as a Failure: nobody is there to be told

// One request and its response.
struct Exchange : HeadFacts {
  Request request;  // later without its body
  std::shared_ptr<Mailbox<Response>> box = std::make_shared<Mailbox<Response>>();
  Clock::time_point begun;
  std::uint64_t sent = 0;
  bool body_left = false;  // there is a body that was not read
};

// Up to three pieces of memory that are written one behind the other: a sequence of buffers.
class Pieces {
 public:
  using value_type = asio::const_buffer;
  using const_iterator = const asio::const_buffer*;

  explicit Pieces(std::string_view a, std::string_view b = {}, std::string_view c = {}) {
    add(a);
    add(b);
    add(c);
  }
  const_iterator begin() const { return pieces_.data() + first_; }
  const_iterator end() const { return pieces_.data() + count_; }
  bool empty() const { return first_ == count_; }

  void consume(std::size_t size) {
    while (size > 0) {
      const std::size_t part = std::min(size, pieces_[first_].size());
      pieces_[first_] += part;
      size -= part;
      if (pieces_[first_].size() == 0) ++first_;
    }
  }

 private:
  void add(std::string_view piece) {
    if (!piece.empty()) pieces_[count_++] = asio::buffer(piece.data(), piece.size());
  }

  std::array<asio::const_buffer, 3> pieces_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class Connection;

// What connections share.
class Server {
 public:
  Server(HttpOptions options, Application& application);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  std::size_t connections() const noexcept { return served_.load(std::memory_order_relaxed); }
  void run();
  void stop(std::chrono::milliseconds patience);

  const HttpOptions& options() const noexcept { return options_; }
  Application& application() noexcept { return application_; }
  RequestIds& ids() noexcept { return ids_; }
  ssl::context* tls() noexcept { return tls_.get(); }
  void forget(Connection& connection);

 private:
  void listen();
  Task<> accept();
  void welcome(Socket socket);
  void begin_stop(std::chrono::milliseconds patience);
  void cut_all();
  std::vector<std::shared_ptr<Connection>> all();
  void work();

  const HttpOptions options_;
  Application& application_;
  RequestIds ids_;
  std::unique_ptr<ssl::context> tls_;
  std::mutex mutex_;
  std::unordered_map<Connection*, std::weak_ptr<Connection>> known_;  // mutex_
  bool stopping_ = false;                                             // mutex_
  std::atomic<std::size_t> served_ = 0;
  std::uint16_t port_ = 0;
  asio::io_context io_;  // what its handlers refer to stands above: it is destroyed first
  Executor strand_{io_.get_executor()};
  Acceptor acceptor_{strand_};
  Timer pause_{strand_};
  Timer patience_{strand_};
};

// Thread rule: all but wake() runs on the strand.
class Connection final : public std::enable_shared_from_this<Connection>, private Waiter {
 public:
  enum class Purpose : std::uint8_t { serve, turn_away };

  Connection(Server& server, Socket socket, Purpose purpose)
      : server_(server),
        socket_(std::move(socket)),
        event_(socket_.get_executor()),
        watchdog_(socket_.get_executor()),
        purpose_(purpose) {}
  ~Connection() = default;

  void start();
  Purpose purpose() const noexcept { return purpose_; }
  Executor executor() { return socket_.get_executor(); }
  // No further request; at once if none is under way.
  void drain();
  // Now, whatever is under way.
  void cut();

 private:
  Task<> live();
  Task<> serve();
  Task<bool> serve_one();
  Task<> turn_away();
  Task<> leave(bool body_left);
  bool open(Error& error);
  Task<bool> handshake();

  Task<Failure> read_head(Exchange& exchange);
  Failure finish_head(Exchange& exchange, std::size_t size);
  Task<Failure> read_body(Exchange& exchange, std::uint64_t limit);
  Task<Failure> read_sized(Exchange& exchange);
  Task<Failure> read_chunked(Exchange& exchange, std::uint64_t limit);
  bool skip_body(Exchange& exchange);

  Application::Admission admit(Exchange& exchange);
  Response make_refusal(const Exchange& exchange, unsigned status, std::string_view detail);
  Task<std::optional<Response>> ask(Exchange& exchange);
  Task<bool> refuse(Exchange& exchange, Failure failure);
  Task<bool> respond(Exchange& exchange, Response& response);
  Task<bool> stream(Exchange& exchange, Response& response, Framing framing);
  Task<bool> send_part(Exchange& exchange, std::string_view bytes, bool chunked);
  void complete(Exchange& exchange, unsigned status);

  enum class Wait : std::uint8_t { arrived, enough, quiet };
  template <class T>
  Task<Wait> arrives(Mailbox<T>& box, bool (Connection::*enough)() const,
                     Clock::time_point until = kNever);
  // Reasons to wait no longer.
  bool hopeless() const { return cut_ || broken_; }
  bool left() const { return hopeless() || static_cast<bool>(end_); }
  bool left_or_draining() const { return left() || draining_; }
  Task<> wait(Clock::time_point until = kNever);
  void poke() { event_.cancel(); }
  void wake() override;
  Task<> breathe();

  Task<Error> fill(std::size_t size);
  Task<std::size_t> read_some(asio::mutable_buffer into, Error& error);
  void watch();
  void watched(const Error& error, std::size_t size);
  Task<bool> send(Exchange& exchange, Pieces pieces);
  void send_now(Exchange& exchange, Pieces& pieces, Error& error);
  Failure failure_of(const Error& error, Failure timed_out) const;

  void keep(std::string_view bytes);
  std::string_view buffered() const;
  void set_deadline(Clock::duration from_now);
  void no_deadline() { deadline_ = kNever; }
  void arm();
  void tick();

  Server& server_;
  Socket socket_;
  std::unique_ptr<ssl::stream<Socket&>> tls_;
  Timer event_;     // is cancelled to say that something has changed
  Timer watchdog_;  // fires at armed_ and looks at deadline_, which may be later
  Clock::time_point deadline_ = kNever;
  Clock::time_point armed_ = kNever;
  boost::beast::flat_buffer buffer_;  // what has come and is not used yet
  std::string ahead_;                 // what the watch reads into
  std::string head_;                  // of the response
  std::string remote_;
  std::shared_ptr<Mailbox<Response>> box_;  // of the request under way
  std::size_t turns_ = 0;
  Error end_;  // what the watch met
  Purpose purpose_;
  bool watching_ = false;
  bool idle_ = true;
  bool first_ = true;
  bool draining_ = false;
  bool cut_ = false;
  bool broken_ = false;  // writing is of no use
  bool timed_out_ = false;
};

// ---- A connection's life

void Connection::start() {
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->live(); }, asio::detached);
}

Task<> Connection::live() {
  const auto self = shared_from_this();
  try {
    Error error;
    if (open(error)) {
      if (purpose_ == Purpose::serve) {
        co_await serve();
      } else {
        co_await turn_away();
      }
    }
  } catch (const std::exception&) {
    cut_ = true;  // out of memory, most likely: this connection ends, others go on
  }
  Error ignored;
  socket_.close(ignored);
  watchdog_.cancel();
  server_.forget(*this);
}

// False if the client has gone already.
bool Connection::open(Error& error) {
  const auto peer = socket_.remote_endpoint(error);
  if (error) return false;
  asio::ip::address address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  remote_ = address.to_string();
  socket_.set_option(tcp::no_delay(true), error);
  socket_.non_blocking(true, error);
  return !error;
}

Task<> Connection::serve() {
  if (server_.tls() != nullptr) {
    const bool agreed = co_await handshake();
    if (!agreed) co_return;
  }
  bool more = true;
  while (more) more = co_await serve_one();
}

Task<bool> Connection::handshake() {
  tls_ = std::make_unique<ssl::stream<Socket&>>(socket_, *server_.tls());
  set_deadline(server_.options().header_timeout);
  Error error;
  co_await tls_->async_handshake(ssl::stream_base::server, asio::redirect_error(kAwait, error));
  no_deadline();
  co_return !error && !timed_out_ && !cut_;
}

// One request; false when it was the last.
Task<bool> Connection::serve_one() {
  Exchange exchange;
  Failure failure = co_await read_head(exchange);
  if (failure.status == kClientGone) {
    co_await leave(false);
    co_return false;
  }
  idle_ = false;
  if (failure.status != 0) co_return co_await refuse(exchange, failure);

  Application::Admission admission = admit(exchange);
  if (admission.refusal.has_value()) {
    if (!skip_body(exchange)) exchange.keep = false;
    co_return co_await respond(exchange, *admission.refusal);
  }
  if (exchange.has_body()) {
    failure = co_await read_body(exchange, admission.body_limit);
    if (failure.status != 0) co_return co_await refuse(exchange, failure);
  }
  std::optional<Response> response = co_await ask(exchange);
  if (!response.has_value()) {
    complete(exchange, kClientGone);
    co_return false;
  }
  co_return co_await respond(exchange, *response);
}

Task<> Connection::turn_away() {
  idle_ = false;
  if (server_.tls() != nullptr) co_return;  // a handshake costs more than it says
  Exchange exchange;
  exchange.begun = Clock::now();
  exchange.request.remote = remote_;
  exchange.request.id = server_.ids().next();
  exchange.request.gone = {exchange.box, &exchange.box->gone};
  exchange.body_left = true;
  const Failure failure{503, "There are too many connections."};
  co_await refuse(exchange, failure);
}

// Lets the client read what was sent: a socket closed with bytes unread in it would take that away.
Task<> Connection::leave(bool body_left) {
  if (cut_ || broken_) co_return;
  set_deadline(body_left ? kDiscardTimeout : kLeaveTimeout);
  Error error = end_;
  if (tls_ == nullptr) socket_.shutdown(Socket::shutdown_send, error);
  const bool discard = tls_ == nullptr || body_left || watching_;
  for (std::size_t discarded = 0; discard && !error && discarded < kMaxDiscarded;) {
    discarded += buffer_.size();
    buffer_.consume(buffer_.size());
    error = co_await fill(body_left ? kBodyReadSize : kReadSize);
  }
  if (tls_ != nullptr && !watching_ && !cut_ && !timed_out_) {
    co_await tls_->async_shutdown(asio::redirect_error(kAwait, error));
  }
}

void Connection::drain() {
  draining_ = true;
  if (idle_) {
    cut();
  } else {
    poke();
  }
}

void Connection::cut() {
  cut_ = true;
  if (box_ != nullptr) box_->gone = true;
  Error ignored;
  socket_.close(ignored);
  poke();
}

// ---- Reading a request

Task<Failure> Connection::read_head(Exchange& exchange) {
  HeadScan scan;
  bool begun = false;
  unsigned blank_lines = 0;
  const bool at_once = first_ && tls_ != nullptr;
  set_deadline(at_once ? server_.options().header_timeout : server_.options().idle_timeout);
  for (;;) {
    std::string_view bytes = buffered();
    while (bytes.starts_with("\r\n")) {
      if (++blank_lines > kBlankLines) co_return Failure{400, "There is no request line."};
      buffer_.consume(2);
      bytes = buffered();
    }
    if (!bytes.empty() && bytes != "\r") {
      if (!begun) exchange.begun = Clock::now();
      const HeadScan::State state = scan.feed(bytes.substr(0, server_.options().max_header + 1));
      if (state == HeadScan::State::malformed) {
        static_cast<void>(finish_head(exchange, 0));
        co_return Failure{400, scan.fault()};
      }
      const bool complete = state == HeadScan::State::complete;
      if (bytes.size() > server_.options().max_header &&
          (!complete || scan.size() > server_.options().max_header)) {
        static_cast<void>(finish_head(exchange, 0));
        co_return Failure{431, "The header is too large."};
      }
      if (complete) co_return finish_head(exchange, scan.size());
      if (!begun) set_deadline(server_.options().header_timeout);
      begun = true;
    }
    idle_ = bytes.empty();
    if (idle_ && draining_) co_return Failure{kClientGone, {}};
    if (idle_ && (watching_ || buffer_.capacity() > kReadSize)) buffer_.shrink_to_fit();
    const Error error = co_await fill(kReadSize);
    if (error) {
      if (begun) static_cast<void>(finish_head(exchange, 0));
      const Failure slow{begun ? 408U : kClientGone, "The header came too slowly."};
      co_return failure_of(error, slow);
    }
  }
}

// With size 0 there is no head that could be parsed.
Failure Connection::finish_head(Exchange& exchange, std::size_t size) {
  no_deadline();
  first_ = false;
  exchange.request.remote = remote_;
  exchange.request.secure = tls_ != nullptr;
  exchange.request.gone = {exchange.box, &exchange.box->gone};
  box_ = exchange.box;
  Failure failure;
  if (size > 0) {
    exchange.request.headers.reserve(16);
    failure = parse_head(buffered().substr(0, size), exchange.request, exchange);
    buffer_.consume(size);
  }
  const std::string_view id = exchange.request.header("x-request-id");
  exchange.request.id = is_sane_id(id) ? std::string(id) : server_.ids().next();
  exchange.body_left = size == 0 || failure.status != 0 || exchange.has_body();
  return failure;
}

Task<Failure> Connection::read_body(Exchange& exchange, std::uint64_t limit) {
  if (exchange.content_length > limit) co_return Failure{413, "The body is too large."};
  if (exchange.expects_continue && buffer_.size() == 0) {
    const bool sent = co_await send(exchange, Pieces("HTTP/1.1 100 Continue\r\n\r\n"));
    if (!sent) co_return Failure{kClientGone, {}};
  }
  Failure failure;
  if (exchange.chunked) {
    failure = co_await read_chunked(exchange, limit);
  } else {
    failure = co_await read_sized(exchange);
  }
  no_deadline();
  if (failure.status == 0) exchange.body_left = false;
  co_return failure;
}

constexpr Failure kSlowBody{408, "The body came too slowly."};

// Reads straight into the body, which grows as it comes: a length is only a promise.
Task<Failure> Connection::read_sized(Exchange& exchange) {
  const auto length = static_cast<std::size_t>(exchange.content_length);
  std::string& body = exchange.request.body;
  const auto take = [&] {
    const std::string_view bytes = buffered().substr(0, length - body.size());
    body.append(bytes);
    buffer_.consume(bytes.size());
  };
  take();
  while (body.size() < length) {
    set_deadline(server_.options().body_timeout);
    Error error;
    if (watching_) {
      error = co_await fill(kReadSize);
      take();
    } else {
      const std::size_t had = body.size();
      const std::size_t room = std::min(length, std::max(2 * had, had + kBodyReadSize));
      body.resize(room);
      const std::size_t got =
          co_await read_some(asio::buffer(body.data() + had, room - had), error);
      body.resize(had + got);
    }
    if (error) co_return failure_of(error, kSlowBody);
  }
  co_return Failure{};
}

Task<Failure> Connection::read_chunked(Exchange& exchange, std::uint64_t limit) {
  ChunkDecoder decoder(limit, server_.options().max_header);
  for (;;) {
    const std::string_view before = buffered();
    std::string_view bytes = before;
    const ChunkDecoder::State state = decoder.feed(bytes, exchange.request.body);
    buffer_.consume(before.size() - bytes.size());
    if (state == ChunkDecoder::State::complete) co_return Failure{};
    if (state == ChunkDecoder::State::too_large) co_return Failure{413, "The body is too large."};
    if (state == ChunkDecoder::State::malformed) {
      co_return Failure{400, "The chunked body is malformed."};
    }
    set_deadline(server_.options().body_timeout);
    const Error error = co_await fill(kBodyReadSize);
    if (error) co_return failure_of(error, kSlowBody);
    co_await breathe();
  }
}

// True if no body, or nothing more of it, is to come.
bool Connection::skip_body(Exchange& exchange) {
  if (exchange.chunked || exchange.content_length > buffer_.size()) return false;
  buffer_.consume(static_cast<std::size_t>(exchange.content_length));
  exchange.body_left = false;
  return true;
}

Failure Connection::failure_of(const Error& error, Failure timed_out) const {
  return error == asio::error::timed_out ? timed_out : Failure{kClientGone, {}};
}

// ---- Asking the application

Response Connection::make_refusal(const Exchange& exchange, unsigned status,
                                  std::string_view detail) {
  try {
    return server_.application().refuse(status, detail, exchange.request);
  } catch (...) {
    Response plain;
    plain.status = status;
    return plain;
  }
}

Application::Admission Connection::admit(Exchange& exchange) {
  try {
    Application::Admission admission = server_.application().admit(exchange.request);
    exchange.request.context = admission.context;
    return admission;
  } catch (...) {
    Application::Admission admission;
    admission.refusal = make_refusal(exchange, 500, "The server failed.");
    return admission;
  }
}

// Nothing if the client has gone, or the server does not wait any longer.
Task<std::optional<Response>> Connection::ask(Exchange& exchange) {
  const std::shared_ptr<Mailbox<Response>> box = exchange.box;
  {
    std::string body = std::move(exchange.request.body);
    exchange.request.body.clear();
    Request request = exchange.request;
    request.body = std::move(body);
    try {
      server_.application().handle(std::move(request), sender_to(box));
    } catch (...) {
      box->put(std::nullopt);
    }
  }
  const Leaving leaving{*box};
  if (co_await arrives(*box, &Connection::hopeless) == Wait::enough) co_return std::nullopt;
  std::optional<Response> response = box->take();
  if (!response.has_value()) response = make_refusal(exchange, 500, "The server failed.");
  co_return response;
}

// Waits until something is in the box, or there is a reason to wait no longer, or `until`.
template <class T>
Task<Connection::Wait> Connection::arrives(Mailbox<T>& box, bool (Connection::*enough)() const,
                                           Clock::time_point until) {
  while (!box.ready(*this)) {
    if ((this->*enough)()) co_return Wait::enough;
    if (Clock::now() >= until) co_return Wait::quiet;
    watch();
    co_await wait(until);
  }
  co_return Wait::arrived;
}

Task<> Connection::wait(Clock::time_point until) {
  if (cut_) co_return;
  Error cancelled;
  event_.expires_at(until);
  co_await event_.async_wait(asio::redirect_error(kAwait, cancelled));
}

// From any thread.
void Connection::wake() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->poke(); });
}

// A client that has much to ask gives others their turn.
Task<> Connection::breathe() {
  if (++turns_ < kTurns) co_return;
  turns_ = 0;
  co_await asio::post(socket_.get_executor(), kAwait);
}

// ---- Responding

Task<bool> Connection::refuse(Exchange& exchange, Failure failure) {
  exchange.keep = false;
  if (failure.status == kClientGone) {
    exchange.box->gone = true;
    complete(exchange, kClientGone);
    co_return false;
  }
  Response response = make_refusal(exchange, failure.status, failure.detail);
  co_return co_await respond(exchange, response);
}

// True if the connection is kept.
Task<bool> Connection::respond(Exchange& exchange, Response& response) {
  timed_out_ = false;
  const bool bodiless = has_no_body(response.status);
  Framing framing = bodiless ? Framing::none : Framing::length;
  if (response.parts && !bodiless) framing = exchange.http_10 ? Framing::close : Framing::chunked;
  if (draining_ || framing == Framing::close) exchange.keep = false;
  const bool keep = exchange.keep;
  head_.clear();
  append_head(head_, response, framing,
              !keep              ? Afterwards::close
              : exchange.http_10 ? Afterwards::keep_said
                                 : Afterwards::keep);
  const bool send_body = !bodiless && exchange.request.method != "HEAD";
  std::string_view body;
  if (send_body && !response.parts) body = response.body;
  if (tls_ != nullptr && body.size() <= kJoined) head_ += std::exchange(body, {});

  Pieces pieces(head_, body);
  Error error;
  if (tls_ == nullptr) send_now(exchange, pieces, error);
  bool sent = !error && pieces.empty();
  if (!error && !sent) sent = co_await send(exchange, pieces);
  if (sent && send_body && response.parts) sent = co_await stream(exchange, response, framing);
  response.parts = nullptr;
  complete(exchange, sent && !exchange.box->gone ? response.status : kClientGone);
  if (!sent || cut_) co_return false;
  if (!exchange.keep || draining_) {
    co_await leave(exchange.body_left);
    co_return false;
  }
  if (buffer_.size() > 0) co_await breathe();
  co_return true;
}

bool is_event_stream(const Response& response) {
  for (const auto& [name, value] : response.headers) {
    if ((name == "Content-Type" || name == "content-type") &&
        value.starts_with("text/event-stream")) {
      return true;
    }
  }
  return false;
}

// Asks for a part when the one before has been written; false if the client has to see a cut.
Task<bool> Connection::stream(Exchange& exchange, Response& response, Framing framing) {
  const bool of_events = is_event_stream(response);
  const auto enough = of_events ? &Connection::left_or_draining : &Connection::left;
  const bool chunked = framing == Framing::chunked;
  while (!(this->*enough)()) {
    const auto box = std::make_shared<Mailbox<std::optional<std::string>>>();
    const Leaving leaving{*box};
    try {
      response.parts(sender_to(box));
    } catch (...) {
      co_return false;
    }
    Wait wait = Wait::quiet;
    while (wait == Wait::quiet) {
      const auto until = of_events ? Clock::now() + server_.options().event_keep_alive : kNever;
      wait = co_await arrives(*box, enough, until);
      // Whoever stands between, and the client itself, may take silence for an end.
      if (wait == Wait::quiet && !co_await send_part(exchange, ":\n\n", chunked)) co_return false;
    }
    if (wait == Wait::enough) break;
    const std::optional<std::optional<std::string>> part = box->take();
    if (!part.has_value()) co_return false;
    if (!part->has_value()) break;
    if (!co_await send_part(exchange, **part, chunked)) co_return false;
    co_await breathe();
    watch();
  }
  if (left()) co_return false;
  if (!chunked) co_return true;
  co_return co_await send(exchange, Pieces("0\r\n\r\n"));
}

// `bytes` must stay until it has been sent.
Task<bool> Connection::send_part(Exchange& exchange, std::string_view bytes, bool chunked) {
  if (bytes.empty()) co_return true;
  std::array<char, 20> size;
  const auto length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  const std::string_view start(size.data(), static_cast<std::size_t>(length));
  co_return co_await send(exchange, chunked ? Pieces(start, bytes, "\r\n") : Pieces(bytes));
}

void Connection::complete(Exchange& exchange, unsigned status) {
  box_.reset();
  const std::chrono::duration<double> seconds = Clock::now() - exchange.begun;
  try {
    server_.application().completed(exchange.request, status, exchange.sent, seconds.count());
  } catch (...) {  // it is a report; the client has its answer
    return;
  }
}

// ---- Bytes

void Connection::keep(std::string_view bytes) {
  buffer_.commit(asio::buffer_copy(buffer_.prepare(bytes.size()), asio::buffer(bytes)));
}

std::string_view Connection::buffered() const {
  const auto bytes = buffer_.data();
  return {static_cast<const char*>(bytes.data()), bytes.size()};
}

Task<std::size_t> Connection::read_some(asio::mutable_buffer into, Error& error) {
  std::size_t size = 0;
  if (tls_ != nullptr) {
    size = co_await tls_->async_read_some(asio::buffer(into), asio::redirect_error(kAwait, error));
  } else {
    size =
        co_await socket_.async_read_some(asio::buffer(into), asio::redirect_error(kAwait, error));
  }
  turns_ = 0;
  if (timed_out_) error = asio::error::timed_out;
  if (cut_) error = asio::error::operation_aborted;
  co_return size;
}

// Brings more bytes into the buffer, by the watch if it is under way.
Task<Error> Connection::fill(std::size_t size) {
  if (watching_) {
    const std::size_t had = buffer_.size();
    while (watching_ && !cut_ && !timed_out_) co_await wait();
    if (timed_out_) co_return asio::error::timed_out;
    if (cut_) co_return asio::error::operation_aborted;
    if (buffer_.size() > had) co_return Error{};
  }
  if (end_) co_return end_;
  Error error;
  const std::size_t got = co_await read_some(buffer_.prepare(size), error);
  buffer_.commit(got);
  co_return error;
}

// Reads into memory of its own: what is in the buffer may be used up meanwhile.
void Connection::watch() {
  if (watching_ || end_ || cut_ || buffer_.size() >= kMaxAhead) return;
  watching_ = true;
  auto done = [self = shared_from_this()](const Error& error, std::size_t size) {
    self->watched(error, size);
  };
  ahead_.resize(kReadSize);
  const auto room = asio::buffer(ahead_);
  if (tls_ != nullptr) {
    tls_->async_read_some(room, std::move(done));
  } else {
    socket_.async_read_some(room, std::move(done));
  }
}

// A client that only closes its sending side may still read: it gets its answer, if one comes, but
// counts as gone.
void Connection::watched(const Error& error, std::size_t size) {
  watching_ = false;
  keep(std::string_view(ahead_).substr(0, size));
  if (error && error != asio::error::operation_aborted) {
    end_ = error;
    if (box_ != nullptr) box_->gone = true;
    broken_ = error != asio::error::eof && error != ssl::error::stream_truncated;
  }
  poke();
}

// What goes without waiting.
void Connection::send_now(Exchange& exchange, Pieces& pieces, Error& error) {
  while (!pieces.empty()) {
    const std::size_t size = socket_.write_some(pieces, error);
    exchange.sent += size;
    pieces.consume(size);
    if (error == asio::error::would_block) {
      error = {};
      return;
    }
    if (error) {
      broken_ = true;
      return;
    }
  }
}

Task<bool> Connection::send(Exchange& exchange, Pieces pieces) {
  Error error;
  if (tls_ == nullptr) send_now(exchange, pieces, error);
  while (!pieces.empty() && !error) {
    set_deadline(server_.options().write_timeout);
    std::size_t size = 0;
    if (tls_ != nullptr) {
      size = co_await tls_->async_write_some(pieces, asio::redirect_error(kAwait, error));
    } else {
      size = co_await socket_.async_write_some(pieces, asio::redirect_error(kAwait, error));
    }
    turns_ = 0;
    exchange.sent += size;
    pieces.consume(size);
    if (timed_out_ || cut_) error = asio::error::operation_aborted;
  }
  no_deadline();
  if (error) broken_ = true;
  co_return !error;
}

// ---- Time: moving the deadline further costs nothing, as the watchdog looks when it fires.

void Connection::set_deadline(Clock::duration from_now) {
  timed_out_ = false;
  deadline_ = Clock::now() + from_now;
  if (deadline_ < armed_) arm();
}

void Connection::arm() {
  armed_ = deadline_;
  watchdog_.expires_at(armed_);
  watchdog_.async_wait([self = shared_from_this()](const Error& error) {
    if (!error) self->tick();
  });
}

void Connection::tick() {
  armed_ = kNever;
  if (deadline_ == kNever || cut_) return;
  if (Clock::now() < deadline_) return arm();
  timed_out_ = true;
  no_deadline();
  Error ignored;
  socket_.cancel(ignored);
  poke();
}

// ---- The server

Server::Server(HttpOptions options, Application& application)
    : options_(std::move(options)),
      application_(application),
      io_(static_cast<int>(std::max(1U, options_.threads))) {
  if (!options_.tls_certificate.empty() || !options_.tls_key.empty()) {
    tls_ = std::make_unique<ssl::context>(
        make_tls(options_.tls_certificate, options_.tls_key).release());
  }
  listen();
  asio::co_spawn(
      strand_, [this] { return accept(); }, asio::detached);
}

Server::~Server() = default;

std::string explain_listen(const HttpOptions& options, const Error& error) {
  const bool v6 = options.address.find(':') != std::string::npos;
  std::string text = "cannot listen on " + (v6 ? "[" + options.address + "]" : options.address) +
                     ":" + std::to_string(options.port) + ": " + error.message();
  if (error == asio::error::address_in_use) {
    text += "; another program has the port: end it, or choose another port";
  } else if (error == asio::error::access_denied) {
    text += "; ports below 1024 need the right to them: choose a higher one";
  } else if (error.value() == EADDRNOTAVAIL) {
    text += "; the address must be one of this machine's, 0.0.0.0 or ::";
  }
  return text;
}

void Server::listen() {
  Error error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) {
    throw std::runtime_error("cannot listen on " + options_.address +
                             ": it is no IPv4 or IPv6 address (try 127.0.0.1, 0.0.0.0 or ::)");
  }
  const tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error && address.is_v6() && address.is_unspecified()) {
    acceptor_.set_option(asio::ip::v6_only(false), error);  // :: serves IPv4 too
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(Acceptor::max_listen_connections, error);
  if (error) throw std::runtime_error(explain_listen(options_, error));
  port_ = acceptor_.local_endpoint().port();
}

// When the process has no descriptor left, clients wait in the kernel's queue until one is closed.
Task<> Server::accept() {
  while (acceptor_.is_open()) {
    Error error;
    Socket socket = co_await acceptor_.async_accept(asio::make_strand(io_),
                                                    asio::redirect_error(kAwait, error));
    if (!acceptor_.is_open()) co_return;
    bool pause = static_cast<bool>(error);
    if (error == asio::error::connection_aborted) continue;
    if (!error) {
      try {
        welcome(std::move(socket));
      } catch (const std::exception&) {
        pause = true;
      }
    }
    if (pause) {
      pause_.expires_after(kAcceptPause);
      co_await pause_.async_wait(asio::redirect_error(kAwait, error));
    }
  }
}

void Server::welcome(Socket socket) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    const bool full = served_ >= options_.max_connections;
    if (stopping_ || (full && known_.size() - served_ >= kMaxTurnedAway)) return;
    const auto purpose = full ? Connection::Purpose::turn_away : Connection::Purpose::serve;
    connection = std::make_shared<Connection>(*this, std::move(socket), purpose);
    known_.emplace(connection.get(), connection);
    if (!full) ++served_;
  }
  connection->start();
}

void Server::forget(Connection& connection) {
  const std::lock_guard lock(mutex_);
  if (known_.erase(&connection) == 0) return;
  if (connection.purpose() == Connection::Purpose::serve) --served_;
  if (stopping_ && known_.empty()) {
    asio::post(strand_, [this] { patience_.cancel(); });
  }
}

std::vector<std::shared_ptr<Connection>> Server::all() {
  std::vector<std::shared_ptr<Connection>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(known_.size());
  for (const auto& [address, known] : known_) {
    if (auto connection = known.lock()) all.push_back(std::move(connection));
  }
  return all;
}

void Server::work() {
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception&) {  // out of memory in a handler: the others go on
      continue;
    }
  }
}

void Server::run() {
  std::vector<std::thread> others;
  try {
    for (unsigned i = 1; i < options_.threads; ++i) others.emplace_back([this] { work(); });
  } catch (...) {
    io_.stop();
    for (auto& thread : others) thread.join();
    throw;
  }
  work();
  for (auto& thread : others) thread.join();
}

void Server::stop(std::chrono::milliseconds patience) {
  const auto most = std::chrono::milliseconds(kLongestPatience);
  patience = std::clamp(patience, std::chrono::milliseconds(0), most);
  asio::post(strand_, [this, patience] { begin_stop(patience); });
}

// Called again, it only shortens the patience.
void Server::begin_stop(std::chrono::milliseconds patience) {
  Error ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    again = std::exchange(stopping_, true);
    if (known_.empty()) return;
  }
  for (const auto& connection : all()) {
    asio::post(connection->executor(), [connection] { connection->drain(); });
  }
  const auto end = Clock::now() + patience;
  if (again && end >= patience_.expiry()) return;
  patience_.expires_at(end);
  patience_.async_wait([this](const Error& error) {
    if (!error) cut_all();
  });
}

void Server::cut_all() {
  for (const auto& connection : all()) {
    asio::post(connection->executor(), [connection] { connection->cut(); });
  }
}

}  // namespace

struct HttpServer::Impl : Server {
  using Server::Server;
};

HttpServer::HttpServer(HttpOptions options, Application& application)
    : impl_(std::make_unique<Impl>(std::move(options), application)) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const noexcept {
  return impl_->port();
}

void HttpServer::run() {
  impl_->run();
}

void HttpServer::stop(std::chrono::milliseconds patience) {
  impl_->stop(patience);
}

std::size_t HttpServer::connections() const noexcept {
  return impl_->connections();
}

}  // namespace dpcache::server
