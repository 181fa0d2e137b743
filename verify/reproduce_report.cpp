#include "verify/reproduce_report.hpp"

#include <fmt/ostream.h>

#include <algorithm>

namespace certicone::verify {

namespace {

/// With the digits of the paper's figure; more where there is none.
std::string ours_as_text(const Figure& figure) {
    if (!figure.paper) return fmt::format("{:.9g}", figure.ours);
    if (figure.paper->scientific()) return fmt::format("{:.{}e}", figure.ours, figure.paper->decimals());
    const bool lost = figure.ours != 0.0 && std::abs(figure.ours) < figure.paper->half_unit();
    return lost ? fmt::format("{:.2e}", figure.ours) : fmt::format("{:.{}f}", figure.ours, figure.paper->decimals());
}

void print(std::ostream& out, const FigureTable& table) {
    std::size_t width = 0;
    for (const Figure& figure : table.figures)
        width = std::max(width, figure.name.size());
    fmt::print(out, "{}\n  {:<{}}  {:>14}  {:>14}  verdict\n", table.title, "", width, "paper", "ours");
    for (const Figure& figure : table.figures) {
        fmt::print(out, "  {:<{}}  {:>14}  {:>14}  ", figure.name, width,
                   figure.paper ? figure.paper->text : std::string_view("-"), ours_as_text(figure));
        if (figure.verdict != Verdict::shown)
            fmt::print(out, "{}{}", to_string(figure.verdict), figure.reason.empty() ? "" : ": ");
        fmt::print(out, "{}\n", figure.reason);
    }
}

void print(std::ostream& out, const SubdifferentialPicture& picture) {
    fmt::print(out,
               "the subdifferential at x0: ({:.6g}, {:.6g}) + [0, 1] ({:.6g}, {:.6g}) + disc of radius {:.6g}\n"
               "  {:>9}  {:>20}  {:>20}  {:>16}\n",
               picture.point(0), picture.point(1), picture.segment(0), picture.segment(1), picture.radius, "direction",
               "support, closed form", "max-readout f'(x0;d)", "sampled branches");
    for (const SupportRow& row : picture.support)
        fmt::print(out, "  {:>8}°  {:>20.15f}  {:>20.15f}  {:>16.6f}\n", row.degrees, row.closed_form, row.max_readout,
                   row.sampled);
    fmt::print(out, "  {}: equal to {:.1e}; {} of {} sampled branches outside, the farthest {:.6f} from the segment\n",
               picture.consistent() ? "agrees" : "differs", picture.rounding, picture.outside, picture.branches,
               picture.farthest);
}

Json to_json(const SubdifferentialPicture& picture) {
    Json rows = Json::array();
    for (const SupportRow& row : picture.support)
        rows.push_back({{"degrees", number(row.degrees)},
                        {"closed_form", number(row.closed_form)},
                        {"max_readout", number(row.max_readout)},
                        {"sampled", number(row.sampled)}});
    return {{"point", verify::to_json(picture.point)},
            {"segment", verify::to_json(picture.segment)},
            {"radius", number(picture.radius)},
            {"support", std::move(rows)},
            {"rounding", number(picture.rounding)},
            {"branches", picture.branches},
            {"outside", picture.outside},
            {"farthest", number(picture.farthest)},
            {"consistent", picture.consistent()}};
}

}  // namespace

void print(std::ostream& out, const Experiment& experiment) {
    fmt::print(out, "{}\n\n", experiment.title);
    for (const FigureTable& table : experiment.tables) {
        print(out, table);
        fmt::print(out, "\n");
    }
    if (experiment.picture) {
        print(out, *experiment.picture);
        fmt::print(out, "\n");
    }
    if (!experiment.note.empty()) fmt::print(out, "note: {}\n\n", experiment.note);
}

void print_total(std::ostream& out, const FigureCounts& counts) {
    fmt::print(out, "{}: {} agree, {} differ for a reason measured here, {} differ, {} are not compared\n",
               counts.differs > 0 ? "NOT REPRODUCED" : "reproduced", counts.agrees, counts.explained, counts.differs,
               counts.shown);
}

Json to_json(std::span<const Experiment> experiments) {
    Json list = Json::array();
    for (const Experiment& experiment : experiments) {
        Json tables = Json::array();
        for (const FigureTable& table : experiment.tables) {
            Json figures = Json::array();
            for (const Figure& figure : table.figures)
                figures.push_back({{"name", figure.name},
                                   {"paper", figure.paper ? number(figure.paper->value()) : Json(nullptr)},
                                   {"printed", figure.paper ? Json(figure.paper->text) : Json(nullptr)},
                                   {"ours", number(figure.ours)},
                                   {"verdict", to_string(figure.verdict)},
                                   {"reason", figure.reason}});
            tables.push_back({{"title", table.title}, {"figures", std::move(figures)}});
        }
        list.push_back({{"id", experiment.id},
                        {"title", experiment.title},
                        {"tables", std::move(tables)},
                        {"subdifferential", experiment.picture ? to_json(*experiment.picture) : Json(nullptr)},
                        {"note", experiment.note}});
    }
    const FigureCounts total = count_figures(experiments);
    return {{"format", "certicone-reproduction/1"},
            {"experiments", std::move(list)},
            {"summary",
             {{"agrees", total.agrees},
              {"explained", total.explained},
              {"differs", total.differs},
              {"shown", total.shown}}}};
}

}  // namespace certicone::verify
