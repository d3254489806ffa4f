// The floor under an agent's memory: a program that makes one gRPC call and one HTTPS request with
// libcurl, as an agent does with the same two libraries, and then does nothing.
//
//   floor-agent ADDRESS URL CA_FILE    prints "ready" after both answers; ends when its input ends
#include <curl/curl.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <iostream>
#include <string>

namespace {

// Any answer will do, a refusal too.
void call(const std::string& address) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto reader = stub.PrepareUnaryCall(&context, "/davit.v1.AgentService/Get", {}, &queue);
  reader->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  reader->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
}

size_t drop(char*, size_t size, size_t count, void*) {
  return size * count;
}

bool request(const char* url, const char* ca_file) {
  CURL* easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
  const CURLcode result = curl_easy_perform(easy);
  if (result != CURLE_OK) std::fprintf(stderr, "%s: %s\n", url, curl_easy_strerror(result));
  curl_easy_cleanup(easy);
  return result == CURLE_OK;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: floor-agent ADDRESS URL CA_FILE\n");
    return 2;
  }
  call(argv[1]);
  if (!request(argv[2], argv[3])) return 1;
  std::puts("ready");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
