// Whom to trust and who we are, for both ends of a connection.
#pragma once

#include <string>

#include "base/log.h"

namespace dyetrace::transport {

struct Security {
    std::string certificates;  // folder with ca.pem, certificate.pem, key.pem
    bool insecure = false;     // neither encryption nor certificates
};

// gRPC writes to stderr by itself. From here on it is silent, but for handshakes that were refused because of a certificate:
// these become one line in `log`, if there is one. Once, before anything else; `log` must outlive all connections.
void quieten_grpc(const base::Log* log);

}  // namespace dyetrace::transport
