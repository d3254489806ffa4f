#include "record_pages.hpp"

namespace davit::host {

Result<> list_records(OperatorClient& client, v1::ListRequest request,
                      const std::function<Result<bool>(v1::ListResponse&)>& see) {
  do {
    v1::ListResponse page;
    if (auto r = client.call("List", request, page); !r.ok()) return r;
    const auto goes_on = see(page);
    if (!goes_on.ok()) return goes_on.error();
    if (!*goes_on) return {};
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return {};
}

}  // namespace davit::host
