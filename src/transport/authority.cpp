#include "transport/authority.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "base/file.h"

namespace dyetrace::transport {
namespace {

constexpr long kSecondsPerDay = 24 * 60 * 60;
constexpr long kClockSlackS = 60 * 60;  // a certificate begins an hour ago: clocks of hosts differ
constexpr int kSerialBits = 127;
constexpr std::size_t kPemBytesMax = 64 * 1024;

template <auto free>
struct Free {
    template <typename T>
    void operator()(T* thing) const {
        free(thing);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Store = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using Check = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;

Error failed(const char* what) {
    return Error(ErrorCode::kIo, fmt::format("OpenSSL cannot {}", what));
}

std::string text_of(const Memory& memory) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

Result<std::string> pem_of(EVP_PKEY* key) {
    const Memory memory(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_PKCS8PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
        1) {
        return failed("write a key");
    }
    return text_of(memory);
}

Result<std::string> pem_of(X509* certificate) {
    const Memory memory(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(memory.get(), certificate) != 1) {
        return failed("write a certificate");
    }
    return text_of(memory);
}

Result<Certificate> read_certificate(const std::string& path) {
    TRY(const std::string pem, base::read_file(path, kPemBytesMax));
    const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Certificate certificate(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
    if (!certificate) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no certificate in PEM", path));
    }
    return certificate;
}

Result<Key> read_key(const std::string& path) {
    TRY(const std::string pem, base::read_file(path, kPemBytesMax));
    const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr));
    if (!key) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no key in PEM", path));
    }
    return key;
}

// Never readable by anybody else, not even before it is complete.
Result<void> write_private(const std::string& path, const std::string& text) {
    const std::string fresh = path + ".new";
    ::unlink(fresh.c_str());
    TRY(const base::Fd file, base::open_file(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600));
    TRY(base::write_all(file, base::bytes_of(text)));
    TRY(base::sync_file(file));
    return base::rename_file(fresh, path);
}

Result<void> add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) {
        return failed("extend a certificate");
    }
    return {};
}

Result<Certificate> blank_certificate(const std::string& common_name, EVP_PKEY* key, int days) {
    Certificate certificate(X509_new());
    const Number serial(BN_new());
    if (!certificate || !serial || BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, 0) != 1 ||
        BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) == nullptr) {
        return failed("make a certificate");
    }
    X509_set_version(certificate.get(), X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kClockSlackS);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), days * kSecondsPerDay);
    X509_set_pubkey(certificate.get(), key);
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name,
                               "CN",
                               MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.data()),
                               static_cast<int>(common_name.size()),
                               -1,
                               0);
    return certificate;
}

Result<void> sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
    return X509_sign(certificate, key, EVP_sha256()) > 0 ? Result<void>()
                                                         : failed("sign a certificate");
}

std::string joined_uris(const std::vector<std::string>& uris) {
    std::string text;
    for (const std::string& uri : uris) {
        text += (text.empty() ? "URI:" : ",URI:") + uri;
    }
    return text;
}

Error explain(int code, const std::string& folder) {
    switch (code) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return Error(ErrorCode::kPermissionDenied,
                         fmt::format("the certificate in '{}' has expired: issue a new one with "
                                     "`dyetrace pki issue`",
                                     folder));
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return Error(ErrorCode::kPermissionDenied,
                         fmt::format("the certificate in '{}' is not valid yet: look at the clock "
                                     "of this host",
                                     folder));
        default:
            return Error(ErrorCode::kPermissionDenied,
                         fmt::format("the certificate in '{}' is not of the authority beside it "
                                     "({})",
                                     folder,
                                     X509_verify_cert_error_string(code)));
    }
}

}  // namespace

std::string key_path(const std::string& folder) {
    return folder + "/key.pem";
}
std::string certificate_path(const std::string& folder) {
    return folder + "/certificate.pem";
}
std::string authority_path(const std::string& folder) {
    return folder + "/ca.pem";
}

Result<void> make_authority(const std::string& folder) {
    TRY(base::make_folders(folder));
    if (::access((folder + "/ca.key").c_str(), F_OK) == 0) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("'{}' has an authority; another one would make every certificate "
                                 "of it worthless",
                                 folder));
    }
    const Key key(EVP_EC_gen("P-256"));
    if (!key) {
        return failed("make a key");
    }
    TRY(const Certificate certificate,
        blank_certificate("dyetrace authority", key.get(), kAuthorityDays));
    X509* const own = certificate.get();
    TRY(add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
    TRY(add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign"));
    TRY(add_extension(own, own, NID_subject_key_identifier, "hash"));
    TRY(sign(own, own, key.get()));
    TRY(const std::string key_pem, pem_of(key.get()));
    TRY(const std::string certificate_pem, pem_of(own));
    TRY(write_private(folder + "/ca.key", key_pem));
    return base::write_file_atomically(authority_path(folder), certificate_pem);
}

Result<void> issue(const std::string& folder,
                   const std::string& name,
                   const std::vector<std::string>& uris,
                   int days) {
    TRY(const Key authority_key, read_key(folder + "/ca.key"));
    TRY(const Certificate authority, read_certificate(authority_path(folder)));
    const Key key(EVP_EC_gen("P-256"));
    if (!key) {
        return failed("make a key");
    }
    TRY(const Certificate certificate, blank_certificate(name, key.get(), days));
    X509* const own = certificate.get();
    TRY(add_extension(own, authority.get(), NID_basic_constraints, "critical,CA:FALSE"));
    TRY(add_extension(own, authority.get(), NID_key_usage, "critical,digitalSignature"));
    TRY(add_extension(own, authority.get(), NID_ext_key_usage, "clientAuth,serverAuth"));
    TRY(add_extension(own, authority.get(), NID_subject_alt_name, joined_uris(uris)));
    TRY(add_extension(own, authority.get(), NID_authority_key_identifier, "keyid"));
    TRY(sign(own, authority.get(), authority_key.get()));
    TRY(const std::string key_pem, pem_of(key.get()));
    TRY(const std::string certificate_pem, pem_of(own));
    TRY(const std::string authority_pem, pem_of(authority.get()));
    const std::string into = folder + "/" + name;
    TRY(base::make_folders(into));
    TRY(write_private(key_path(into), key_pem));
    TRY(base::write_file_atomically(authority_path(into), authority_pem));
    return base::write_file_atomically(certificate_path(into), certificate_pem);
}

Result<void> check_certificate(const std::string& folder) {
    TRY(const Certificate authority, read_certificate(authority_path(folder)));
    TRY(const Certificate certificate, read_certificate(certificate_path(folder)));
    TRY(const Key key, read_key(key_path(folder)));
    if (X509_check_private_key(certificate.get(), key.get()) != 1) {
        return Error(ErrorCode::kPermissionDenied,
                     fmt::format("key.pem in '{}' does not belong to certificate.pem", folder));
    }
    const Store store(X509_STORE_new());
    const Check check(X509_STORE_CTX_new());
    if (!store || !check || X509_STORE_add_cert(store.get(), authority.get()) != 1 ||
        X509_STORE_CTX_init(check.get(), store.get(), certificate.get(), nullptr) != 1) {
        return failed("compare certificates");
    }
    if (X509_verify_cert(check.get()) != 1) {
        return explain(X509_STORE_CTX_get_error(check.get()), folder);
    }
    return {};
}

}  // namespace dyetrace::transport
