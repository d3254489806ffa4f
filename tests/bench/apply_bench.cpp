// The ceiling that the agent's applier is measured against: a bare client that sends bodies which
// were rendered beforehand, with server-side apply over kept-alive connections, N at a time.
//
//   apply-bench SERVER_URL CA_FILE TOKEN_FILE PARALLEL < bodies
//
// Each input line is "PATH<TAB>JSON": the object's path in the API and the body to apply. Prints
// one JSON object with the seconds from the first request to the last answer.
#include <curl/curl.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Body {
  std::string url, json, answer;
};

size_t collect(char* data, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

class Client {
 public:
  Client(const std::string& ca_file, const std::string& token, long parallel) : ca_file_(ca_file) {
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, parallel);
    headers_ = curl_slist_append(headers_, "Content-Type: application/apply-patch+yaml");
    headers_ = curl_slist_append(headers_, ("Authorization: Bearer " + token).c_str());
    for (long i = 0; i < parallel; ++i) idle_.push_back(curl_easy_init());
  }
  ~Client() {
    for (CURL* easy : idle_) curl_easy_cleanup(easy);
    curl_slist_free_all(headers_);
    curl_multi_cleanup(multi_);
  }

  // Sends everything and throws when an answer is not 200 or 201.
  void run(std::vector<Body>& bodies) {
    size_t next = 0;
    size_t open = 0;
    while (next < bodies.size() || open > 0) {
      while (next < bodies.size() && !idle_.empty()) {
        start(bodies[next++]);
        ++open;
      }
      int running = 0;
      curl_multi_perform(multi_, &running);
      int left = 0;
      while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg == CURLMSG_DONE) {
          finish(message->easy_handle, message->data.result);
          --open;
        }
      }
      if (open > 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
  }

 private:
  void start(Body& body) {
    CURL* easy = idle_.back();
    idle_.pop_back();
    curl_easy_setopt(easy, CURLOPT_URL, body.url.c_str());
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PATCH");
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.json.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.json.size()));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file_.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body.answer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &body);
    curl_multi_add_handle(multi_, easy);
  }
  void finish(CURL* easy, CURLcode result) {
    Body* body = nullptr;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi_, easy);
    idle_.push_back(easy);
    if (result != CURLE_OK) throw std::runtime_error(body->url + ": " + curl_easy_strerror(result));
    if (status != 200 && status != 201) {
      throw std::runtime_error(body->url + ": " + std::to_string(status) + ": " + body->answer);
    }
  }

  CURLM* multi_ = curl_multi_init();
  curl_slist* headers_ = nullptr;
  std::string ca_file_;
  std::vector<CURL*> idle_;
};

int run(char** argv) {
  std::ifstream token_file(argv[3]);
  std::string token;
  std::getline(token_file, token);
  std::vector<Body> bodies;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    bodies.push_back({std::string(argv[1]) + line.substr(0, tab), line.substr(tab + 1), {}});
  }
  Client client(argv[2], token, std::stol(argv[4]));
  const auto begin = std::chrono::steady_clock::now();
  client.run(bodies);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"objects\": %zu, \"seconds\": %.6f}\n", bodies.size(), took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: apply-bench SERVER_URL CA_FILE TOKEN_FILE PARALLEL < bodies\n");
    return 2;
  }
  try {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return run(argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "apply-bench: %s\n", e.what());
    return 1;
  }
}
