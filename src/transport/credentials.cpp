#include "transport/credentials.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "transport/authority.h"
#include "transport/limits.h"

namespace dyetrace::transport {
namespace {

constexpr std::string_view kCollectorPrefix = "dyetrace://collector/";
constexpr std::string_view kHostPrefix = "dyetrace://host/";

bool is_loopback(std::string_view address) {
    const std::string_view host = address.substr(0, address.rfind(':'));
    return host == "localhost" || host.starts_with("127.") || host == "[::1]" ||
           address.starts_with("unix:");
}

Result<void> refuse_open_insecurity(const std::string& address) {
    if (is_loopback(address)) {
        return {};
    }
    return Error(ErrorCode::kPermissionDenied,
                 fmt::format("--insecure is for 127.0.0.1, [::1] and localhost only, not for '{}': "
                             "make certificates with `dyetrace pki`",
                             address));
}

// Whoever has a certificate of a collector is one, whatever the name of its machine.
class IsCollector : public grpc::experimental::ExternalCertificateVerifier {
  public:
    bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request,
                std::function<void(grpc::Status)>,
                grpc::Status* status) override {
        const auto names = request->uri_names();
        const bool is_one =
            std::any_of(names.begin(), names.end(), [](const grpc::string_ref& name) {
                return std::string_view(name.data(), name.size()).starts_with(kCollectorPrefix);
            });
        *status = is_one ? grpc::Status::OK
                         : grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                                        "its certificate is not that of a collector");
        return true;
    }
    void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest*) override {}
};

std::shared_ptr<grpc::experimental::FileWatcherCertificateProvider> watch(
    const std::string& folder) {
    return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
        key_path(folder), certificate_path(folder), authority_path(folder), kRefreshS);
}

std::vector<std::string> names_of(const grpc::AuthContext& context) {
    std::vector<std::string> names;
    for (const grpc::string_ref& name : context.FindPropertyValues("peer_uri")) {
        names.emplace_back(name.data(), name.size());
    }
    return names;
}

// gRPC's reasons in ours, where it has a usual one.
std::string why_not_connected(const std::string& reason) {
    constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
        {"certificate verify failed",
         "its certificate is of another authority than ours, or not valid today"},
        {"not that of a collector", "its certificate is not that of a collector"},
        {"Connection refused", "nobody listens there"},
        {"Socket closed",
         "it closed the connection: it takes our certificate for foreign or expired, or only one "
         "side is --insecure"},
        {"DNS resolution failed", "there is no host of that name"},
    };
    for (const auto& [words, ours] : kReasons) {
        if (reason.find(words) != std::string::npos) {
            return std::string(ours);
        }
    }
    return reason;
}

// A stranger that knocks all day fills no log.
constexpr std::int64_t kRefusalsEveryNs = 1'000'000'000;

std::atomic<const base::Log*> talk_goes_to = nullptr;
std::atomic<std::int64_t> refusal_said_ns = 0;

// "Handshake failed with fatal error SSL_ERROR_SSL: error:…:certificate verify failed"
void take_grpc_line(gpr_log_func_args* line) {
    const base::Log* const log = talk_goes_to;
    const std::string_view text = line->message;
    const std::size_t at = text.find("error:");
    if (log != nullptr && at != std::string_view::npos &&
        (text.find("certificate") != std::string_view::npos ||
         text.find("CERTIFICATE") != std::string_view::npos) &&
        base::monotonic_time_ns() - refusal_said_ns > kRefusalsEveryNs) {
        refusal_said_ns = base::monotonic_time_ns();
        log->warn(fmt::format("refused a connection: {}", text.substr(at)));
    }
}

}  // namespace

void quieten_grpc(const base::Log* log) {
    talk_goes_to = log;
    gpr_set_log_function(&take_grpc_line);
}

Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const Security& security,
                                                                    const std::string& address) {
    if (security.insecure) {
        TRY(refuse_open_insecurity(address));
        return grpc::InsecureServerCredentials();
    }
    TRY(check_certificate(security.certificates));
    grpc::experimental::TlsServerCredentialsOptions options(watch(security.certificates));
    options.watch_root_certs();
    options.watch_identity_key_cert_pairs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.set_check_call_host(false);
    return grpc::experimental::TlsServerCredentials(options);
}

Result<std::shared_ptr<grpc::ChannelCredentials>> channel_credentials(const Security& security,
                                                                      const std::string& address) {
    if (security.insecure) {
        TRY(refuse_open_insecurity(address));
        return grpc::InsecureChannelCredentials();
    }
    TRY(check_certificate(security.certificates));
    grpc::experimental::TlsChannelCredentialsOptions options;
    options.set_certificate_provider(watch(security.certificates));
    options.watch_root_certs();
    options.watch_identity_key_cert_pairs();
    options.set_verify_server_certs(true);
    options.set_check_call_host(false);
    options.set_certificate_verifier(
        grpc::experimental::ExternalCertificateVerifier::Create<IsCollector>());
    return grpc::experimental::TlsCredentials(options);
}

Caller caller_of(const grpc::AuthContext* context, const Security& security) {
    Caller caller;
    if (security.insecure) {
        caller.anybody = caller.may_record = caller.may_read = true;
        return caller;
    }
    if (context == nullptr || !context->IsPeerAuthenticated()) {
        return caller;
    }
    for (const std::string& name : names_of(*context)) {
        caller.may_record |= name == "dyetrace://may/record";
        caller.may_read |= name == "dyetrace://may/read";
        if (name.starts_with(kHostPrefix)) {
            caller.host = name.substr(kHostPrefix.size());
        }
    }
    return caller;
}

Result<std::shared_ptr<grpc::Channel>> connect(const std::string& address,
                                               const Security& security) {
    TRY(auto credentials, channel_credentials(security, address));
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
    return grpc::CreateCustomChannel(address, credentials, arguments);
}

Error error_of(const grpc::Status& status, const std::string& address) {
    switch (status.error_code()) {
        case grpc::StatusCode::UNAVAILABLE:
        case grpc::StatusCode::CANCELLED:
        case grpc::StatusCode::INTERNAL:
            return Error(ErrorCode::kUnavailable,
                         fmt::format("no connection to the collector {}: {}",
                                     address,
                                     why_not_connected(status.error_message())));
        case grpc::StatusCode::PERMISSION_DENIED:
        case grpc::StatusCode::UNAUTHENTICATED:
            return Error(ErrorCode::kPermissionDenied, status.error_message());
        case grpc::StatusCode::NOT_FOUND:
            return Error(ErrorCode::kNotFound, status.error_message());
        case grpc::StatusCode::ALREADY_EXISTS:
            return Error(ErrorCode::kAlreadyExists, status.error_message());
        case grpc::StatusCode::RESOURCE_EXHAUSTED:
            return Error(ErrorCode::kLimitReached, status.error_message());
        case grpc::StatusCode::FAILED_PRECONDITION:
            return Error(ErrorCode::kUnsupported, status.error_message());
        default:
            return Error(ErrorCode::kInvalidArgument, status.error_message());
    }
}

grpc::Status status_of(const Error& error) {
    const grpc::StatusCode code = [&] {
        switch (error.code()) {
            case ErrorCode::kNotFound:
                return grpc::StatusCode::NOT_FOUND;
            case ErrorCode::kAlreadyExists:
                return grpc::StatusCode::ALREADY_EXISTS;
            case ErrorCode::kPermissionDenied:
                return grpc::StatusCode::PERMISSION_DENIED;
            case ErrorCode::kUnsupported:
                return grpc::StatusCode::FAILED_PRECONDITION;
            case ErrorCode::kLimitReached:
                return grpc::StatusCode::RESOURCE_EXHAUSTED;
            default:
                return grpc::StatusCode::INVALID_ARGUMENT;
        }
    }();
    return {code, error.text()};
}

}  // namespace dyetrace::transport
