#include "conic/components.hpp"

#include <map>
#include <numeric>

namespace certicone::conic {

namespace {

/// Disjoint sets of columns.
class Groups {
  public:
    explicit Groups(Index size) : parent_(static_cast<std::size_t>(size)) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }
    std::size_t find(std::size_t element) {
        while (parent_[element] != element)
            element = parent_[element] = parent_[parent_[element]];
        return element;
    }
    void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

  private:
    std::vector<std::size_t> parent_;
};

bool is_cone(const Block& block) { return block.cone == Cone::SecondOrder || block.cone == Cone::RotatedSecondOrder; }

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The entries of `matrix` in the rows and columns of each component, by their new places.
std::vector<SparseMatrix> split(const SparseMatrix& matrix, const std::vector<Component>& parts,
                                const std::vector<std::size_t>& part_of_column, const std::vector<int>& new_row,
                                const std::vector<int>& new_column, bool square) {
    std::vector<std::vector<Eigen::Triplet<double, int>>> entries(parts.size());
    for (int j = 0; j < matrix.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
            const auto column = static_cast<std::size_t>(j);
            entries[part_of_column[column]].emplace_back(new_row[static_cast<std::size_t>(it.row())],
                                                         new_column[column], it.value());
        }
    std::vector<SparseMatrix> result;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const auto columns = static_cast<Index>(parts[k].columns.size());
        result.emplace_back(square ? columns : static_cast<Index>(parts[k].rows.size()), columns);
        result.back().setFromTriplets(entries[k].begin(), entries[k].end());
    }
    return result;
}

}  // namespace

std::vector<Component> components(const ConicProgram& program) {
    const auto n = static_cast<std::size_t>(program.columns()), m = static_cast<std::size_t>(program.rows());
    // A link is a row or, for a cone, the whole block: all its columns belong together.
    std::vector<std::size_t> link_of_row(m);
    std::vector<bool> cone_link(m, false);
    for (const Block& block : program.blocks)
        for (Index row = block.begin; row < block.begin + block.size; ++row) {
            link_of_row[static_cast<std::size_t>(row)] = static_cast<std::size_t>(is_cone(block) ? block.begin : row);
            if (is_cone(block)) cone_link[static_cast<std::size_t>(block.begin)] = true;
        }
    Groups groups(program.columns());
    std::vector<std::size_t> column_of_link(m, kNone);
    for (int j = 0; j < program.A.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(program.A, j); it; ++it) {
            std::size_t& first = column_of_link[link_of_row[static_cast<std::size_t>(it.row())]];
            if (first == kNone) first = static_cast<std::size_t>(j);
            groups.join(first, static_cast<std::size_t>(j));
        }
    for (int j = 0; j < program.P.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(program.P, j); it; ++it)
            groups.join(static_cast<std::size_t>(it.row()), static_cast<std::size_t>(j));

    // Number the groups with cones in order; everything else is part 0.
    std::map<std::size_t, std::size_t> number;
    std::vector<std::size_t> part_of_column(n, 0), part_of_row(m, 0);
    for (std::size_t link = 0; link < m; ++link)
        if (cone_link[link] && column_of_link[link] != kNone)
            number.try_emplace(groups.find(column_of_link[link]), number.size() + 1);
    for (std::size_t j = 0; j < n; ++j)
        if (const auto found = number.find(groups.find(j)); found != number.end()) part_of_column[j] = found->second;
    for (std::size_t i = 0; i < m; ++i)
        if (const std::size_t column = column_of_link[link_of_row[i]]; column != kNone)
            part_of_row[i] = part_of_column[column];

    std::vector<Component> parts(number.size() + 1);
    std::vector<int> new_row(m), new_column(n);
    for (const Columns& columns : program.variables)
        for (Index k = 0; k < columns.size; ++k) {
            const auto j = static_cast<std::size_t>(columns.begin + k);
            Component& part = parts[part_of_column[j]];
            new_column[j] = static_cast<int>(part.columns.size());
            auto& named = part.program.variables;
            if (k == 0 || named.empty() || named.back().name != columns.name)
                named.push_back({columns.name, new_column[j], 0});
            ++named.back().size;
            part.columns.push_back(columns.begin + k);
        }
    for (const Block& block : program.blocks)
        for (Index k = 0; k < block.size; ++k) {
            const auto i = static_cast<std::size_t>(block.begin + k);
            Component& part = parts[part_of_row[i]];
            new_row[i] = static_cast<int>(part.rows.size());
            auto& named = part.program.blocks;
            if (named.empty() || named.back().name != block.name)
                named.push_back({block.name, block.cone, new_row[i], 0});
            ++named.back().size;
            part.rows.push_back(block.begin + k);
            part.linear = part.linear && !is_cone(block);
        }
    auto A = split(program.A, parts, part_of_column, new_row, new_column, false);
    auto P = split(program.P, parts, part_of_column, new_column, new_column, true);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        parts[k].program.A = std::move(A[k]);
        parts[k].program.P = std::move(P[k]);
        parts[k].program.b = program.b(parts[k].rows);
        parts[k].program.c = program.c(parts[k].columns);
    }
    std::erase_if(parts, [](const Component& part) { return part.rows.empty() && part.columns.empty(); });
    return parts;
}

}  // namespace certicone::conic
