// The paper's four experiments on its own draws (data/paper): each printed figure beside ours, and whether they agree.
//
// When figures agree, by kind:
//   printed   deterministic: ours rounds to the printed digits
//   noise     ours is within half a unit of the printed digit and a stated allowance for the rounding in either
//   rounding  errors that are rounding and nothing else: both below the bound of rounding analysis and within a factor
//             of 10 (chosen: the bounds are worst cases, far above both)
//   spread    decided by single roundings: the printed figure lies in the sampled range of ours when queries move by ulps
//   time      not compared: the ratio is shown
// A difference whose cause is measured here is `explained`; any other is a failure.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/network.hpp"
#include "verify/paper_figures.hpp"

namespace certicone::verify {

enum class Verdict { agrees, differs, explained, shown };
std::string_view to_string(Verdict verdict);  ///< "agrees", "differs", "differs (explained)", "shown"

struct Figure {
    std::string name;
    std::optional<Printed> paper;  ///< none where the paper prints none
    double ours = 0.0;
    Verdict verdict = Verdict::shown;
    std::string reason;
};

struct FigureTable {
    std::string title;
    std::vector<Figure> figures;
};

/// ∂f(x₀) of Experiment 3 by its support function σ(d) = max gᵀd, in one direction.
struct SupportRow {
    double degrees = 0.0;
    double closed_form = 0.0;  ///< of the segment and the disc, from the network's numbers
    double max_readout = 0.0;  ///< f'(x₀; d), Theorem 2
    double sampled = 0.0;      ///< the farthest of the sampled branches
};

/// ∂f(x₀) = point + [0, 1]·segment + disc of the given radius.
struct SubdifferentialPicture {
    Vector point, segment;
    double radius = 0.0;
    std::vector<SupportRow> support;
    double rounding = 0.0;    ///< what rounding may make closed form and max-readout differ by
    Index branches = 0;       ///< sampled
    Index outside = 0;        ///< of them, by more than rounding
    double farthest = 0.0;    ///< the largest distance of a branch from the segment: at most `radius` inside the set
    bool consistent() const;  ///< equal support functions, no branch outside
};

struct Experiment {
    std::string id, title;
    std::vector<FigureTable> tables;
    std::optional<SubdifferentialPicture> picture;
    std::string note;  ///< what a reader must know to weigh the verdicts
};

struct FigureCounts {
    Index agrees = 0, explained = 0, differs = 0, shown = 0;
};
FigureCounts count_figures(std::span<const Experiment> experiments);

inline constexpr std::array<std::string_view, 4> kExperiments{"exp1", "exp2", "exp3", "exp4"};

/// Runs one of kExperiments on the files of `folder`. InputError where a file is missing or wrong.
Experiment reproduce(std::string_view id, const std::filesystem::path& folder);

Experiment reproduce_experiment1(const std::filesystem::path& folder);
Experiment reproduce_experiment2(const std::filesystem::path& folder);
Experiment reproduce_experiment3(const std::filesystem::path& folder);
Experiment reproduce_experiment4(const std::filesystem::path& folder);

/// The rules above. `reason` is put before what the rule itself has to say.
namespace rule {
Figure printed(std::string name, const Printed& paper, double ours, std::string reason = {});
Figure noise(std::string name, const Printed& paper, double ours, double allowance, std::string reason);
Figure rounding(std::string name, const Printed& paper, double ours, double bound, std::string reason = {});
Figure spread(std::string name, const Printed& paper, double ours, double low, double high);
Figure time(std::string name, const Printed& paper, double ours, std::string reason = {});
Figure shown(std::string name, double ours, std::string reason = {});
}  // namespace rule

/// A difference with a known cause becomes `explained`; agreement stays.
Figure explained(Figure figure, bool cause_holds, std::string reason);

}  // namespace certicone::verify
