// How the HTTP server brings answers to the client: from any thread, in parts, to slow readers, and
// to those who have gone.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>

#include "http_support.h"

namespace dpcache::server {
namespace {

using namespace std::chrono_literals;
using PartDone = std::function<void(std::optional<std::string>)>;

class HttpResponses : public testing::Test {
 protected:
  static HttpOptions two_threads() {
    HttpOptions options;
    options.threads = 2;
    return options;
  }

  // Answers every request with these parts.
  void answer_with(NextPart parts, const char* type = "text/plain") {
    application.on_handle = [parts = std::move(parts), type](const Request&,
                                                             const Respond& respond) {
      Response response;
      response.headers = {{"Content-Type", type}};
      response.parts = parts;
      respond(std::move(response));
    };
  }

  // Keeps what it is asked, until the test answers.
  void hold() {
    application.on_handle = [this](Request request, Respond respond) {
      const std::lock_guard lock(mutex);
      requests.push_back(std::move(request));
      responds.push_back(std::move(respond));
    };
  }

  Respond held(std::size_t index) {
    const auto has = [&] {
      const std::lock_guard lock(mutex);
      return responds.size() > index;
    };
    EXPECT_TRUE(eventually(has));
    const std::lock_guard lock(mutex);
    return std::exchange(responds.at(index), nullptr);
  }

  std::mutex mutex;
  std::vector<Request> requests;
  std::vector<Respond> responds;
  TinyApplication application;
  Running running{application, two_threads()};
};

TEST_F(HttpResponses, ComeFromAnyThread) {
  std::vector<std::thread> threads;
  application.on_handle = [&](Request request, Respond respond) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([target = std::move(request.target), respond = std::move(respond)] {
      respond(text(target));
    });
  };
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<Client>(running.port()));
    for (int round = 0; round < 20; ++round) {
      for (auto& client : clients) client->send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
      for (auto& client : clients) EXPECT_EQ(client->reply().body, "/a");
    }
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(application.completed_of(160).size(), 160U);
}

TEST_F(HttpResponses, CountOnce) {
  application.on_handle = [](const Request&, const Respond& respond) {
    respond(text("first"));
    respond(text("second"));
    throw std::runtime_error("after the answer");
  };
  Client client(running.port());
  EXPECT_EQ(client.get("/").body, "first");
  EXPECT_EQ(client.get("/").body, "first");
}

TEST_F(HttpResponses, Are500WhereTheApplicationFails) {
  application.on_handle = [](const Request& request, const Respond&) {
    if (request.target == "/throw") throw std::runtime_error("no");
  };
  Client client(running.port());
  EXPECT_EQ(client.get("/throw").status, 500U);
  EXPECT_EQ(client.get("/forget").status, 500U);  // `respond` is destroyed and nobody has called it
  hold();
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  held(0) = nullptr;
  EXPECT_EQ(client.reply().status, 500U);
}

TEST_F(HttpResponses, OfPipelinedRequestsKeepTheirOrder) {
  hold();
  Client client(running.port());
  client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  const Respond first = held(0);
  client.send("GET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
  first(text("one"));
  EXPECT_EQ(client.reply().body, "one");
  held(1)(text("two"));
  EXPECT_EQ(client.reply().body, "two");
  held(2)(text("three"));
  EXPECT_EQ(client.reply().body, "three");
}

TEST_F(HttpResponses, AreForTheRequestsThatComeWhileTheyAreWaitedFor) {
  hold();
  Client client(running.port());
  client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  for (std::size_t i = 0; i < 20; ++i) {
    const Respond respond = held(i);
    std::this_thread::sleep_for(2ms);
    respond(text("x"));
    client.reply();
    client.send("GET /" + std::to_string(i + 3) + " HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  held(20);
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(requests.at(i).target, "/" + std::to_string(i + 1));
  }
}

TEST_F(HttpResponses, MayWaitWhileTheNextBodyComes) {
  hold();
  Client client(running.port());
  client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
  const Respond first = held(0);
  const std::string body(300'000, 'b');
  client.send("POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n");
  client.send(body);
  first(text("one"));
  EXPECT_EQ(client.reply().body, "one");
  const Respond second = held(1);
  {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(requests.at(1).body == body);
  }
  second(text("two"));
  EXPECT_EQ(client.reply().body, "two");
}

TEST_F(HttpResponses, NoticeThatTheClientHasGone) {
  hold();
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const Respond respond = held(0);
  client.close();
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return requests.at(0).gone->load();
  }));
  respond(text("too late"));
  const auto done = application.completed_of(1).at(0);
  EXPECT_EQ(done.status, 499U);
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
}

TEST_F(HttpResponses, EndAtOnceWhenTheConnectionIsBroken) {
  hold();
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const Respond respond = held(0);
  client.reset();
  EXPECT_EQ(application.completed_of(1).at(0).status, 499U);  // nobody waits for the answer
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
  respond(text("too late"));
}

TEST_F(HttpResponses, ReachAClientThatHasOnlyStoppedSending) {
  hold();
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  client.shutdown_send();
  held(0)(text("still here"));
  EXPECT_EQ(client.reply().body, "still here");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpResponses, SayWhatTheApplicationSays) {
  application.on_handle = [](const Request& request, const Respond& respond) {
    Response response;
    response.status = request.target == "/204" ? 204 : request.target == "/304" ? 304 : 299;
    response.headers = {{"X-One", "1"}, {"X-Split", "a\r\nSet-Cookie: b\0c"}, {"X-One", "2"}};
    response.body = "body";
    respond(std::move(response));
  };
  Client client(running.port());
  const Reply reply = client.get("/");
  EXPECT_EQ(reply.status, 299U);
  EXPECT_EQ(reply.header("X-Split"), "a  Set-Cookie: b");
  EXPECT_NE(reply.head.find("X-One: 1\r\n"), std::string::npos);
  EXPECT_NE(reply.head.find("X-One: 2\r\n"), std::string::npos);
  EXPECT_EQ(reply.body, "body");
  EXPECT_EQ(client.get("/204").header("Content-Length"), "");
  EXPECT_EQ(client.get("/304").header("Content-Length"), "");
  EXPECT_EQ(client.get("/").body, "body");
}

TEST_F(HttpResponses, OfManyMegabytesReachASlowReader) {
  std::string large(16 << 20, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4099) large[i] = static_cast<char>('a' + i % 26);
  application.on_handle = [&](const Request&, const Respond& respond) { respond(text(large)); };
  Client client(running.port(), 4096);
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(client.reply().body == large);
  const auto done = application.completed_of(1).at(0);
  EXPECT_EQ(done.status, 200U);
  EXPECT_GT(done.bytes_sent, large.size());
}

TEST(HttpTimeouts, EndAnswersToWhoDoesNotRead) {
  TinyApplication application;
  application.on_handle = [](const Request&, const Respond& respond) {
    respond(text(std::string(64 << 20, 'x')));
  };
  HttpOptions options;
  options.write_timeout = 200ms;
  Running running(application, options);
  Client client(running.port(), 4096);
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto done = application.completed_of(1).at(0);
  EXPECT_EQ(done.status, 499U);
  EXPECT_LT(done.bytes_sent, std::uint64_t{64} << 20);
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
}

// ---- In parts

NextPart counting(int count, std::string part) {
  auto left = std::make_shared<int>(count);
  return [left, part = std::move(part)](const PartDone& done) {
    if ((*left)-- == 0) return done(std::nullopt);
    done(part);
  };
}

TEST_F(HttpResponses, MayComeInParts) {
  answer_with(counting(200, "part "));
  Client client(running.port());
  const Reply reply = client.get("/");
  EXPECT_EQ(reply.header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(reply.header("Content-Length"), "");
  EXPECT_TRUE(reply.whole);
  EXPECT_EQ(reply.body.size(), 1000U);
  answer_with([calls = std::make_shared<int>(0)](const PartDone& done) {
    switch ((*calls)++) {
      case 0:
        return done("a");
      case 1:
        return done("");  // no end, which in chunks an empty one would be
      case 2:
        return done("b");
      default:
        return done(std::nullopt);
    }
  });
  EXPECT_EQ(client.get("/").body, "ab");
}

TEST_F(HttpResponses, InPartsEndWithTheConnectionInHttp10) {
  answer_with(counting(3, "abc"));
  Client client(running.port());
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const Reply reply = client.reply();
  EXPECT_EQ(reply.header("Transfer-Encoding"), "");
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_EQ(reply.body, "abcabcabc");
}

TEST_F(HttpResponses, InPartsAreNotAskedForByHead) {
  std::atomic<int> asked = 0;
  answer_with([&](const PartDone& done) {
    ++asked;
    done("x");
  });
  Client client(running.port());
  client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.reply("HEAD").header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(asked, 0);
}

TEST_F(HttpResponses, InPartsThatFailAreNotWhole) {
  answer_with([calls = std::make_shared<int>(0)](const PartDone& done) {
    if ((*calls)++ == 0) return done("a");
    throw std::runtime_error("no more");
  });
  Client client(running.port());
  Reply reply = client.get("/");
  EXPECT_EQ(reply.body, "a");
  EXPECT_FALSE(reply.whole);
  answer_with([calls = std::make_shared<int>(0)](const PartDone& done) {
    if ((*calls)++ == 0) done("a");  // and never again
  });
  Client other(running.port());
  reply = other.get("/");
  EXPECT_EQ(reply.body, "a");
  EXPECT_FALSE(reply.whole);
}

TEST_F(HttpResponses, InPartsAreAskedForAsTheClientReads) {
  std::atomic<int> asked = 0;
  answer_with([&](const PartDone& done) {
    ++asked;
    done(std::string(1 << 20, 'x'));
  });
  {
    Client client(running.port(), 4096);
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return asked > 0; }));
    std::this_thread::sleep_for(200ms);
    EXPECT_LT(asked, 64);  // what the kernel holds, not more
    const int before = asked;
    std::size_t read = 0;
    while (asked < before + 8 && read < (std::size_t{256} << 20))
      read += client.receive(65536).size();
    EXPECT_GE(asked, before + 8);
  }
  EXPECT_EQ(application.completed_of(1).at(0).status, 499U);
}

// Events of a topic that a test publishes by hand.
class Topic {
 public:
  NextPart parts() {
    return [this, alive = std::make_shared<Alive>(*this)](PartDone done) {
      const std::lock_guard lock(mutex_);
      waiting_ = std::move(done);
    };
  }
  void publish(std::optional<std::string> event) {
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex_);
      return waiting_ != nullptr;
    }));
    PartDone done;
    {
      const std::lock_guard lock(mutex_);
      done = std::exchange(waiting_, nullptr);
    }
    done(std::move(event));
  }
  int alive() const { return alive_; }

 private:
  struct Alive {
    explicit Alive(Topic& of) : topic(of) { ++topic.alive_; }
    ~Alive() { --topic.alive_; }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    Topic& topic;
  };

  std::mutex mutex_;
  PartDone waiting_;
  std::atomic<int> alive_ = 0;
};

TEST_F(HttpResponses, InPartsWaitForEvents) {
  Topic topic;
  answer_with(topic.parts(), "text/event-stream");
  application.on_handle = [&](const Request&, const Respond& respond) {
    Response response;
    response.parts = topic.parts();
    respond(std::move(response));
  };
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  for (const std::string event : {"data: 1\n\n", "data: 2\n\n"}) {
    topic.publish(event);
    EXPECT_NE(client.until("\n\n").find(event), std::string::npos);
  }
  topic.publish(std::nullopt);
  client.until("0\r\n\r\n");
  application.on_handle = nullptr;
  EXPECT_EQ(client.get("/next").body, "GET /next");
}

// Proxies end connections that are silent for a minute or so.
TEST(EventStreams, SayThatTheyAreAliveWhenNothingHappens) {
  TinyApplication application;
  HttpOptions options;
  options.event_keep_alive = 20ms;
  Running running(application, options);
  Topic topic;
  application.on_handle = [&](const Request&, const Respond& respond) {
    Response response;
    response.headers = {{"Content-Type", "text/event-stream"}};
    response.parts = topic.parts();
    respond(std::move(response));
  };
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  for (int i = 0; i < 3; ++i) EXPECT_NE(client.until("3\r\n:\n\n\r\n"), "");
  topic.publish("data: 1\n\n");
  EXPECT_NE(client.until("data: 1\n\n"), "");
  EXPECT_NE(client.until("3\r\n:\n\n\r\n"), "");
  topic.publish(std::nullopt);
  EXPECT_NE(client.until("0\r\n\r\n"), "");
}

TEST_F(HttpResponses, InPartsEndWhenTheClientHasGone) {
  for (const bool politely : {true, false}) {
    Topic topic;
    application.on_handle = [&](const Request&, const Respond& respond) {
      Response response;
      response.parts = topic.parts();
      respond(std::move(response));
    };
    {
      Client client(running.port());
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      topic.publish("x");
      client.until("x");
      EXPECT_EQ(topic.alive(), 1);
      if (!politely) client.reset();
    }
    EXPECT_TRUE(eventually([&] { return topic.alive() == 0; }));  // though it owes a call
    EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
    topic.publish("nobody listens");
  }
  for (const auto& done : application.completed_of(2)) EXPECT_EQ(done.status, 499U);
}

// ---- Many connections

TEST(HttpConnections, BeyondTheMostAreTurnedAway) {
  TinyApplication application;
  HttpOptions options;
  options.max_connections = 2;
  Running running(application, options);
  Client first(running.port());
  Client second(running.port());
  EXPECT_EQ(first.get("/").status, 200U);
  EXPECT_EQ(second.get("/").status, 200U);
  Client third(running.port());
  third.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(third.reply().status, 503U);
  EXPECT_TRUE(third.closed());
  EXPECT_EQ(running.server().connections(), 2U);
  first.close();
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 1; }));
  Client fourth(running.port());
  EXPECT_EQ(fourth.get("/").status, 200U);
}

TEST(HttpConnections, MayBeManyAndIdle) {
  std::size_t count = std::getenv("DPCACHE_LONG") != nullptr ? 10'000 : 1000;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit old = limit;
  limit.rlim_cur = limit.rlim_max = std::max<rlim_t>(limit.rlim_max, 2 * count + 100);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {  // only root may have more
    limit.rlim_cur = limit.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    count = std::min<std::size_t>(count, (limit.rlim_cur - 100) / 2);
  }

  TinyApplication application;
  Running running(application);
  std::vector<std::unique_ptr<Client>> idle;
  for (std::size_t i = 0; i < count; ++i) idle.push_back(std::make_unique<Client>(running.port()));
  EXPECT_TRUE(eventually([&] { return running.server().connections() == count; }));
  Client busy(running.port());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(busy.get("/").status, 200U);
  for (std::size_t i = 0; i < count; i += 97) EXPECT_EQ(idle[i]->get("/").status, 200U);
}

TEST(HttpConnections, WaitWhileNoDescriptorIsLeft) {
  TinyApplication application;
  Running running(application);
  Client early(running.port());
  EXPECT_EQ(early.get("/").status, 200U);
  const int next = dup(STDIN_FILENO);
  ASSERT_GE(next, 0);
  close(next);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit one_left{static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_left), 0);
  const std::clock_t start = std::clock();
  Client late(running.port());  // takes it; the server finds none for its side
  late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
  std::this_thread::sleep_for(400ms);
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 5);  // it does not spin
  EXPECT_EQ(early.get("/").status, 200U);
  EXPECT_EQ(running.server().connections(), 1U);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(late.reply().body, "GET /late");
}

TEST(HttpConnections, MayComeOverIPv6AndIPv4) {
  TinyApplication application;
  HttpOptions options;
  options.address = "::";
  std::unique_ptr<Running> running;
  try {
    running = std::make_unique<Running>(application, options);
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << "no IPv6 here: " << error.what();
  }
  Client six(running->port(), "::1");
  EXPECT_EQ(six.get("/").status, 200U);
  Client four(running->port());
  EXPECT_EQ(four.get("/").status, 200U);
  const auto done = application.completed_of(2);
  EXPECT_EQ(done.at(0).request.remote, "::1");
  EXPECT_EQ(done.at(1).request.remote, "127.0.0.1");
}

}  // namespace
}  // namespace dpcache::server
