// JSON as a compact tree: an array of numbers takes 8 bytes a number, so that networks of hundreds of MB fit.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace certicone {

struct JsonMember;

struct JsonValue {
    using Numbers = std::vector<double>;  ///< an array without other elements, the empty array included
    using Array = std::vector<JsonValue>;
    using Object = std::vector<JsonMember>;  ///< in the order of the file; no key twice

    std::variant<std::nullptr_t, bool, double, std::string, Numbers, Array, Object> data;
};

struct JsonMember {
    std::string key;
    JsonValue value;
};

/// InputError "source: line 3, column 14: …" for anything that is not one JSON text of numbers that fit a double, with
/// no key twice in an object and at most `json_depth_limit` levels.
JsonValue parse_json(std::string_view text, const std::string& source);
inline constexpr std::size_t json_depth_limit = 64;

/// InputError at the first NUL byte, which no JSON text has; `text` may be the beginning of one.
void refuse_binary(std::string_view text, const std::string& source);

/// `text` in quotes with JSON's escapes.
std::string json_string(std::string_view text);

/// A value together with its path from the root, so that what is wrong can be named: every accessor throws InputError
/// "source: layers[1].b is a string, expected an array of numbers" on the wrong type. Refers to the tree and to
/// `source`; both must outlive it.
class JsonPlace {
  public:
    JsonPlace(const JsonValue& value, const std::string& source) : value_(&value), source_(&source) {}

    double number() const;
    Eigen::Index count() const;  ///< an integer ≥ 0
    const std::string& text() const;
    std::optional<bool> flag() const;  ///< true or false; none for null
    std::span<const double> numbers() const;
    std::vector<std::optional<double>> numbers_or_nulls() const;
    std::vector<std::span<const double>> rows() const;  ///< an array of arrays of numbers, of any lengths
    std::vector<JsonPlace> items() const;               ///< an array of anything but numbers
    std::vector<JsonPlace> members() const;             ///< of an object, in its order

    JsonPlace at(std::string_view key) const;
    std::optional<JsonPlace> find(std::string_view key) const;
    void allow_only(std::initializer_list<std::string_view> keys) const;

    const std::string& path() const { return path_; }
    [[noreturn]] void fail(const std::string& message) const;  ///< "source: message"

  private:
    JsonPlace(const JsonValue& value, const std::string& source, std::string path)
        : value_(&value), source_(&source), path_(std::move(path)) {}
    const JsonValue::Object& object() const;
    JsonPlace member(const JsonMember& member) const;
    JsonPlace element(const JsonValue& value, std::size_t index) const;
    [[noreturn]] void wrong_type(std::string_view expected) const;
    [[noreturn]] void wrong_element(std::size_t index, std::string_view expected) const;

    const JsonValue* value_;
    const std::string* source_;
    std::string path_;
};

}  // namespace certicone
