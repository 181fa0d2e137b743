#include "verify/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace certicone::verify {

namespace {

std::string joined(std::string first, const std::string& second) {
    if (!first.empty() && !second.empty()) first += "; ";
    return first + second;
}

bool rounds_to(const Printed& paper, double ours, double slack = 0.0) {
    // 1 + 1e-9: a tie may go either way.
    return std::abs(ours - paper.value()) <= paper.half_unit() * (1.0 + 1e-9) + slack;
}

Verdict verdict_of(bool agree) { return agree ? Verdict::agrees : Verdict::differs; }

}  // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::agrees: return "agrees";
        case Verdict::differs: return "differs";
        case Verdict::explained: return "differs (explained)";
        case Verdict::shown: return "shown";
    }
    return "";
}

bool SubdifferentialPicture::consistent() const {
    return outside == 0 && std::all_of(support.begin(), support.end(), [&](const SupportRow& row) {
               return std::abs(row.closed_form - row.max_readout) <= rounding &&
                      row.sampled <= row.closed_form + rounding;
           });
}

FigureCounts count_figures(std::span<const Experiment> experiments) {
    FigureCounts counts;
    for (const Experiment& experiment : experiments) {
        for (const FigureTable& table : experiment.tables) {
            for (const Figure& figure : table.figures) {
                switch (figure.verdict) {
                    case Verdict::agrees: ++counts.agrees; break;
                    case Verdict::explained: ++counts.explained; break;
                    case Verdict::differs: ++counts.differs; break;
                    case Verdict::shown: ++counts.shown; break;
                }
            }
        }
        if (experiment.picture) ++(experiment.picture->consistent() ? counts.agrees : counts.differs);
    }
    return counts;
}

Experiment reproduce(std::string_view id, const std::filesystem::path& folder) {
    if (id == "exp1") return reproduce_experiment1(folder);
    if (id == "exp2") return reproduce_experiment2(folder);
    if (id == "exp3") return reproduce_experiment3(folder);
    if (id == "exp4") return reproduce_experiment4(folder);
    throw InputError(fmt::format("there is no experiment '{}', expected exp1, exp2, exp3 or exp4", id));
}

namespace rule {

Figure printed(std::string name, const Printed& paper, double ours, std::string reason) {
    return {std::move(name), paper, ours, verdict_of(rounds_to(paper, ours)), std::move(reason)};
}

Figure noise(std::string name, const Printed& paper, double ours, double allowance, std::string reason) {
    return {std::move(name), paper, ours, verdict_of(rounds_to(paper, ours, allowance)),
            joined(std::move(reason), fmt::format("allowed for rounding: {:.1e}", allowance))};
}

Figure rounding(std::string name, const Printed& paper, double ours, double bound, std::string reason) {
    const double factor = ours > paper.value() ? ours / paper.value() : paper.value() / ours;
    const bool agree = ours <= bound && paper.value() <= bound && factor <= 10.0;
    return {std::move(name), paper, ours, verdict_of(agree),
            joined(std::move(reason), fmt::format("rounding: bound {:.1e}, factor {:.2g}", bound, factor))};
}

Figure spread(std::string name, const Printed& paper, double ours, double low, double high) {
    const bool agree = paper.value() >= low - paper.half_unit() && paper.value() <= high + paper.half_unit();
    return {
        std::move(name), paper, ours, verdict_of(rounds_to(paper, ours) || agree),
        rounds_to(paper, ours) ? std::string() : fmt::format("{:.5g} to {:.5g} as queries move by ulps", low, high)};
}

Figure time(std::string name, const Printed& paper, double ours, std::string reason) {
    return {std::move(name), paper, ours, Verdict::shown,
            joined(fmt::format("paper / ours = {:.3g}", paper.value() / ours), reason)};
}

Figure shown(std::string name, double ours, std::string reason) {
    return {std::move(name), std::nullopt, ours, Verdict::shown, std::move(reason)};
}

}  // namespace rule

Figure explained(Figure figure, bool cause_holds, std::string reason) {
    if (figure.verdict != Verdict::differs || !cause_holds) return figure;
    figure.verdict = Verdict::explained;
    figure.reason = joined(std::move(reason), figure.reason);
    return figure;
}

}  // namespace certicone::verify
