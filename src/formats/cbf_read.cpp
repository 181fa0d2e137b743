#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>

#include "formats/cbf.hpp"
#include "support/file.hpp"
#include "support/gzip.hpp"

namespace certicone::formats {

namespace {

using conic::Block;
using conic::Cone;

/// The lines that count, one after the other: neither blank nor a comment.
class Lines {
  public:
    Lines(std::string_view text, const std::string& source) : rest_(text), source_(&source) {}

    /// False at the end of the file.
    bool next() {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find('\n');
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
            ++number_;
            next_field_ = 0;
            if (!line_.starts_with('#') && peek()) return true;
        }
        line_ = {};
        next_field_ = 0;
        return false;
    }

    /// The next line of a block; the file must have one.
    void expect(std::string_view block, const std::string& what) {
        if (!next()) fail(fmt::format("the file ends inside {}: expected {}", block, what));
    }

    std::string_view word(std::string_view what) {
        if (!peek()) fail(fmt::format("expected {}, found the end of the line", what));
        const std::size_t begin = next_field_;
        while (next_field_ < line_.size() && !blank(line_[next_field_]))
            ++next_field_;
        return line_.substr(begin, next_field_ - begin);
    }

    /// An integer in [0, limit).
    Index index(std::string_view what, Index limit) {
        const Index value = integer(what);
        if (value < 0 || value >= limit)
            fail(limit == 0 ? fmt::format("{} {}: there is none", what, value)
                            : fmt::format("{} {} is out of range, expected 0 to {}", what, value, limit - 1));
        return value;
    }

    Index integer(std::string_view what) {
        const std::string_view text = word(what);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size())
            fail(fmt::format("{} is '{}', expected an integer", what, one_line(text, 40)));
        return static_cast<Index>(value);
    }

    double number(std::string_view what) {
        std::string_view text = word(what);
        if (text.starts_with('+')) text.remove_prefix(1);
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        // Out of range is also what underflows: that is 0 for us, as for every reader.
        const bool tiny = error == std::errc::result_out_of_range && text.find("e-") != std::string_view::npos;
        if ((error != std::errc{} && !tiny) || end != text.data() + text.size())
            fail(fmt::format("{} is '{}', expected a number", what, one_line(text, 40)));
        if (!std::isfinite(value)) fail(fmt::format("{} is {}, expected a finite number", what, one_line(text, 40)));
        return value;
    }

    void end_of_line() {
        if (peek()) fail(fmt::format("'{}' is too much on this line", one_line(word(""), 40)));
    }

    std::size_t line_number() const { return number_; }

    [[noreturn]] void fail(const std::string& message) const { fail_at(number_, message); }
    [[noreturn]] void fail_at(std::size_t line, const std::string& message) const {
        fail_input(*source_, fmt::format("line {}: {}", line, message));
    }

  private:
    static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
    bool peek() {
        while (next_field_ < line_.size() && blank(line_[next_field_]))
            ++next_field_;
        return next_field_ < line_.size();
    }

    std::string_view rest_, line_;
    const std::string* source_;
    std::size_t number_ = 0, next_field_ = 0;
};

enum class Word { Free, Zero, Positive, Negative, Quadratic, Rotated };

struct ConeRun {
    Word word;
    Index size;
};

struct Entry {
    Index row, column;
    double value;
    std::size_t line;
};

/// Control characters that no text has.
void refuse_binary(std::string_view text, const std::string& source) {
    const auto strange = [](char c) { return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r'); };
    const auto found = std::find_if(text.begin(), text.end(), strange);
    if (found != text.end())
        fail_input(source,
                   fmt::format("line {}: binary file, expected CBF text", 1 + std::count(text.begin(), found, '\n')));
}

class Reader {
  public:
    Reader(std::string_view text, const std::string& source)
        : lines_(text, source), largest_(std::max<Index>(100'000, static_cast<Index>(text.size()))) {}

    CbfModel read() {
        bool any = false;
        while (lines_.next()) {
            const std::string_view keyword = lines_.word("a keyword");
            lines_.end_of_line();
            if (!any && keyword != "VER") lines_.fail(fmt::format("'{}' comes before VER", one_line(keyword, 40)));
            any = true;
            if (!seen_.insert(std::string(keyword)).second)
                lines_.fail(fmt::format("{} is there twice", one_line(keyword, 40)));
            read_block(keyword);
        }
        if (!any) lines_.fail("empty, expected a CBF file that begins with VER");
        for (const char* needed : {"OBJSENSE", "VAR"})
            if (!seen_.contains(needed)) lines_.fail(fmt::format("the file ends without {}", needed));
        return build();
    }

  private:
    void read_block(std::string_view keyword) {
        if (keyword == "VER") {
            lines_.expect("VER", "a version");
            const Index version = lines_.integer("the version");
            if (version < 1 || version > 4) lines_.fail(fmt::format("version {}, expected 1 to 4", version));
            lines_.end_of_line();
        } else if (keyword == "OBJSENSE") {
            lines_.expect("OBJSENSE", "MIN or MAX");
            const std::string_view sense = lines_.word("MIN or MAX");
            if (sense != "MIN" && sense != "MAX")
                lines_.fail(fmt::format("the sense is '{}', expected MIN or MAX", one_line(sense, 40)));
            maximise_ = sense == "MAX";
            lines_.end_of_line();
        } else if (keyword == "VAR") {
            read_cones("VAR", columns_, variables_);
        } else if (keyword == "CON") {
            read_cones("CON", rows_, constraints_);
        } else if (keyword == "OBJACOORD") {
            need("VAR", keyword);
            read_entries("OBJACOORD", objective_, false, true);
        } else if (keyword == "OBJBCOORD") {
            lines_.expect("OBJBCOORD", "a number");
            constant_ = lines_.number("the constant");
            lines_.end_of_line();
        } else if (keyword == "ACOORD") {
            need("VAR", keyword);
            need("CON", keyword);
            read_entries("ACOORD", coefficients_, true, true);
        } else if (keyword == "BCOORD") {
            need("CON", keyword);
            read_entries("BCOORD", offsets_, true, false);
        } else if (keyword == "INT") {
            lines_.fail("INT: integer variables are not supported");
        } else {
            lines_.fail(
                fmt::format("'{}' is not a block that we know (VER OBJSENSE VAR CON OBJACOORD OBJBCOORD ACOORD BCOORD)",
                            one_line(keyword, 40)));
        }
    }

    void need(const char* before, std::string_view keyword) const {
        if (!seen_.contains(before)) lines_.fail(fmt::format("{} comes before {}", keyword, before));
    }

    void read_cones(const char* block, Index& total, std::vector<ConeRun>& cones) {
        const char* what = total_name(block);
        lines_.expect(block, fmt::format("how many {} and how many cones", what));
        total = lines_.integer(fmt::format("the number of {}", what));
        const Index count = lines_.integer("the number of cones");
        lines_.end_of_line();
        if (total < 0 || total > largest_)
            lines_.fail(fmt::format("{} {}, expected 0 to {} in a file of this size", total, what, largest_));
        if (count < 0 || count > total)
            lines_.fail(fmt::format("{} cones for {} {}, expected 0 to {}", count, total, what, total));
        Index sum = 0;
        for (Index k = 0; k < count; ++k) {
            lines_.expect(block, fmt::format("cone {} of {}", k + 1, count));
            const Word word = cone_word();
            const Index size = lines_.integer("the size of the cone");
            lines_.end_of_line();
            const Index least = word == Word::Rotated ? 2 : 1;
            if (size < least || size > total - sum)
                lines_.fail(fmt::format("a cone of size {}, expected {} to {} ({} has {} {})", size, least, total - sum,
                                        block, total, what));
            sum += size;
            cones.push_back({word, size});
        }
        if (sum != total) lines_.fail(fmt::format("the cones of {} hold {} {}, expected {}", block, sum, what, total));
    }

    static const char* total_name(std::string_view block) { return block == "VAR" ? "variables" : "rows"; }

    Word cone_word() {
        const std::string_view name = lines_.word("a cone");
        constexpr std::pair<std::string_view, Word> words[] = {{"F", Word::Free},      {"L=", Word::Zero},
                                                               {"L+", Word::Positive}, {"L-", Word::Negative},
                                                               {"Q", Word::Quadratic}, {"QR", Word::Rotated}};
        for (const auto& [text, word] : words)
            if (name == text) return word;
        lines_.fail(fmt::format("cone '{}', expected F, L=, L+, L-, Q or QR", one_line(name, 40)));
    }

    void read_entries(const char* block, std::vector<Entry>& entries, bool has_row, bool has_column) {
        lines_.expect(block, "how many entries");
        const Index count = lines_.integer("the number of entries");
        lines_.end_of_line();
        if (count < 0) lines_.fail(fmt::format("{} entries, expected 0 or more", count));
        for (Index k = 0; k < count; ++k) {
            lines_.expect(block, fmt::format("entry {} of {}", k + 1, count));
            Entry entry{0, 0, 0.0, lines_.line_number()};
            if (has_row) entry.row = lines_.index("row", rows_);
            if (has_column) entry.column = lines_.index("column", columns_);
            entry.value = lines_.number("the coefficient");
            lines_.end_of_line();
            entries.push_back(entry);
        }
        refuse_twice(entries, has_row, has_column);
    }

    void refuse_twice(const std::vector<Entry>& entries, bool has_row, bool has_column) const {
        std::vector<std::pair<std::uint64_t, std::size_t>> places;
        places.reserve(entries.size());
        for (const Entry& entry : entries)
            places.emplace_back(static_cast<std::uint64_t>(entry.row) << 32 | static_cast<std::uint64_t>(entry.column),
                                entry.line);
        std::sort(places.begin(), places.end());
        for (std::size_t k = 1; k < places.size(); ++k) {
            if (places[k].first != places[k - 1].first) continue;
            const auto row = places[k].first >> 32, column = places[k].first & 0xFFFFFFFFu;
            const std::string place = has_row && has_column ? fmt::format("row {}, column {}", row, column)
                                      : has_row             ? fmt::format("row {}", row)
                                                            : fmt::format("column {}", column);
            lines_.fail_at(places[k].second,
                           fmt::format("{} was given on line {} already", place, places[k - 1].second));
        }
    }

    CbfModel build() const {
        CbfModel model;
        model.maximise = maximise_;
        conic::Builder builder;
        builder.add_columns("x", columns_);
        for (std::size_t k = 0; k < constraints_.size(); ++k) {
            const auto [word, size] = constraints_[k];
            const Index first = add_rows(builder, fmt::format("con[{}]", k), constraints_[k]);
            for (Index i = 0; i < size; ++i) {
                model.row.push_back(first < 0 ? -1 : first + i);
                model.sign.push_back(word == Word::Negative ? -1.0 : 1.0);
            }
        }
        for (const Entry& entry : coefficients_) {
            const auto i = static_cast<std::size_t>(entry.row);
            if (model.row[i] >= 0) builder.set(model.row[i], entry.column, -model.sign[i] * entry.value);
        }
        Index next = 0;  // column
        for (std::size_t k = 0; k < variables_.size(); ++k) {
            const auto [word, size] = variables_[k];
            const Index first = add_rows(builder, fmt::format("var[{}]", k), variables_[k]);
            for (Index i = 0; i < size; ++i, ++next)
                if (first >= 0) builder.set(first + i, next, word == Word::Negative ? 1.0 : -1.0);
        }
        model.program = builder.build();
        if (model.program.rows() == 0) lines_.fail("no constraints: expected a cone other than F in VAR or CON");
        for (const Entry& entry : offsets_) {
            const auto i = static_cast<std::size_t>(entry.row);
            if (model.row[i] >= 0) model.program.b(model.row[i]) = model.sign[i] * entry.value;
        }
        const double sense = maximise_ ? -1.0 : 1.0;
        for (const Entry& entry : objective_)
            model.program.c(entry.column) = sense * entry.value;
        model.program.c0 = sense * constant_;
        return model;
    }

    /// The first row of a cone's block; −1 for a free one. A second-order cone of one row, or a rotated one of two, is an
    /// orthant.
    static Index add_rows(conic::Builder& builder, std::string name, const ConeRun& cone) {
        switch (cone.word) {
            case Word::Free: return -1;
            case Word::Zero: return builder.add_rows(std::move(name), Cone::Zero, cone.size);
            case Word::Positive:
            case Word::Negative: return builder.add_rows(std::move(name), Cone::Nonnegative, cone.size);
            case Word::Quadratic:
                return builder.add_rows(std::move(name), cone.size == 1 ? Cone::Nonnegative : Cone::SecondOrder,
                                        cone.size);
            case Word::Rotated:
                return builder.add_rows(std::move(name), cone.size == 2 ? Cone::Nonnegative : Cone::RotatedSecondOrder,
                                        cone.size);
        }
        return -1;
    }

    Lines lines_;
    Index largest_;
    std::set<std::string> seen_;
    bool maximise_ = false;
    Index columns_ = 0, rows_ = 0;
    double constant_ = 0.0;
    std::vector<ConeRun> variables_, constraints_;
    std::vector<Entry> objective_, coefficients_, offsets_;
};

}  // namespace

CbfModel parse_cbf(std::string_view text, const std::string& source) {
    refuse_binary(text, source);
    return Reader(text, source).read();
}

CbfModel read_cbf(const std::string& path) {
    const std::string bytes = read_file(path, [&](std::string_view beginning, auto) {
        if (!is_gzip(beginning)) refuse_binary(beginning, path);
    });
    return is_gzip(bytes) ? parse_cbf(gunzip(bytes, path), path) : parse_cbf(bytes, path);
}

Vector CbfModel::multipliers(const Vector& y) const {
    Vector result(static_cast<Index>(row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
        result(static_cast<Index>(i)) = row[i] < 0 ? 0.0 : sign[i] * y(row[i]);
    return result;
}

Vector CbfModel::back(const Vector& multipliers) const {
    Vector y = Vector::Zero(program.rows());
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] >= 0) y(row[i]) = sign[i] * multipliers(static_cast<Index>(i));
    // A row of K_VAR has one entry, ∓1: its multiplier is what c + Aᵀy lacks there.
    Index first_of_variables = 0;
    for (const Index used : row)
        first_of_variables = std::max(first_of_variables, used + 1);
    const Vector lacking = program.c + program.A.transpose() * y;
    for (int j = 0; j < program.A.outerSize(); ++j)
        for (conic::SparseMatrix::InnerIterator it(program.A, j); it; ++it)
            if (it.row() >= first_of_variables) y(it.row()) = -lacking(j) / it.value();
    return y;
}

}  // namespace certicone::formats
