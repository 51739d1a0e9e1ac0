// A small certificate authority: one key that signs who may be what among agents, operators and collectors.
//
//   pki/
//     ca.pem ca.key                         the authority; ca.key stays where it was made
//     host-db1/  ca.pem certificate.pem key.pem     to be carried to db1
//     operator-eve/ …                                to eve
//     collector-main/ …                              to the collector
//
//   TRY(make_authority("pki"));
//   TRY(issue("pki", "host-db1", {"dyetrace://host/db1"}, days));
//
// Issuing again renews: the files are replaced, and whoever watches them takes the new ones. Keys are ECDSA over P-256.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::transport {

inline constexpr int kAuthorityDays = 3650;
inline constexpr int kCertificateDays = 90;

std::string key_path(const std::string& folder);          // key.pem
std::string certificate_path(const std::string& folder);  // certificate.pem
std::string authority_path(const std::string& folder);    // ca.pem

// kAlreadyExists if there is one.
Result<void> make_authority(const std::string& folder);

// Makes folder/name/ with a new key; `uris` are what its owner may.
Result<void> issue(const std::string& folder,
                   const std::string& name,
                   const std::vector<std::string>& uris,
                   int days);

// Is there a certificate in this folder, of the authority beside it, valid now? The error says which of these it is not.
Result<void> check_certificate(const std::string& folder);

}  // namespace dyetrace::transport
