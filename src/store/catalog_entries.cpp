#include "store/catalog_entries.h"

#include <duckdb/catalog/catalog.hpp>
#include <duckdb/catalog/catalog_entry/duck_schema_entry.hpp>
#include <duckdb/catalog/catalog_entry/view_catalog_entry.hpp>
#include <duckdb/main/client_context.hpp>
#include <duckdb/main/connection.hpp>
#include <duckdb/parser/parsed_data/create_macro_info.hpp>
#include <duckdb/parser/parsed_data/create_view_info.hpp>
#include <duckdb/parser/parser.hpp>
#include <duckdb/parser/statement/create_statement.hpp>
#include <duckdb/transaction/meta_transaction.hpp>
#include <exception>
#include <utility>

namespace dyetrace::store {
namespace {

constexpr const char* kDatabase = "memory";
constexpr const char* kSchema = "main";

// One that was never bound has no types that a later binding could contradict.
class UnboundView final : public duckdb::ViewCatalogEntry {
  public:
    using ViewCatalogEntry::ViewCatalogEntry;
    bool HasTypes() const override { return false; }
};

void add_entry(duckdb::ClientContext& context, duckdb::CreateInfo& info) {
    duckdb::Catalog& catalog = duckdb::Catalog::GetCatalog(context, kDatabase);
    duckdb::MetaTransaction::Get(context).ModifyDatabase(catalog.GetAttached());
    info.catalog = kDatabase;
    info.schema = info.schema.empty() ? kSchema : info.schema;
    if (info.type != duckdb::CatalogType::VIEW_ENTRY) {
        catalog.CreateFunction(context, info.Cast<duckdb::CreateMacroInfo>());
        return;
    }
    auto& schema = catalog.GetSchema(context, info.schema).Cast<duckdb::DuckSchemaEntry>();
    schema.AddEntry(
        catalog.GetCatalogTransaction(context),
        duckdb::make_uniq<UnboundView>(catalog, schema, info.Cast<duckdb::CreateViewInfo>()),
        info.on_conflict);
}

}  // namespace

// duckdb_connection is a duckdb::Connection (src/main/capi/duckdb-c.cpp).
Result<void> add_catalog_entries(duckdb_connection connection, const std::string& sql) {
    duckdb::ClientContext& context = *reinterpret_cast<duckdb::Connection*>(connection)->context;
    try {
        context.RunFunctionInTransaction([&] {
            duckdb::Parser parser(context.GetParserOptions());
            parser.ParseQuery(sql);
            for (auto& statement : parser.statements) {
                add_entry(context, *statement->Cast<duckdb::CreateStatement>().info);
            }
        });
    } catch (const std::exception& error) {
        return engine_error(duckdb::ErrorData(error).Message().c_str());
    }
    return {};
}

}  // namespace dyetrace::store
