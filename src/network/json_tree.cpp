#include "network/json_tree.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "support/file.hpp"

namespace certicone {

namespace {

using nlohmann::json;

/// Walks over the text and leaves its position where the callbacks can see it, since SAX events carry none.
struct TrackedByte {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at;
    const char** reached;

    reference operator*() const { return *at; }
    TrackedByte& operator++() {
        *reached = ++at;
        return *this;
    }
    bool operator==(const TrackedByte& other) const { return at == other.at; }
    bool operator!=(const TrackedByte& other) const { return at != other.at; }
};

std::string line_and_column(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return "line " + std::to_string(lines + 1) + ", column " + std::to_string(offset - line_start + 1);
}

/// The library's message without its prefix and with the text it quotes cut to a readable length.
std::string readable(std::string message, const std::string& last_token) {
    if (const std::size_t prefix = message.find(": "); prefix != std::string::npos) message.erase(0, prefix + 2);
    const std::size_t quoted = last_token.empty() ? std::string::npos : message.find("'" + last_token + "'");
    if (quoted != std::string::npos) message.replace(quoted + 1, last_token.size(), one_line(last_token, 40));
    return message;
}

/// Receives the events of nlohmann's parser (its SAX interface) and builds the tree.
class TreeBuilder {
  public:
    TreeBuilder(std::string_view text, const std::string& source) : text_(text), source_(source) {}

    JsonValue build() {
        reached_ = text_.data();
        const TrackedByte first{text_.data(), &reached_};
        const TrackedByte last{text_.data() + text_.size(), &reached_};
        json::sax_parse(first, last, this);
        return std::move(root_);
    }

    bool null() { return put(nullptr); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(json::number_integer_t value) { return put_number(static_cast<double>(value)); }
    bool number_unsigned(json::number_unsigned_t value) { return put_number(static_cast<double>(value)); }
    bool number_float(json::number_float_t value, const std::string&) { return put_number(value); }
    bool string(std::string& value) { return put(std::move(value)); }
    bool binary(json::binary_t&) { return false; }  // no such thing in JSON text

    bool start_object(std::size_t) { return open(true); }
    bool key(std::string& name) {
        Frame& frame = open_.back();
        if (!frame.keys.insert(name).second) fail(offset(), "duplicate key " + json_string(one_line(name, 60)));
        frame.members.emplace_back().key = std::move(name);
        return true;
    }
    bool end_object() {
        JsonValue::Object members = std::move(open_.back().members);
        open_.pop_back();
        return put(std::move(members));
    }

    bool start_array(std::size_t) { return open(false); }
    bool end_array() {
        JsonValue::Array items = std::move(open_.back().items);
        open_.pop_back();
        if (!items.empty()) return put(std::move(items));
        JsonValue::Numbers numbers(numbers_.begin(), numbers_.end());
        numbers_.clear();
        return put(std::move(numbers));
    }

    bool parse_error(std::size_t position, const std::string& last_token, const json::exception& error) {
        if (error.id == 406) {
            fail(position - std::min(position, last_token.size()), "number out of range: " + one_line(last_token, 40));
        }
        fail(position == 0 ? 0 : position - 1, readable(error.what(), last_token));
    }

  private:
    struct Frame {
        bool is_object = false;
        JsonValue::Array items;
        JsonValue::Object members;
        std::set<std::string> keys;
    };

    bool open(bool is_object) {
        if (open_.size() == json_depth_limit) {
            fail(offset(), "nested deeper than " + std::to_string(json_depth_limit) + " levels");
        }
        unpack();
        open_.emplace_back().is_object = is_object;
        return true;
    }

    bool put_number(double value) {
        if (!open_.empty() && !open_.back().is_object && open_.back().items.empty()) {
            numbers_.push_back(value);
            return true;
        }
        return put(value);
    }

    template <class T>
    bool put(T&& value) {
        slot().data.template emplace<std::decay_t<T>>(std::forward<T>(value));
        return true;
    }

    /// Where the next value goes.
    JsonValue& slot() {
        if (open_.empty()) return root_;
        if (open_.back().is_object) return open_.back().members.back().value;
        unpack();
        return open_.back().items.emplace_back();
    }

    /// Something other than a number follows in the innermost array: its numbers so far become ordinary elements.
    void unpack() {
        for (const double number : numbers_)
            open_.back().items.emplace_back().data = number;
        numbers_.clear();
    }

    std::size_t offset() const {
        return static_cast<std::size_t>(std::max(reached_ - text_.data(), std::ptrdiff_t{1}) - 1);
    }

    [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
        fail_input(source_, line_and_column(text_, offset) + ": " + message);
    }

    std::string_view text_;
    const std::string& source_;
    const char* reached_ = nullptr;
    JsonValue root_;
    std::vector<Frame> open_;
    std::vector<double> numbers_;  ///< of the innermost array while it holds nothing else; its memory is reused
};

std::string_view type_name(const JsonValue& value) {
    constexpr std::string_view names[] = {"null",     "a boolean", "a number", "a string",
                                          "an array", "an array",  "an object"};
    return names[value.data.index()];
}

constexpr std::string_view array_of_numbers = "an array of numbers";

}  // namespace

JsonValue parse_json(std::string_view text, const std::string& source) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) fail_input(source, "empty file");
    refuse_binary(text,
                  source);  // nlohmann's lexer takes a NUL byte for the end of the text and would accept what follows
    return TreeBuilder(text, source).build();
}

void refuse_binary(std::string_view text, const std::string& source) {
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        fail_input(source, line_and_column(text, nul) + ": NUL byte: a binary file, expected JSON text");
}

std::string json_string(std::string_view text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

double JsonPlace::number() const {
    if (const auto* value = std::get_if<double>(&value_->data)) return *value;
    wrong_type("a number");
}

Eigen::Index JsonPlace::count() const {
    const double value = number();
    constexpr double largest_exact = 9007199254740992.0;  // 2^53: above it a double no longer names one integer
    if (value < 0 || value > largest_exact || value != std::floor(value)) {
        fail(path_ + " = " + format_double(value) + ", expected an integer >= 0");
    }
    return static_cast<Eigen::Index>(value);
}

const std::string& JsonPlace::text() const {
    if (const auto* value = std::get_if<std::string>(&value_->data)) return *value;
    wrong_type("a string");
}

std::optional<bool> JsonPlace::flag() const {
    if (std::holds_alternative<std::nullptr_t>(value_->data)) return {};
    if (const bool* flag = std::get_if<bool>(&value_->data)) return *flag;
    wrong_type("true, false or null");
}

std::span<const double> JsonPlace::numbers() const {
    if (const auto* numbers = std::get_if<JsonValue::Numbers>(&value_->data)) return *numbers;
    if (const auto* items = std::get_if<JsonValue::Array>(&value_->data)) {
        for (std::size_t i = 0; i < items->size(); ++i)
            element((*items)[i], i).number();
    }
    wrong_type(array_of_numbers);
}

std::vector<std::optional<double>> JsonPlace::numbers_or_nulls() const {
    const auto* items = std::get_if<JsonValue::Array>(&value_->data);
    if (items == nullptr) {
        const std::span<const double> all = numbers();
        return {all.begin(), all.end()};
    }
    std::vector<std::optional<double>> result;
    for (std::size_t i = 0; i < items->size(); ++i)
        result.push_back(std::holds_alternative<std::nullptr_t>((*items)[i].data)
                             ? std::nullopt
                             : std::optional(element((*items)[i], i).number()));
    return result;
}

std::vector<std::span<const double>> JsonPlace::rows() const {
    if (const auto* numbers = std::get_if<JsonValue::Numbers>(&value_->data)) {
        if (!numbers->empty()) wrong_element(0, array_of_numbers);
        return {};
    }
    const auto* items = std::get_if<JsonValue::Array>(&value_->data);
    if (items == nullptr) wrong_type("an array of arrays of numbers");
    std::vector<std::span<const double>> rows;
    rows.reserve(items->size());
    for (const JsonValue& item : *items) {
        const auto* numbers = std::get_if<JsonValue::Numbers>(&item.data);
        rows.push_back(numbers != nullptr ? std::span(*numbers) : element(item, rows.size()).numbers());
    }
    return rows;
}

std::vector<JsonPlace> JsonPlace::items() const {
    if (const auto* numbers = std::get_if<JsonValue::Numbers>(&value_->data)) {
        if (!numbers->empty()) wrong_element(0, "an object");
        return {};
    }
    const auto* items = std::get_if<JsonValue::Array>(&value_->data);
    if (items == nullptr) wrong_type("an array");
    std::vector<JsonPlace> places;
    for (const JsonValue& item : *items)
        places.push_back(element(item, places.size()));
    return places;
}

const JsonValue::Object& JsonPlace::object() const {
    if (const auto* members = std::get_if<JsonValue::Object>(&value_->data)) return *members;
    wrong_type("an object");
}

std::vector<JsonPlace> JsonPlace::members() const {
    std::vector<JsonPlace> places;
    for (const JsonMember& candidate : object())
        places.push_back(member(candidate));
    return places;
}

std::optional<JsonPlace> JsonPlace::find(std::string_view key) const {
    for (const JsonMember& candidate : object()) {
        if (candidate.key == key) return member(candidate);
    }
    return std::nullopt;
}

JsonPlace JsonPlace::at(std::string_view key) const {
    if (auto place = find(key)) return *place;
    fail("missing key " + json_string(key) + (path_.empty() ? "" : " in " + path_));
}

void JsonPlace::allow_only(std::initializer_list<std::string_view> keys) const {
    for (const JsonMember& candidate : object()) {
        if (std::find(keys.begin(), keys.end(), candidate.key) != keys.end()) continue;
        fail("unknown key " + json_string(one_line(candidate.key, 60)) + (path_.empty() ? "" : " in " + path_));
    }
}

JsonPlace JsonPlace::member(const JsonMember& member) const {
    return {member.value, *source_, path_.empty() ? member.key : path_ + "." + member.key};
}

JsonPlace JsonPlace::element(const JsonValue& value, std::size_t index) const {
    return {value, *source_, path_ + "[" + std::to_string(index) + "]"};
}

void JsonPlace::fail(const std::string& message) const { fail_input(*source_, message); }

void JsonPlace::wrong_type(std::string_view expected) const {
    fail((path_.empty() ? "the top level" : path_) + " is " + std::string(type_name(*value_)) + ", expected " +
         std::string(expected));
}

void JsonPlace::wrong_element(std::size_t index, std::string_view expected) const {
    fail(path_ + "[" + std::to_string(index) + "] is a number, expected " + std::string(expected));
}

}  // namespace certicone
