// `davit status --watch`: the objects, and then each one again whenever its status changes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/v1/operator.pb.h>

#include "operator_client.hpp"
#include "output.hpp"

namespace davit::host {

// The detail of a status is JSON in a text. It becomes a part of the object, which is an
// ObjectStatus as JSON.
void unfold_detail(boost::json::value& object);

// Remembers what has been printed of each object, and selects the news of an answer. Pure.
class StatusNews {
 public:
  // Of what is no longer listed, one last time: deleted, and nothing of it is left. Every answer
  // lists all objects.
  std::vector<v1::ObjectStatus> take(const v1::StatusResponse& answer);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, region, id
  std::map<Key, v1::ObjectStatus> known_;
};

// `keep` leaves in an answer what was asked for. Ends at the timeout, and goes on across a restart
// of the server. Returns an exit code.
int watch_status(OperatorClient& client, const v1::StatusRequest& request,
                 const std::function<void(v1::StatusResponse&)>& keep, Format format);

}  // namespace davit::host
