// Who is at the other end, by its certificate.
//
// Agents, operators and collectors have a certificate of one authority (authority.h), whose subject's other names say what its
// owner may: dyetrace://host/db1 (write as this host), dyetrace://collector/main (be asked), dyetrace://operator/eve with
// dyetrace://may/record and dyetrace://may/read. TLS refuses other authorities and other days; what is asked beyond the names is
// refused here. The files are looked at again every kRefreshS seconds: a renewed certificate needs no restart.
//
// Without encryption (`--insecure`) everybody may everything, so it is for a loopback address only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "transport/security.h"

namespace dyetrace::transport {

inline constexpr unsigned kRefreshS = 2;

struct Caller {
    bool anybody = false;  // --insecure
    std::string host;
    bool may_record = false;
    bool may_read = false;

    bool may_write_as(const std::string& name) const { return anybody || host == name; }
};

// kPermissionDenied if `insecure` and the address is not on this machine; the certificate's own fault (expired, foreign,
// missing), in words, before anybody is spoken to.
Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const Security& security,
                                                                    const std::string& address);
Result<std::shared_ptr<grpc::ChannelCredentials>> channel_credentials(const Security& security,
                                                                      const std::string& address);

Caller caller_of(const grpc::AuthContext* context, const Security& security);

// A channel of its own to the collector: no other one's connection or patience is shared.
Result<std::shared_ptr<grpc::Channel>> connect(const std::string& address,
                                               const Security& security);

// gRPC's status in words: what the collector said, or why there is none.
Error error_of(const grpc::Status& status, const std::string& address);
grpc::Status status_of(const Error& error);

}  // namespace dyetrace::transport
