// Disclosure: one call of DecryptSecretsBlob. It finds out whose token it got, looks at the pod,
// has the variables decrypted and answers. Everything of it runs on the call's strand; the limits
// and the log are the Service's, the decisions are those of token_review, pod_check and blob.
#pragma once

#include <davit/rpc.hpp>

#include "answer.hpp"
#include "request.hpp"
#include "service.hpp"

namespace davit::secrets_blob {

class Disclosure : public std::enable_shared_from_this<Disclosure> {
 public:
  Disclosure(Service& service, rpc::Call call, Strand strand);

  void begin(Buffer request);
  // The call ends with this, unless it has ended.
  void finish(rpc::End end);
  // The call's handle is not valid any more.
  void gone();

 private:
  struct Outcome {
    const char* what;
    Code code;
    const char* said;  // to the caller
  };
  static const Outcome refused_, busy_, away_, unreadable_, undecryptable_, cannot_decrypt_now_;

  void ask_the_cluster(const cluster::Request& q, std::string_view body,
                       void (Disclosure::*then)(cluster::Response));
  void review();
  void reviewed(cluster::Response answer);
  void looked(cluster::Response answer);
  void decrypt();
  void decrypted(const secrets::Results& results);
  // What the call takes of the service: until it has ended and nothing that it has asked for is
  // still to be answered.
  struct Work {
    Outstanding::Ticket ticket;  // the last that goes
    Service::Place place, place_in_namespace;
  };

  // Ends the call without variables. `reason` and `detail` are for the log.
  void fail(const Outcome& outcome, std::string reason, std::string detail = {});

  Service& service_;
  const rpc::Call call_;
  const Strand strand_;
  const std::string address_;
  const int64_t deadline_ns_;
  const cluster::Narrowed op_;
  std::shared_ptr<Work> work_;  // NULL before the request and after the end
  Request request_;
  PodIdentity who_;
  std::vector<Variable> variables_;
  bool open_ = true;
};

}  // namespace davit::secrets_blob
