#include "paced_writer.hpp"

#include <algorithm>
#include <stdexcept>

#include "fleet.hpp"

namespace davit::bench {

namespace {
constexpr size_t keys = 1000;  // of all regions together
}

PacedWriter::PacedWriter(const WatchWire& wire, const std::string& server, size_t regions,
                         double per_second, size_t changes_max, uint64_t after)
    : wire_(wire),
      path_(wire.write_path()),
      regions_(regions),
      after_(after),
      per_second_(per_second),
      stub_(connect(server)),
      asked_(changes_max + 1),
      answered_(changes_max + 1),
      next_(after) {}

PacedWriter::~PacedWriter() {
  stop();
  // gRPC's thread that brought the last answer may still be leaving that call. If the process ends
  // meanwhile, gRPC may abort.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void PacedWriter::start() {
  stopping_ = false;
  thread_ = std::thread([this] {
    const auto pause =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / per_second_));
    for (auto due = Clock::now(); !stopping_ && next_ - after_ + 1 < asked_.size(); due += pause) {
      std::this_thread::sleep_until(due);
      send();
    }
  });
}

void PacedWriter::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return outstanding_ == 0; });
}

void PacedWriter::write_everywhere() {
  const size_t before = failures_;
  for (size_t i = 0; i < regions_; ++i) send();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return outstanding_ == 0; });
  if (failures_ > before) throw std::runtime_error("a write failed: " + last_failure_);
}

void PacedWriter::send() {
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer request, answer;
  };
  auto call = std::make_shared<Call>();
  const uint64_t number = next_ + 1;
  // A region has its own keys, and they are changed in turn.
  call->request = wire_.write_request(region_name(number % regions_), number, 1, keys);
  asked_[number - after_] = Clock::now();
  next_ = number;
  {
    const std::lock_guard lock(mutex_);
    ++outstanding_;
  }
  call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  stub_.UnaryCall(&call->context, path_, {}, &call->request, &call->answer,
                  [this, call, number](grpc::Status status) {
                    const auto now = Clock::now();
                    const std::string fault =
                        status.ok() ? wire_.write_fault(call->answer) : status.error_message();
                    const std::lock_guard lock(mutex_);
                    if (fault.empty()) {
                      answered_[number - after_] = now;
                    } else {
                      ++failures_;
                      last_failure_ = fault;
                    }
                    --outstanding_;
                    changed_.notify_all();
                  });
}

std::optional<Clock::time_point> PacedWriter::asked(uint64_t number) const {
  if (number <= after_ || number > next_) return std::nullopt;
  return asked_[number - after_];
}

std::optional<Clock::time_point> PacedWriter::answered(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const Clock::time_point when = answered_[number - after_];
  if (when == Clock::time_point()) return std::nullopt;
  return when;
}

std::vector<double> PacedWriter::answers_since(Clock::time_point begin) const {
  std::vector<double> out;
  for (uint64_t number = after_ + 1; number <= next_; ++number) {
    const auto from = asked(number), to = answered(number);
    if (to && *from >= begin) out.push_back(milliseconds(*to - *from));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string PacedWriter::last_failure() const {
  const std::lock_guard lock(mutex_);
  return last_failure_;
}

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(static_cast<double>(sorted.size()) * share))];
}

}  // namespace davit::bench
