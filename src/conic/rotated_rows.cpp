#include "conic/rotated_rows.hpp"

#include <cmath>

namespace certicone::conic {

RotatedRows::RotatedRows(const ConicProgram& program) : transform_(program.rows(), program.rows()) {
    std::vector<Eigen::Triplet<double, int>> entries;
    Index next = 0;
    const auto place = [&](Index row, double value) {
        entries.emplace_back(static_cast<int>(next), static_cast<int>(row), value);
    };
    const auto place_block = [&](const Block& block) {
        Index k = 0;
        if (block.cone == Cone::RotatedSecondOrder) {
            const double half = std::sqrt(0.5);
            place(block.begin, half);
            place(block.begin + 1, half);
            ++next;
            place(block.begin, half);
            place(block.begin + 1, -half);
            ++next;
            k = 2;
        }
        for (; k < block.size; ++k, ++next)
            place(block.begin + k, 1.0);
    };
    const auto is_cone = [](const Block& block) {
        return block.cone == Cone::SecondOrder || block.cone == Cone::RotatedSecondOrder;
    };
    for (const Block& block : program.blocks)
        if (block.cone == Cone::Zero) place_block(block);
    zero_ = next;
    for (const Block& block : program.blocks)
        if (block.cone == Cone::Nonnegative) place_block(block);
    nonnegative_ = next - zero_;
    for (const Block& block : program.blocks) {
        if (!is_cone(block)) continue;
        place_block(block);
        second_order_.push_back(static_cast<int>(block.size));
    }
    transform_.setFromTriplets(entries.begin(), entries.end());
}

SparseMatrix RotatedRows::map(const SparseMatrix& A) const {
    SparseMatrix mapped = transform_ * A;
    mapped.makeCompressed();
    return mapped;
}

Vector RotatedRows::map(const Vector& rows) const { return transform_ * rows; }

Vector RotatedRows::back(const double* mapped) const {
    return transform_.transpose() * Eigen::Map<const Vector>(mapped, transform_.rows());
}

}  // namespace certicone::conic
