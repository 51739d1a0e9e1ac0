#include "transport/operator.h"

#include <chrono>

#include "transport/credentials.h"
#include "transport/fleet.grpc.pb.h"

namespace dyetrace::transport {
namespace {

constexpr std::chrono::seconds kAnswerTimeout{10};

struct Line {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<fleet::Fleet::Stub> stub;
};

Result<Line> call(const std::string& address, const Security& security) {
    TRY(auto channel, connect(address, security));
    Line line{channel, fleet::Fleet::NewStub(channel)};
    return line;
}

void be_patient(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + kAnswerTimeout);
}

}  // namespace

Result<void> watch_session(const std::string& address,
                           const Security& security,
                           const fleet::RecordRequest& request,
                           const std::function<bool(const fleet::RecordProgress&)>& look) {
    TRY(const Line line, call(address, security));
    grpc::ClientContext context;
    const auto reader = line.stub->Record(&context, request);
    fleet::RecordProgress progress;
    while (reader->Read(&progress)) {
        if (!look(progress)) {
            context.TryCancel();
            static_cast<void>(reader->Finish());
            return {};
        }
    }
    const grpc::Status status = reader->Finish();
    return status.ok() ? Result<void>() : error_of(status, address);
}

Result<void> stop_session(const std::string& address,
                          const Security& security,
                          const std::string& session) {
    TRY(const Line line, call(address, security));
    grpc::ClientContext context;
    be_patient(context);
    fleet::StopRequest request;
    fleet::StopReply reply;
    request.set_session(session);
    const grpc::Status status = line.stub->Stop(&context, request, &reply);
    return status.ok() ? Result<void>() : error_of(status, address);
}

Result<fleet::SessionsReply> list_sessions(const std::string& address, const Security& security) {
    TRY(const Line line, call(address, security));
    grpc::ClientContext context;
    be_patient(context);
    fleet::SessionsReply reply;
    const grpc::Status status = line.stub->Sessions(&context, {}, &reply);
    if (!status.ok()) {
        return error_of(status, address);
    }
    return reply;
}

}  // namespace dyetrace::transport
