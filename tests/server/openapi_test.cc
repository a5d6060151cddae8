// The description of the API, held against the server: both know the same routes, what the document
// allows is taken, what it does not allow is refused and changes nothing, and every answer is as it
// says.
#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "server/api_support.h"

namespace dpcache::server::testing {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

const Headers kBinary = {{"content-type", "application/octet-stream"}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_pattern(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    ADD_FAILURE() << "no pattern: " << pattern;
    return false;
  }
  const bool holds = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return holds;
}

// The subset of JSON Schema that the document uses; another keyword is a fault of the test.
class Validator {
 public:
  explicit Validator(const json& document) : document_(document) {}

  const json& resolve(const json& maybe) const {
    if (!maybe.is_object() || !maybe.contains("$ref")) return maybe;
    return document_.at(Pointer(maybe["$ref"].get<std::string>().substr(1)));
  }
  // What is wrong, with its place; empty: nothing.
  std::string check(const json& value, const json& schema, const std::string& at = "") const {
    for (const auto& [keyword, rule] : schema.items()) {
      std::string fault = check_keyword(value, keyword, rule, schema, at);
      if (!fault.empty()) return fault;
    }
    return {};
  }

 private:
  static bool has_type(const json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.is_boolean();
    if (type == "string") return value.is_string();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }
  static std::string wrong(const std::string& at, const std::string& what, const json& value) {
    return at + ": " + what + ", not " + value.dump().substr(0, 200);
  }
  static std::string check_range(const json& value, const std::string& keyword, const json& rule,
                                 const std::string& at) {
    bool holds = true;
    if (value.is_number()) {
      if (keyword == "minimum") holds = value >= rule;
      if (keyword == "maximum") holds = value <= rule;
      if (keyword == "exclusiveMinimum") holds = value > rule;
    }
    if (value.is_array()) {
      if (keyword == "minItems") holds = value.size() >= rule.get<std::size_t>();
      if (keyword == "maxItems") holds = value.size() <= rule.get<std::size_t>();
    }
    if (value.is_string()) {
      const auto text = value.get<std::string>();
      if (keyword == "maxLength") holds = text.size() <= rule.get<std::size_t>();
      if (keyword == "pattern") holds = has_pattern(text, rule.get<std::string>());
    }
    return holds ? std::string() : wrong(at, keyword + " " + rule.dump(), value);
  }
  std::string check_properties(const json& value, const json& schema, const std::string& at) const {
    if (!value.is_object()) return {};
    static const json kNone = json::object();
    const json& known = schema.contains("properties") ? schema["properties"] : kNone;
    for (const auto& [name, member] : value.items()) {
      const std::string place = at + "/" + name;
      if (known.contains(name)) {
        std::string fault = check(member, known[name], place);
        if (!fault.empty()) return fault;
      } else if (schema.value("additionalProperties", true) == false) {
        return place + ": is unknown";
      }
    }
    return {};
  }
  std::string check_keyword(const json& value, const std::string& keyword, const json& rule,
                            const json& schema, const std::string& at) const {
    static const std::set<std::string> kNotes = {"description", "default", "examples", "format",
                                                 "additionalProperties"};
    static const std::set<std::string> kRanges = {
        "minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems", "maxLength", "pattern"};
    if (kNotes.count(keyword) > 0) return {};
    if (kRanges.count(keyword) > 0) return check_range(value, keyword, rule, at);
    if (keyword == "$ref") return check(value, resolve(schema), at);
    if (keyword == "properties") return check_properties(value, schema, at);
    if (keyword == "type") {
      const json types = rule.is_array() ? rule : json::array({rule});
      const bool holds = std::any_of(types.begin(), types.end(),
                                     [&](const json& type) { return has_type(value, type); });
      return holds ? std::string() : wrong(at, "must be " + rule.dump(), value);
    }
    if (keyword == "const") return value == rule ? "" : wrong(at, "must be " + rule.dump(), value);
    if (keyword == "enum") {
      const bool holds = std::find(rule.begin(), rule.end(), value) != rule.end();
      return holds ? std::string() : wrong(at, "must be one of " + rule.dump(), value);
    }
    if (keyword == "required") {
      for (const json& name : rule) {
        if (value.is_object() && !value.contains(name)) return at + ": lacks " + name.dump();
      }
      return {};
    }
    if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        std::string fault = check(value[i], rule, at + "/" + std::to_string(i));
        if (!fault.empty()) return fault;
      }
      return {};
    }
    if (keyword == "oneOf") {
      std::string faults;
      int fits = 0;
      for (const json& one : rule) {
        const std::string fault = check(value, one, at);
        fits += fault.empty() ? 1 : 0;
        faults += fault.empty() ? "" : fault + "; ";
      }
      return fits == 1 ? "" : at + ": fits " + std::to_string(fits) + " of oneOf: " + faults;
    }
    return at + ": this test does not know the keyword " + keyword;
  }

  const json& document_;
};

struct Operation {
  std::string method;  // as in requests
  std::string path;
  json about;
  std::vector<json> parameters;  // resolved, with those of the path

  std::string name() const { return about["operationId"]; }
  const json* body_schema(const std::string& type) const {
    if (!about.contains("requestBody")) return nullptr;
    const json& content = about["requestBody"]["content"];
    return content.contains(type) ? &content[type]["schema"] : nullptr;
  }
};

// A body that is not as the document says, and where.
struct Mutant {
  std::string pointer;
  json body;
};

class OpenApi : public ::testing::Test {
 protected:
  void SetUp() override {
    const Reply reply = machine.ask("GET", "/openapi.json");
    ASSERT_EQ(reply.status, 200);
    document = reply.json();
    ASSERT_TRUE(document.is_object());
    for (const auto& [path, item] : document["paths"].items()) {
      for (const auto& [key, about] : item.items()) {
        if (key == "parameters") continue;
        Operation one;
        for (const char c : key) one.method += static_cast<char>(std::toupper(c));
        one.path = path;
        one.about = about;
        for (const json& list :
             {item.value("parameters", json::array()), about.value("parameters", json::array())}) {
          for (const json& parameter : list) one.parameters.push_back(validator.resolve(parameter));
        }
        operations.push_back(std::move(one));
      }
    }
    // The examples of each body go with those of configs: cache c0 takes the first, c1 the second.
    const json& configs = document["components"]["schemas"]["ConfigBody"]["examples"];
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const Reply made = machine.ask("PUT", "/v1/caches/c" + std::to_string(i), configs[i].dump());
      ASSERT_EQ(made.status, 201) << made.body;
    }
  }

  const json& examples(const json& schema) { return validator.resolve(schema)["examples"]; }

  static std::string target(const Operation& operation, const std::string& cache,
                            const std::string& id = "1") {
    std::string path = operation.path;
    const auto put = [&](const std::string& what, const std::string& by) {
      const std::size_t at = path.find(what);
      if (at != path.npos) path.replace(at, what.size(), by);
    };
    put("{name}", cache);
    put("{id}", id);
    return path;
  }
  // A body that is taken, for c0.
  std::string good_body(const Operation& operation) {
    if (const json* schema = operation.body_schema("application/json")) {
      return examples(*schema)[0].dump();
    }
    if (operation.about.contains("requestBody")) {
      return machine.ask("GET", "/v1/caches/c0/snapshot").body;
    }
    return {};
  }

  // Checks a reply against what the document lists for this operation.
  void conforms(const Operation& operation, const Reply& reply, const std::string& about) {
    SCOPED_TRACE(operation.name() + " " + about.substr(0, 300));
    const json& listed = operation.about["responses"];
    const std::string status = std::to_string(reply.status);
    ASSERT_TRUE(listed.contains(status)) << status << " is not listed: " << reply.body;
    const json& response = validator.resolve(listed[status]);
    const json headers = response.value("headers", json::object());
    for (const auto& [name, header] : headers.items()) {
      if (header["required"] == true) {
        EXPECT_NE(reply.header(name), "") << name;
      }
    }
    if (!response.contains("content")) {
      EXPECT_EQ(reply.body, "");
      return;
    }
    const std::string header = reply.header("Content-Type");
    const std::string type = header.substr(0, header.find(';'));
    ASSERT_TRUE(response["content"].contains(type)) << type;
    if (type != "application/json" && type != "application/problem+json") return;
    const json body = reply.json();
    EXPECT_EQ(validator.check(body, response["content"][type]["schema"]), "") << reply.body;
    if (reply.status >= 400) {
      EXPECT_EQ(body["status"], reply.status);
    }
  }
  void refused(const Operation& operation, const Reply& reply, const std::string& about) {
    EXPECT_TRUE(reply.status >= 400 && reply.status < 500)
        << operation.name() << " " << about.substr(0, 300) << ": " << reply.status << " "
        << reply.body;
    EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
    conforms(operation, reply, about);
  }
  // All that a refused request must leave as it is.
  json state() {
    json all = machine.ask("GET", "/v1/caches").json();
    for (const char* name : {"c0", "c1"}) {
      const Reply reply = machine.ask("GET", std::string("/v1/caches/") + name);
      all[name] = {reply.json(), reply.header("ETag")};
    }
    return all;
  }

  // Values, some of which every schema forbids.
  std::vector<json> candidates(const json& schema) {
    std::vector<json> values = {
        nullptr,   true,          false,          0,     -1,     1.5,         "",
        "no such", json::array(), json::object(), 1e300, -1e300, {{"no", 1}}, {"no", nullptr}};
    std::function<void(const json&)> bounds = [&](const json& maybe) {
      const json& one = validator.resolve(maybe);
      if (one.contains("oneOf")) {
        for (const json& other : one["oneOf"]) bounds(other);
      }
      const bool whole = one.value("type", json()).dump().find("integer") != std::string::npos;
      const auto add = [&](const char* keyword, int step) {
        if (!one.contains(keyword)) return;
        const json& bound = one[keyword];
        if (whole) {
          values.push_back(bound.get<std::int64_t>() + step);
        } else {
          // The server compares float32.
          const auto number = bound.get<float>();
          const float far = number + static_cast<float>(step);
          if (step == 0 || far != number) values.push_back(far);
          values.push_back(std::nextafter(number, step > 0 ? 1e30F : -1e30F));
        }
      };
      add("minimum", -1);
      add("maximum", 1);
      add("exclusiveMinimum", 0);
      add("exclusiveMinimum", -1);
      if (one.contains("maxLength")) {
        values.push_back(std::string(one["maxLength"].get<std::size_t>() + 1, 'x'));
      }
    };
    bounds(schema);
    return values;
  }
  // Every way, of those known here, to make a valid body invalid at one place.
  std::vector<Mutant> mutants(const json& body, const json& root) {
    std::vector<Mutant> all;
    const auto add = [&](const std::string& pointer, const json& value) {
      json changed = body;
      changed[Pointer(pointer)] = value;
      if (!validator.check(changed, root).empty()) all.push_back({pointer, std::move(changed)});
    };
    std::function<void(const std::string&, const json&, const json&)> visit =
        [&](const std::string& at, const json& maybe, const json& value) {
          const json& schema = validator.resolve(maybe);
          for (const json& one : candidates(schema)) add(at, one);
          for (const json& other : schema.value("oneOf", json::array())) {
            if (validator.check(value, other).empty()) visit(at, other, value);
          }
          if (value.is_object() && schema.contains("properties")) {
            for (const auto& [name, rule] : schema["properties"].items()) {
              visit(at + "/" + name, rule, value.contains(name) ? value[name] : json());
            }
            add(at + "/unknown", 1);
            add(at + "/unknown", nullptr);
            for (const json& name : schema.value("required", json::array())) {
              json less = value;
              less.erase(name.get<std::string>());
              add(at, less);
            }
          }
          if (value.is_array() && !value.empty() && schema.contains("items")) {
            visit(at + "/0", schema["items"], value[0]);
            visit(at + "/" + std::to_string(value.size() - 1), schema["items"], value.back());
            if (schema.contains("maxItems")) {
              add(at, json(schema["maxItems"].get<std::size_t>() + 1, value[0]));
            }
          }
        };
    visit("", root, body);
    return all;
  }

  Machine machine;
  json document;
  Validator validator{document};
  std::vector<Operation> operations;
};

TEST_F(OpenApi, KnowsTheRoutesOfTheServer) {
  std::map<std::pair<std::string, std::string>, const Operation*> described;
  std::set<std::string> ids;
  for (const Operation& operation : operations) {
    described[{operation.method, operation.path}] = &operation;
    EXPECT_TRUE(ids.insert(operation.name()).second) << operation.name() << " stands there twice";
  }
  const std::vector<Route> all = routes();
  EXPECT_EQ(described.size(), all.size());
  for (const Route& route : all) {
    const auto found = described.find({std::string(route.method), std::string(route.path)});
    ASSERT_NE(found, described.end()) << route.method << " " << route.path;
    const Operation& operation = *found->second;
    SCOPED_TRACE(operation.name());
    std::set<std::string> types;
    if (operation.about.contains("requestBody")) {
      for (const auto& [type, content] : operation.about["requestBody"]["content"].items()) {
        types.insert(type);
      }
    }
    std::set<std::string> wanted;
    const bool takes_vectors = route.body == Body::vectors || route.body == Body::items;
    if (route.body == Body::json || takes_vectors) wanted.insert("application/json");
    if (takes_vectors || route.body == Body::memory_file) {
      wanted.insert("application/octet-stream");
    }
    if (route.body == Body::items) wanted.insert("application/x-ndjson");
    EXPECT_EQ(types, wanted);
    constexpr const char* kRoles[] = {"", "read", "write", "admin"};
    const json role = {{{"bearer", {kRoles[static_cast<int>(route.role)]}}}, json::object()};
    EXPECT_EQ(operation.about["security"], route.role == Role::none ? json::array() : role);
    if (route.needs_cache) {
      EXPECT_TRUE(operation.about["responses"].contains("404"));
    }
    std::set<std::string> in_path;
    for (const json& parameter : operation.parameters) {
      if (parameter["in"] != "path") continue;
      EXPECT_EQ(parameter["required"], true);
      in_path.insert("{" + parameter["name"].get<std::string>() + "}");
    }
    std::set<std::string> in_route;
    for (const char* part : {"{name}", "{id}"}) {
      if (route.path.find(part) != route.path.npos) in_route.insert(part);
    }
    EXPECT_EQ(in_path, in_route);
  }
}

TEST_F(OpenApi, HasWhatItRefersTo) {
  int found = 0;
  std::set<std::string> used;
  std::function<void(const json&)> visit = [&](const json& value) {
    if (value.is_object() && value.contains("$ref")) {
      const auto ref = value["$ref"].get<std::string>();
      ASSERT_TRUE(ref.starts_with("#/components/")) << ref;
      EXPECT_TRUE(document.contains(Pointer(ref.substr(1)))) << ref;
      used.insert(ref.substr(2));
      ++found;
    }
    for (const json& member : value) {
      if (member.is_structured()) visit(member);
    }
  };
  visit(document);
  EXPECT_GT(found, 50);
  for (const char* kind : {"parameters", "responses", "schemas"}) {
    for (const auto& [name, one] : document["components"][kind].items()) {
      const std::string place = std::string("components/") + kind + "/" + name;
      EXPECT_EQ(used.count(place), 1U) << place << " is not used";
    }
  }
}

TEST_F(OpenApi, NamesTheStatusOfEveryCode) {
  const json& schemas = document["components"]["schemas"];
  const json& codes = schemas["Problem"]["properties"]["code"]["enum"];
  EXPECT_EQ(codes, schemas["FieldError"]["properties"]["code"]["enum"]);
  for (const json& code : codes) {
    const std::string text = code;
    const unsigned status = status_of(text);
    EXPECT_TRUE(status != 500 || text == "internal") << text << " is none of the server's";
    if (status == 405) continue;  // is of a path, not of an operation
    const json& response = document["components"]["responses"][std::to_string(status)];
    ASSERT_TRUE(response.is_object()) << status;
    EXPECT_NE(response["description"].get<std::string>().find(text), std::string::npos) << text;
  }
  for (const unsigned status : {400U, 408U, 413U, 417U, 431U, 500U, 503U}) {
    const Response response = machine.app->refuse(status, "", request("GET", "/livez"));
    EXPECT_EQ(response.status, status);
    const Reply reply{response.status, response.headers, response.body, {}};
    for (const Operation& operation : operations) conforms(operation, reply, "refuse");
  }
}

TEST_F(OpenApi, ParametersAreTakenWithinTheirLimitsOnly) {
  int tried = 0;
  for (const Operation& operation : operations) {
    if (operation.method == "DELETE" && operation.path.find("{id}") == std::string::npos) continue;
    const std::string place = target(operation, "c0");
    const std::string body = good_body(operation);
    bool has_query = false;
    for (const json& parameter : operation.parameters) {
      const std::string name = parameter["name"];
      const bool in_query = parameter["in"] == "query";
      has_query |= in_query;
      const json& schema = parameter["schema"];
      if (parameter["in"] == "path") continue;
      const auto ask = [&](const std::string& value) {
        ++tried;
        return in_query ? machine.ask(operation.method, place + "?" + name + "=" + value, body)
                        : machine.ask(operation.method, place, body, {{lower(name), value}});
      };
      const auto taken = [&](const std::string& value) {
        const Reply reply = ask(value);
        conforms(operation, reply, name + "=" + value);
        EXPECT_NE(reply.status, 400U) << operation.name() << " " << name << "=" << value;
      };
      const auto not_taken = [&](const std::string& value) {
        const Reply reply = ask(value);
        refused(operation, reply, name + "=" + value);
        EXPECT_EQ(reply.status, 400U) << operation.name() << " " << name << "=" << value;
      };
      if (schema.contains("minimum")) {
        const auto least = schema["minimum"].get<std::int64_t>();
        const auto most = schema["maximum"].get<std::int64_t>();
        taken(std::to_string(least));
        taken(std::to_string(most));
        not_taken(std::to_string(least - 1));
        not_taken(std::to_string(most + 1));
        for (const char* no : {"x", "1.5", "1e3", "true", "null", "1x", "0x1", "-", "+1", "%201",
                               "99999999999999999999999"}) {
          if (in_query || *no != '%') not_taken(no);
        }
        if (in_query) not_taken("");
      }
      if (schema.contains("maxLength")) {
        const auto most = schema["maxLength"].get<std::size_t>();
        taken(std::string(most, 'x'));
        not_taken(std::string(most + 1, 'x'));
      }
    }
    if (has_query) {
      const Reply reply = machine.ask(operation.method, place + "?unknown=1", body);
      refused(operation, reply, "?unknown=1");
      EXPECT_EQ(reply.status, 400U);
    }
  }
  EXPECT_GT(tried, 100);
}

TEST_F(OpenApi, PathsAreTakenAsDescribedOnly) {
  const json before = state();
  for (const Operation& operation : operations) {
    const std::string body = good_body(operation);
    if (operation.path.find("{name}") != std::string::npos) {
      for (const char* name : {"-a", ".a", "a%20b", "%ff", "a%00", "a%2fb", "%"}) {
        const Reply reply = machine.ask(operation.method, target(operation, name), body);
        refused(operation, reply, name);
        EXPECT_EQ(reply.status, 400U) << name;
      }
      const std::string long_name(129, 'a');
      refused(operation, machine.ask(operation.method, target(operation, long_name), body), "long");
    }
    if (operation.path.find("{id}") != std::string::npos) {
      for (const char* id : {"0", "-1", "x", "1.5", "9007199254740992", "99999999999999999999"}) {
        refused(operation, machine.ask(operation.method, target(operation, "c0", id), body), id);
      }
    }
    for (const Headers& headers :
         {Headers{{"content-encoding", "gzip"}}, Headers{{"origin", "https://bad.example"}}}) {
      refused(operation, machine.ask(operation.method, target(operation, "c0"), body, headers),
              headers[0].first);
    }
    if (operation.about.contains("requestBody")) {
      const Reply reply = machine.ask(operation.method, target(operation, "c0"), body,
                                      {{"content-type", "text/plain"}});
      refused(operation, reply, "text/plain");
      EXPECT_EQ(reply.status, 415U);
    }
  }
  EXPECT_EQ(state(), before);
}

TEST_F(OpenApi, BodiesThatAreNotAsDescribedAreRefusedAndChangeNothing) {
  std::size_t tried = 0;
  for (const Operation& operation : operations) {
    const json* schema = operation.body_schema("application/json");
    if (schema == nullptr) continue;
    const json& all = examples(*schema);
    ASSERT_FALSE(all.empty());
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(validator.check(all[i], *schema), "") << operation.name();
      const std::string cache = "c" + std::to_string(i);
      std::string id = "1";
      if (operation.name() == "answerReview") {  // of a pair that waits
        const Reply doubts = machine.ask("POST", "/v1/caches/c0/observe", R"({"items": [
          {"key": [0, 0, 1], "value": [1, 0]}, {"key": [0, 0.6, 0.8], "value": [1, 0]}]})");
        id = doubts.json()["decisions"][1]["review"];
      }
      const Reply good = machine.ask(operation.method, target(operation, cache, id), all[i].dump());
      EXPECT_LT(good.status, 300U) << good.body;
      conforms(operation, good, all[i].dump());
      const json before = state();
      std::vector<std::string> names = {cache};
      if (operation.name() == "putCache") names.emplace_back("new");
      for (const Mutant& mutant : mutants(all[i], *schema)) {
        for (const std::string& name : names) {
          const std::string body = mutant.body.dump();
          const std::string about = mutant.pointer + ": " + body;
          const Reply reply = machine.ask(operation.method, target(operation, name), body);
          ++tried;
          refused(operation, reply, about);
          // What is named is the place, or one above it, or below.
          const json errors = reply.json().value("errors", json::array());
          if (!errors.empty()) {
            const auto pointer = errors[0]["pointer"].get<std::string>();
            EXPECT_TRUE(pointer.starts_with(mutant.pointer) || mutant.pointer.starts_with(pointer))
                << pointer << " for " << about.substr(0, 300);
          }
        }
      }
      EXPECT_EQ(state(), before) << operation.name();
    }
    for (const char* body :
         {"", " ", "{", "null", "7", "\"x\"", "[]", "\xff", "{}x", "{\"a\":1,}"}) {
      if (*body == '\0' && operation.about["requestBody"]["required"] == false) continue;
      refused(operation, machine.ask(operation.method, target(operation, "c0"), body), body);
    }
  }
  EXPECT_GT(tried, 500U);
}

TEST_F(OpenApi, AnswersAreAsDescribed) {
  std::map<std::string, const Operation*> by_name;
  for (const Operation& operation : operations) by_name[operation.name()] = &operation;
  std::set<std::string> answered;
  const auto ask = [&](const char* name, const std::string& cache, const std::string& body = "",
                       const Headers& headers = {}, const std::string& more = "",
                       const std::string& id = "1") {
    const Operation& operation = *by_name.at(name);
    Reply reply = machine.ask(operation.method, target(operation, cache, id) + more, body, headers);
    EXPECT_LT(reply.status, 300U) << name << " " << body << ": " << reply.body;
    conforms(operation, reply, cache + " " + body);
    answered.insert(name);
    return reply;
  };
  for (const char* cache : {"c0", "c1"}) {  // empty ones
    for (const char* name : {"getCache", "listSlots", "listEvents"}) ask(name, cache);
  }
  const json& schemas = document["components"]["schemas"];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string cache = "c" + std::to_string(i);
    const std::string queries = schemas["Queries"]["examples"][i].dump();
    ask("read", cache, queries);
    ask("score", cache, queries);
    // A repetition; but a relaxed cache may answer one that comes at once with 409.
    const Headers key = i == 0 ? Headers{{"idempotency-key", "k"}} : Headers{};
    for (int times = 0; times < 2; ++times) {
      ask("observe", cache, schemas["Items"]["examples"][i].dump(), key);
    }
    ask("read", cache, queries);
    ask("score", cache, queries);
    for (const char* name : {"getCache", "listSlots", "listEvents", "getSlot", "getSnapshot"}) {
      ask(name, cache);
    }
  }
  // All kinds of events: with evictions, folds, slots that expire, and a new config.
  for (const char* shrink : {"evict", "merge"}) {
    const std::string name = std::string("e-") + shrink;
    const json config = {
        {"dimension", 2},    {"tau", 0.001},     {"budget", "fixed"},   {"m0", 3},
        {"keep_sums", true}, {"shrink", shrink}, {"ttl_ms", 1'000'000}, {"null_similarity", 0.1}};
    ask("putCache", name, config.dump());
    for (int i = 0; i < 8; ++i) {
      const json item = {{"key", {i - 3, 2}}, {"time", i}, {"payload", {i, "x", nullptr}}};
      ask("observe", name, json{{"items", {item}}}.dump());
    }
    ask("read", name, R"({"queries": [{"key": [1, 2], "time": 9}], "k": 0})");
    ask("advise", name);
    ask("advise", name, R"({"sample": 3, "taus": [0, 0.5]})");
    ask("consolidate", name, R"({"similarity": 0.9})");
    ask("observe", name, R"({"items": [{"key": [1, 0], "time": 3000000, "ttl_ms": 5}]})");
    json changed = config;
    changed["budget"] = "ghost";
    changed["durability"] = "relaxed";
    ask("putCache", name, changed.dump());
    ask("observe", name, std::string("\0\0\x80\x3f\0\0\x80\xbf", 8), kBinary);
    ask("listSlots", name, "", {}, "?keys=0&limit=1");
    ask("listEvents", name, "", {}, "?limit=1000&bytes=1");
    const Reply events = ask("listEvents", name, "", {}, "?limit=1000");
    for (const char* kind : {"observe", "expire", "consolidate", "config"}) {
      EXPECT_NE(events.body.find("\"kind\":\"" + std::string(kind) + "\""), std::string::npos)
          << kind << " did not happen";
    }
    if (std::string_view(shrink) == "evict") {
      EXPECT_NE(events.body.find("\"evicted\":[1"), std::string::npos) << events.body;
    } else {
      EXPECT_NE(events.body.find("\"folded\":[{"), std::string::npos) << events.body;
    }
  }
  ask("lookup", "c0", schemas["Lookups"]["examples"][0].dump());
  ask("lookup", "c1", schemas["Lookups"]["examples"][1].dump());
  ask("listMembers", "c0");
  ask("listPairs", "c0");
  ask("split", "c0", schemas["Split"]["examples"][0].dump());
  ask("judgePair", "c0", schemas["PairVerdict"]["examples"][0].dump());
  ask("judgePair", "c0", R"({"slot": 1, "other": 3, "verdict": "same"})");
  ask("listMembers", "c0");
  // A pair that waits for its review.
  ask("putCache", "doubts", R"({"dimension": 2, "tau": 0.5, "tau_merge": 0.1, "audit": "ids"})");
  ask("observe", "doubts", R"({"items": [{"key": [1, 0]}, {"key": [1, 1]}, {"key": [0, 1]}]})");
  EXPECT_NE(ask("listPairs", "doubts").body.find("similarity"), std::string::npos);
  ask("getCache", "doubts");
  ask("lookup", "doubts", R"({"queries": [{"key": [2, 1]}, {"key": [-1, 0]}]})");
  ask("listReviews", "doubts", "", {}, "?limit=1");
  ask("listReviews", "doubts", "", {}, "?after=2-1");
  ask("getReview", "doubts", "", {}, "", "2-1");
  ask("judgePair", "doubts", R"({"slot": 2, "other": 1, "verdict": "unknown"})");
  ask("answerReview", "doubts", schemas["ReviewAnswer"]["examples"][0].dump(), {}, "", "3-2");
  ask("judgePair", "doubts", R"({"slot": 3, "other": 2, "verdict": "same"})");
  ask("putCache", "one", R"({"dimension": 2, "audit": "full"})");
  ask("observe", "one", R"({"items": [{"key": [1, 0]}, {"key": [1, 0]}]})");
  ask("split", "one", R"({"slot": 1, "member": 2})");
  ask("listEvents", "doubts");
  for (const char* kind : {"split", "must_not_merge", "must_merge"}) {
    EXPECT_NE(ask("listEvents", "c0").body.find("\"kind\":\"" + std::string(kind) + "\""),
              std::string::npos)
        << kind << " did not happen";
  }
  ask("deleteSlot", "c0");
  ask("listEvents", "c0");
  ask("listEvents", "c0", "", {{"accept", "text/event-stream"}});
  ask("consolidate", "c0");
  ask("putSnapshot", "copy", machine.ask("GET", "/v1/caches/c0/snapshot").body, kBinary);
  ask("listCaches", "", "", {}, "?limit=2");
  ask("listCaches", "");
  ask("deleteCache", "copy");
  for (const char* name : {"livez", "readyz", "healthz", "metrics", "openapi"}) ask(name, "");
  for (const Operation& operation : operations) {
    EXPECT_EQ(answered.count(operation.name()), 1U) << operation.name();
  }
  // What is not there, or not as expected.
  for (const Operation& operation : operations) {
    conforms(
        operation,
        machine.ask(operation.method, target(operation, "none"), "{}", {{"if-match", "\"x\""}}),
        "none");
  }
  machine.app->stop();
  conforms(*by_name["readyz"], machine.ask("GET", "/readyz"), "stopping");
}

TEST(OpenApiTokens, RefusalsAreListed) {
  AppOptions options;
  options.tokens = Tokens::parse("read rrrrrrrrrrrrrrrr a*\n");
  options.rate = 1;
  Machine machine({}, options);
  const json document = machine.ask("GET", "/openapi.json").json();
  std::set<unsigned> seen;
  for (const Route& route : routes()) {
    std::string path(route.path);
    if (const std::size_t at = path.find("{name}"); at != path.npos) path.replace(at, 6, "b");
    const json& listed =
        document["paths"][std::string(route.path)][lower(route.method)]["responses"];
    for (const char* secret : {"", "rrrrrrrrrrrrrrrr", "rrrrrrrrrrrrrrrr"}) {
      const Reply reply = machine.ask(std::string(route.method), path, "",
                                      {{"authorization", std::string("Bearer ") + secret}});
      EXPECT_TRUE(listed.contains(std::to_string(reply.status))) << path << " " << reply.status;
      seen.insert(reply.status);
    }
  }
  for (const unsigned status : {401U, 403U, 429U}) EXPECT_EQ(seen.count(status), 1U) << status;
}

}  // namespace
}  // namespace dpcache::server::testing
