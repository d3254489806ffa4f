#include "site.hpp"

#include <davit/kubernetes/names.hpp>
#include <davit/settings.hpp>

namespace davit::cluster_record {

Site read_site(const Host& host) {
  const Settings s(host);
  Site site;
  site.namespaces = s.strings("namespaces");
  for (const auto& name : site.namespaces) {
    if (auto fault = kubernetes::dns_label_fault(name)) s.reject("namespaces", *fault);
  }
  return site;
}

}  // namespace davit::cluster_record
