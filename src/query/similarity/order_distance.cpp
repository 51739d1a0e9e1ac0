#include "query/similarity/order_distance.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/pattern/permutation.h"

namespace dyetrace::query {
namespace {

struct Item {
    std::string_view item;
    std::uint32_t occurrence = 0, place = 0;

    auto identity() const { return std::tie(item, occurrence); }
};

bool is_before(const Item& a, const Item& b) {
    return a.identity() < b.identity();
}

// Sorted by item; of equal ones the first is occurrence 0.
std::optional<std::vector<Item>> items_of(std::string_view list) {
    if (list.size() < 2 || list.front() != '[' || list.back() != ']') {
        return std::nullopt;
    }
    list = list.substr(1, list.size() - 2);
    std::vector<Item> items;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(", "), list.size());
        items.push_back({list.substr(0, end), 0, static_cast<std::uint32_t>(items.size())});
        list.remove_prefix(std::min(end + 2, list.size()));
    }
    std::stable_sort(items.begin(), items.end(), is_before);
    for (std::size_t i = 1; i < items.size(); ++i) {
        items[i].occurrence = items[i].item == items[i - 1].item ? items[i - 1].occurrence + 1 : 0;
    }
    return items;
}

struct Place {
    std::uint32_t before = 0, after = 0;
};

std::vector<Place> common_places(const std::vector<Item>& before, const std::vector<Item>& after) {
    std::vector<Place> places;
    for (auto a = before.begin(), b = after.begin(); a != before.end() && b != after.end();) {
        if (a->identity() == b->identity()) {
            places.push_back({(a++)->place, (b++)->place});
        } else {
            is_before(*a, *b) ? ++a : ++b;
        }
    }
    return places;
}

}  // namespace

std::optional<double> order_distance(std::string_view before, std::string_view after) {
    const auto first = items_of(before), second = items_of(after);
    if (!first || !second) {
        return std::nullopt;
    }
    std::vector<Place> places = common_places(*first, *second);
    std::sort(places.begin(), places.end(), [](Place a, Place b) { return a.before < b.before; });
    for (std::uint32_t place = 0; Place & common : places) {
        common.before = place++;
    }
    std::sort(places.begin(), places.end(), [](Place a, Place b) { return a.after < b.after; });
    std::vector<std::uint32_t> order;
    order.reserve(places.size());
    for (const Place& common : places) {
        order.push_back(common.before);
    }
    const analysis::Permutation permutation = analysis::measure(order);
    return permutation.pairs == 0 ? std::nullopt : std::optional(permutation.distance());
}

}  // namespace dyetrace::query
