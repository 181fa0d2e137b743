#include "verify/accuracy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace certicone::verify {

namespace {

constexpr std::array<std::string_view, kQuantities> kNames{"f", "nu", "p", "r", "gradient", "hessian", "directional"};
constexpr std::array<std::string_view, kQuantities> kWords{
    "f", "nu", "p", "r", "gradient", "Hessian", "directional derivative"};

}  // namespace

std::string_view to_string(Quantity quantity) { return kNames[static_cast<std::size_t>(quantity)]; }

void Accuracy::offer(Quantity quantity, double bound, double scale) {
    if (scale == 0.0) return;
    double share = bound / scale;
    if (std::isnan(share)) share = std::numeric_limits<double>::infinity();
    std::optional<double>& largest = largest_[static_cast<std::size_t>(quantity)];
    if (!largest || share > *largest) largest = share;
}

void Accuracy::add(const Accuracy& other) {
    for (std::size_t k = 0; k < kQuantities; ++k)
        if (const auto share = other.largest_[k]) offer(static_cast<Quantity>(k), *share, 1.0);
}

std::string in_words(const Accuracy& accuracy) {
    std::string text;
    for (std::size_t k = 0; k < kQuantities; ++k)
        if (const auto share = accuracy.of(static_cast<Quantity>(k)))
            text += fmt::format("{}{} to {:.1e}", text.empty() ? "" : ", ", kWords[k], *share);
    return text;
}

}  // namespace certicone::verify
