#include "labels.hpp"

#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

namespace davit::kubernetes {

void Labels::add_managed(boost::json::object& to, const char* component) const {
  to[labels::managed_by] = managed_by;
  to[labels::component] = component;
}

Labels read_labels(const Settings& s) {
  Labels out;
  out.managed_by = s.string("managed_by", out.managed_by);
  out.prefix = s.string("label_prefix", out.prefix);
  if (out.managed_by.empty()) s.reject("managed_by", "must not be empty");
  if (auto fault = label_value_fault(out.managed_by)) s.reject("managed_by", *fault);
  if (auto fault = label_prefix_fault(out.prefix)) s.reject("label_prefix", *fault);
  return out;
}

}  // namespace davit::kubernetes
