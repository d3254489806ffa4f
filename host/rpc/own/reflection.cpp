#include "reflection.hpp"

#include <davit_reflection_v1_descriptors.h>
#include <davit_reflection_v1alpha_descriptors.h>

#include "../method_registry.hpp"
#include "codec/schema.hpp"
#include "fields.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;

constexpr uint32_t question_bytes_max = 64u << 10;

struct Version {
  std::string package;
  davit_bytes descriptor_set;
  std::string path() const { return package + ".ServerReflection/ServerReflectionInfo"; }
};
std::vector<Version> versions() {
  return {{"grpc.reflection.v1", davit_reflection_v1_descriptors()},
          {"grpc.reflection.v1alpha", davit_reflection_v1alpha_descriptors()}};
}

void say(const Fields& answer, const Error& e) {
  const Fields error = answer.in("error_response");
  error.set("error_code", static_cast<int32_t>(e.code));
  error.set("error_message", e.message);
}

void give(const Fields& answer, const Descriptors::Files& files, const std::string& what) {
  if (files.empty()) return say(answer, {Code::not_found, what + " is not known here"});
  const Fields response = answer.in("file_descriptor_response");
  for (const auto& file : files) response.add("file_descriptor_proto", file);
}

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

// Answers one request after the other until the caller has no more.
class Talk final : public rpc::Handler {
 public:
  Talk(rpc::Call call, const Reflection& reflection) : call_(call), reflection_(reflection) {}
  void on_message(Buffer request) override {
    auto answer = reflection_.answer(request.view());
    if (!answer.ok()) return call_.finish(rpc::End::of(answer.error()));
    call_.write(std::move(*answer));
  }
  void on_writable() override { call_.read(); }
  void on_end_of_messages() override { call_.finish({}); }
  void on_cancel() override { call_.finish({Code::cancelled, "the caller has gone"}); }

 private:
  rpc::Call call_;
  const Reflection& reflection_;
};

}  // namespace

Reflection::Reflection() = default;
Reflection::~Reflection() = default;

std::vector<std::string> Reflection::paths() {
  std::vector<std::string> out;
  for (const auto& version : versions()) out.push_back(version.path());
  return out;
}

Result<> Reflection::serve(const Host& host) {
  auto schema = make_schema(view(versions().front().descriptor_set), {});
  if (!schema.ok()) return schema.error();
  schema_ = std::move(*schema);
  const rpc::Server server(host);
  for (const auto& version : versions()) {
    rpc::Method m;
    m.path = version.path();
    m.request_type = version.package + ".ServerReflectionRequest";
    m.response_type = version.package + ".ServerReflectionResponse";
    m.descriptor_set = version.descriptor_set;
    m.client_streams = m.server_streams = true;
    m.request_bytes_max = question_bytes_max;
    auto r = server.serve(m, [this, server, host](rpc::Call call) {
      server.accept(call, host.strand(), std::make_unique<Talk>(call, *this));
      call.read();
    });
    if (!r.ok()) return r;
  }
  return {};
}

void Reflection::learn(const MethodRegistry& methods, Log& log) {
  for (const Method* m : methods.all()) {
    if (services_.empty() || services_.back() != m->service()) services_.emplace_back(m->service());
    const auto different = descriptors_.add(m->descriptor_set);
    const auto warn = [&](const std::string& what) {
      log.warn("rpc", "reflection", {{"method", m->path}, {"what", what}});
    };
    if (!different.ok()) {
      warn(different.error().message);
      continue;
    }
    for (const auto& file : *different)
      warn(file + " differs from the one that another method brought; the first is shown");
  }
}

Result<std::string> Reflection::answer(std::string_view bytes) const {
  pb::Arena arena;
  const auto request =
      read_message(*schema_, "grpc.reflection.v1.ServerReflectionRequest", bytes, arena);
  if (!request.ok()) return request.error();
  auto answer = new_message(*schema_, "grpc.reflection.v1.ServerReflectionResponse", arena);
  if (!answer.ok()) return answer.error();
  const Fields out(**answer);
  out.set("valid_host", Fields(**request).text("host"));
  out.in("original_request").message().CopyFrom(**request);
  find(**request, **answer);
  return (*answer)->SerializeAsString();
}

void Reflection::find(pb::Message& request, pb::Message& answer) const {
  const Fields in(request), out(answer);
  const pb::OneofDescriptor* oneof = request.GetDescriptor()->FindOneofByName("message_request");
  const auto* asked = request.GetReflection()->GetOneofFieldDescriptor(request, oneof);
  if (asked == nullptr) return say(out, {Code::invalid_argument, "the request asks for nothing"});
  if (asked->name() == "list_services") {
    const Fields list = out.in("list_services_response");
    for (const auto& service : services_) list.add("service").set("name", service);
  } else if (asked->name() == "file_by_filename") {
    const std::string name = in.text("file_by_filename");
    give(out, descriptors_.file(name), "file " + quoted(name));
  } else if (asked->name() == "file_containing_symbol") {
    const std::string name = in.text("file_containing_symbol");
    give(out, descriptors_.symbol(name), "symbol " + quoted(name));
  } else if (asked->name() == "file_containing_extension") {
    const Fields wanted = in.in("file_containing_extension");
    const std::string type = wanted.text("containing_type");
    const int32_t number = wanted.number("extension_number");
    give(out, descriptors_.extension(type, number),
         "extension " + std::to_string(number) + " of " + quoted(type));
  } else {
    const std::string type = in.text("all_extension_numbers_of_type");
    const auto numbers = descriptors_.extensions_of(type);
    if (!numbers.ok()) return say(out, numbers.error());
    const Fields response = out.in("all_extension_numbers_response");
    response.set("base_type_name", type);
    for (const int32_t number : *numbers) response.add("extension_number", number);
  }
}

}  // namespace davit::host
