// How the HTTP server starts and stops.
#include <gtest/gtest.h>

#include <atomic>

#include "http_support.h"

namespace dpcache::server {
namespace {

using namespace std::chrono_literals;
constexpr auto kLong = 60s;

// The message of what it throws.
std::string failure(const HttpOptions& options) {
  TinyApplication application;
  try {
    const HttpServer server(options, application);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(HttpStart, SaysWhyItCannotListen) {
  TinyApplication application;
  HttpOptions options;
  options.port = 0;
  const HttpServer first(options, application);
  options.port = first.port();
  const std::string used = failure(options);
  EXPECT_NE(used.find("127.0.0.1:" + std::to_string(options.port)), std::string::npos) << used;
  EXPECT_NE(used.find("choose another port"), std::string::npos) << used;
  options.address = "localhost";
  EXPECT_NE(failure(options).find("no IPv4 or IPv6 address"), std::string::npos);
  options.address = "192.0.2.1";  // of nobody's machine
  EXPECT_NE(failure(options).find("one of this machine's"), std::string::npos) << failure(options);
}

TEST(HttpStart, NeedNotRun) {
  TinyApplication application;
  HttpOptions options;
  options.port = 0;
  HttpServer server(options, application);
  Client client(server.port());
  server.stop(0ms);
}

class HttpStop : public testing::Test {
 protected:
  HttpStop() {
    application_.on_handle = [this](const Request& request, Respond respond) {
      if (request.target == "/now") return respond(text("now"));
      const std::lock_guard lock(mutex_);
      held_ = std::move(respond);
      ++asked_;
    };
  }

  static HttpOptions two_threads() {
    HttpOptions options;
    options.threads = 2;
    return options;
  }

  // A request that the application keeps.
  void ask(Client& client) {
    const int before = asked_;
    client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return asked_ > before; }));
  }

  std::mutex mutex_;
  Respond held_;
  std::atomic<int> asked_ = 0;
  TinyApplication application_;
  Running running_{application_, two_threads()};
};

TEST_F(HttpStop, ClosesIdleConnectionsAtOnce) {
  Client fresh(running_.port());
  Client used(running_.port());
  EXPECT_EQ(used.get("/now").status, 200U);
  EXPECT_TRUE(eventually([&] { return running_.server().connections() == 2; }));
  running_.server().stop(kLong);
  EXPECT_TRUE(fresh.closed());
  EXPECT_TRUE(used.closed());
  running_.join();
  EXPECT_EQ(running_.server().connections(), 0U);
  EXPECT_THROW(Client{running_.port()}, std::runtime_error);
}

TEST_F(HttpStop, LetsRequestsUnderWayEnd) {
  Client client(running_.port());
  Client slow(running_.port());
  slow.send("GET /now HTTP/1.1\r\nHo");
  ask(client);
  running_.server().stop(kLong);
  EXPECT_TRUE(eventually([&] {
    try {
      const Client refused(running_.port());
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  slow.send("st: h\r\n\r\n");
  EXPECT_EQ(slow.reply().header("Connection"), "close");
  held_(text("done"));
  const Reply reply = client.reply();
  EXPECT_EQ(reply.body, "done");
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_TRUE(client.closed());
  client.close();
  slow.close();
  running_.join();
}

TEST_F(HttpStop, HasNoMorePatienceThanItIsGiven) {
  Client client(running_.port());
  ask(client);
  running_.server().stop(100ms);
  running_.join();
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(application_.completed_of(1).at(0).status, 499U);
  held_(text("nobody waits"));
}

TEST_F(HttpStop, MayBeHurried) {
  Client client(running_.port());
  ask(client);
  running_.server().stop(kLong);
  running_.server().stop(0ms);
  running_.join();
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpStop, EndsStreamsOfEvents) {
  application_.on_handle = [&](const Request&, const Respond& respond) {
    Response response;
    response.headers = {{"Content-Type", "text/event-stream"}};
    response.parts = [&, sent = std::make_shared<bool>(false)](auto done) {
      if (!std::exchange(*sent, true)) return done("data: 1\n\n");
      const std::lock_guard lock(mutex_);
      held_ = [done](const Response&) { done("data: 2\n\n"); };
    };
    respond(std::move(response));
  };
  Client client(running_.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  client.until("data: 1\n\n");
  running_.server().stop(kLong);
  client.until("0\r\n\r\n");
  EXPECT_TRUE(client.closed());
  client.close();
  running_.join();
  held_({});
}

TEST_F(HttpStop, ComesWhileManyAsk) {
  std::atomic<bool> over = false;
  std::atomic<int> answers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!over) {
        try {
          Client client(running_.port());
          for (int k = 0; k < 10; ++k) {
            if (client.get("/now").status == 200) ++answers;
          }
        } catch (const std::runtime_error&) {  // closed in between
        }
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return answers > 100; }));
  running_.server().stop(kLong);
  running_.join();
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(running_.server().connections(), 0U);
}

}  // namespace
}  // namespace dpcache::server
