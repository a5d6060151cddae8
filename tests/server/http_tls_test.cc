// The HTTP server over TLS.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <fstream>

#include "http_support.h"

namespace dpcache::server {
namespace {

using namespace std::chrono_literals;

class HttpTls : public testing::Test {
 protected:
  HttpOptions options() const {
    HttpOptions options;
    options.threads = 2;
    options.tls_certificate = files.certificate;
    options.tls_key = files.key;
    return options;
  }

  TlsFiles files;
  TinyApplication application;
};

TEST_F(HttpTls, ServesTheSame) {
  Running running(application, options());
  TlsClient client(running.port());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.version(), "TLSv1.3");
  EXPECT_EQ(client.protocol(), "http/1.1");
  EXPECT_EQ(client.get("/a").body, "GET /a");
  const std::string body(500'000, 'x');
  client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n");
  client.send(body);
  EXPECT_TRUE(client.reply().body == body);
  EXPECT_EQ(client.get("/b").body, "GET /b");
  EXPECT_TRUE(client.shut_down());
  for (const auto& done : application.completed_of(3)) EXPECT_TRUE(done.request.secure);
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
}

TEST_F(HttpTls, AnswersFromAnyThreadAndInParts) {
  std::atomic<int> left = 50;
  std::vector<std::thread> threads;
  application.on_handle = [&](const Request&, Respond respond) {
    threads.emplace_back([&, respond = std::move(respond)] {
      Response response;
      response.parts = [&](auto done) {
        if (left-- == 0) return done(std::nullopt);
        done(std::string(30'000, 'x'));
      };
      respond(std::move(response));
    });
  };
  Running running(application, options());
  TlsClient client(running.port());
  EXPECT_EQ(client.get("/").body.size(), 1'500'000U);
  left = 1;
  EXPECT_EQ(client.get("/").body.size(), 30'000U);
  running.server().stop(0ms);
  running.join();
  for (auto& thread : threads) thread.join();
}

TEST_F(HttpTls, EndsWithAGoodbye) {
  Running running(application, options());
  TlsClient client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.reply().status, 200U);
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(client.shut_down());  // it was no cut
}

TEST_F(HttpTls, NeedsVersion12) {
  Running running(application, options());
  EXPECT_TRUE(TlsClient(running.port(), TLS1_2_VERSION).connected());
  EXPECT_FALSE(TlsClient(running.port(), TLS1_1_VERSION).connected());
}

TEST_F(HttpTls, NoticesThatTheClientHasGone) {
  std::mutex mutex;
  std::shared_ptr<const std::atomic<bool>> gone;
  Respond held;
  application.on_handle = [&](const Request& request, Respond respond) {
    const std::lock_guard lock(mutex);
    gone = request.gone;
    held = std::move(respond);
  };
  Running running(application, options());
  TlsClient client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto asked = [&] {
    const std::lock_guard lock(mutex);
    return gone != nullptr;
  };
  ASSERT_TRUE(eventually(asked));
  client.close();
  EXPECT_TRUE(eventually([&] { return gone->load(); }));
  held(text("too late"));
  EXPECT_EQ(application.completed_of(1).at(0).status, 499U);
}

TEST_F(HttpTls, EndsWhatIsNoHandshake) {
  HttpOptions quick = options();
  quick.header_timeout = 200ms;
  Running running(application, quick);
  Client plain(running.port());
  plain.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  while (!plain.receive(1000).empty()) {  // OpenSSL sends an alert
  }
  Client silent(running.port());
  EXPECT_TRUE(silent.closed());
  TlsClient idle(running.port());
  EXPECT_TRUE(idle.closed());  // the header's time runs from the handshake on
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 0; }));
}

TEST_F(HttpTls, StopsWhileClientsAreConnected) {
  Running running(application, options());
  TlsClient idle(running.port());
  const Client silent(running.port());
  EXPECT_TRUE(eventually([&] { return running.server().connections() == 2; }));
  running.server().stop(60s);
  running.join();
  EXPECT_TRUE(idle.closed());
}

TEST_F(HttpTls, SaysWhichFileCannotBeUsed) {
  const TlsFiles other;
  const auto failure = [&](const std::string& certificate, const std::string& key) -> std::string {
    HttpOptions bad;
    bad.port = 0;
    bad.tls_certificate = certificate;
    bad.tls_key = key;
    try {
      const HttpServer server(bad, application);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing";
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(failure(files.certificate, files.key), "nothing");
  expect(failure(files.certificate, ""), "given together");
  expect(failure("", files.key), "given together");
  expect(failure(files.folder + "/none", files.key), "/none: No such file");
  expect(failure(files.certificate, files.folder + "/none"), "/none: No such file");
  expect(failure(files.certificate, other.key), "does not belong to the certificate");
  expect(failure(files.certificate, files.encrypted_key), "is encrypted");
  expect(failure(files.certificate, files.certificate), "is no private key in PEM");
  expect(failure(files.key, files.key), "is no certificate in PEM");
  expect(failure(files.folder, files.key), "Is a directory");
  std::ofstream(files.folder + "/empty").flush();
  expect(failure(files.folder + "/empty", files.key), "it is empty");
}

}  // namespace
}  // namespace dpcache::server
