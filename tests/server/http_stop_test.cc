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
    application.on_handle = [this](const Request& request, Respond respond) {
      if (request.target == "/now") return respond(text("now"));
      const std::lock_guard lock(mutex);
      held = std::move(respond);
      ++asked;
    };
  }

  static HttpOptions two_threads() {
    HttpOptions options;
    options.threads = 2;
    return options;
  }

  // A request that the application keeps.
  void ask(Client& client) {
    const int before = asked;
    client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return asked > before; }));
  }

  std::mutex mutex;
  Respond held;
  std::atomic<int> asked = 0;
  TinyApplication application;
  Running running{application, two_threads()};
};

TEST_F(HttpStop, ClosesIdleConnectionsAtOnce) {
  Client fresh(running.port());
  Client used(running.port());
  EXPECT_EQ(used.get("/now").status, 200U);
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 2; }));
  running.server().stop(kLong);
  EXPECT_TRUE(fresh.closed());
  EXPECT_TRUE(used.closed());
  running.join();
  EXPECT_EQ(running.server().connections(), 0U);
  EXPECT_THROW(Client{running.port()}, std::runtime_error);
}

TEST_F(HttpStop, LetsRequestsUnderWayEnd) {
  Client client(running.port());
  Client slow(running.port());
  slow.send("GET /now HTTP/1.1\r\nHo");
  ask(client);
  running.server().stop(kLong);
  EXPECT_TRUE(eventually([&] {
    try {
      const Client refused(running.port());
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  slow.send("st: h\r\n\r\n");
  EXPECT_EQ(slow.reply().header("Connection"), "close");
  held(text("done"));
  const Reply reply = client.reply();
  EXPECT_EQ(reply.body, "done");
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_TRUE(client.closed());
  client.close();
  slow.close();
  running.join();
}

TEST_F(HttpStop, HasNoMorePatienceThanItIsGiven) {
  Client client(running.port());
  ask(client);
  running.server().stop(100ms);
  running.join();
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(application.completed_of(1).at(0).status, 499U);
  held(text("nobody waits"));
}

TEST_F(HttpStop, MayBeHurried) {
  Client client(running.port());
  ask(client);
  running.server().stop(kLong);
  running.server().stop(0ms);
  running.join();
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpStop, EndsStreamsOfEvents) {
  application.on_handle = [&](const Request&, const Respond& respond) {
    Response response;
    response.headers = {{"Content-Type", "text/event-stream"}};
    response.parts = [&, sent = std::make_shared<bool>(false)](auto done) {
      if (!std::exchange(*sent, true)) return done("data: 1\n\n");
      const std::lock_guard lock(mutex);
      held = [done](const Response&) { done("data: 2\n\n"); };
    };
    respond(std::move(response));
  };
  Client client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  client.until("data: 1\n\n");
  running.server().stop(kLong);
  client.until("0\r\n\r\n");
  EXPECT_TRUE(client.closed());
  client.close();
  running.join();
  held({});
}

TEST_F(HttpStop, ComesWhileManyAsk) {
  std::atomic<bool> over = false;
  std::atomic<int> answers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!over) {
        try {
          Client client(running.port());
          for (int k = 0; k < 10; ++k) {
            if (client.get("/now").status == 200) ++answers;
          }
        } catch (const std::runtime_error&) {  // closed in between
        }
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return answers > 100; }));
  running.server().stop(kLong);
  running.join();
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(running.server().connections(), 0U);
}

}  // namespace
}  // namespace dpcache::server
