// The label and field selectors of lists and watches.
#pragma once

#include <boost/json/fwd.hpp>
#include <davit/types.hpp>

namespace davit::cluster_memory {

// "a=b,c!=d,e in (x,y),f notin (z),g,!h". An empty selector selects everything.
class LabelSelector {
 public:
  static Result<LabelSelector> parse(std::string_view text);
  // `labels` is NULL for an object without labels.
  bool matches(const boost::json::object* labels) const;

 private:
  struct Requirement {
    std::string key;
    enum { in, not_in, exists, absent } op = exists;
    std::vector<std::string> values;
  };
  static Result<Requirement> requirement(std::string_view text);
  std::vector<Requirement> requirements_;
};

// "metadata.name=x,metadata.namespace!=y". Other fields are refused, as the API server does for
// custom resources. (It knows a few more for pods.)
class FieldSelector {
 public:
  static Result<FieldSelector> parse(std::string_view text);
  bool matches(std::string_view ns, std::string_view name) const;

 private:
  struct Requirement {
    bool name;  // true: the name; false: the namespace
    bool equal;
    std::string value;
  };
  std::vector<Requirement> requirements_;
};

}  // namespace davit::cluster_memory
