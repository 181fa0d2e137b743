// JSON (RFC 8259) as a flat list of tokens into the text: 12 bytes a token, nothing copied. What is not understood is refuted,
// with its place.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace certicone::check {

/// Why a certificate is refuted, and where.
struct Refuted {
    std::string place, reason;
};

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The tokens of a text. A value is followed by what it contains: items, or keys and values in turn.
class Json {
  public:
    struct Token {
        std::uint32_t begin, end;  ///< of its text
        std::uint32_t next;        ///< the token after the value
    };
    std::string_view text;
    std::string name;  ///< stands before every place
    std::vector<Token> tokens;

    Json(std::string_view text_in, std::string name_in) : text(text_in), name(std::move(name_in)) {
        if (text.size() > 0x7FFFFFFF) fail("it is too long");
        space();
        value(0);
        space();
        if (at_ < text.size()) fail("nothing may follow the value");
    }

  private:
    std::size_t at_ = 0;

    [[noreturn]] void fail(const char* reason) const { throw Refuted{name + ", byte " + std::to_string(at_), reason}; }
    char peek() const { return at_ < text.size() ? text[at_] : '\0'; }
    bool accept(std::string_view word) {
        const bool found = text.substr(at_).starts_with(word);
        if (found) at_ += word.size();
        return found;
    }
    void expect(std::string_view word, const char* reason) {
        if (!accept(word)) fail(reason);
    }
    void space() { at_ = std::min(text.find_first_not_of(" \t\n\r", at_), text.size()); }

    void value(int depth) {
        const std::size_t token = tokens.size();
        tokens.push_back({static_cast<std::uint32_t>(at_), 0, 0});
        if (accept("{")) {
            list(depth, "}", true);
        } else if (accept("[")) {
            list(depth, "]", false);
        } else if (accept("\"")) {
            string();
        } else if (is_digit(peek()) || peek() == '-') {
            number();
        } else if (!accept("true") && !accept("false")) {
            expect("null", "expected a value");
        }
        tokens[token].end = static_cast<std::uint32_t>(at_);
        tokens[token].next = static_cast<std::uint32_t>(tokens.size());
    }

    void list(int depth, std::string_view close, bool object) {
        if (depth >= 32) fail("nested too deeply");
        space();
        if (accept(close)) return;
        do {
            space();
            if (object) {
                if (peek() != '"') fail("expected a key");
                value(depth + 1);
                space();
                expect(":", "expected ':'");
                space();
            }
            value(depth + 1);
            space();
        } while (accept(","));
        expect(close, "expected ',' or the end of the list");
    }

    void string() {
        while (!accept("\"")) {
            if (at_ >= text.size() || static_cast<unsigned char>(text[at_]) < 0x20) fail("the string does not end");
            if (!accept("\\")) {
                ++at_;
            } else if (accept("u")) {
                const std::size_t digits = text.find_first_not_of("0123456789abcdefABCDEF", at_);
                if (std::min(digits, text.size()) < at_ + 4) fail("expected four hexadecimal digits");
            } else if (at_ < text.size() && std::string_view("\"\\/bfnrt").find(text[at_]) != std::string_view::npos) {
                ++at_;
            } else {
                fail("unknown escape");
            }
        }
    }

    void number() {
        const auto digits = [this] {
            if (!is_digit(peek())) fail("expected a digit");
            while (is_digit(peek()))
                ++at_;
        };
        accept("-");
        if (!accept("0")) digits();
        if (accept(".")) digits();
        if (accept("e") || accept("E")) {
            if (!accept("+")) accept("-");
            digits();
        }
    }
};

/// One value of a text; cheap to copy.
class Value {
  public:
    explicit Value(const Json& json, std::uint32_t token = 0) : json_(&json), token_(token) {}

    [[noreturn]] void refute(const std::string& reason) const { throw Refuted{place(), reason}; }

    /// The first character tells the kind: one of { [ " t f n, a digit or a minus.
    std::string_view text() const { return json_->text.substr(token().begin, token().end - token().begin); }
    bool is_null() const { return text() == "null"; }

    /// What stands between the quotes.
    std::string_view string() const {
        if (text().front() != '"') refute("expected a string");
        return text().substr(1, text().size() - 2);
    }

    /// An integer ≥ 0.
    std::uint64_t integer() const {
        if (text().size() > 9 || !std::all_of(text().begin(), text().end(), is_digit)) refute("expected an integer");
        return std::stoull(std::string(text()));
    }

    /// The nearest double; refuted where that is infinite, or 0 for a number that is not 0.
    double decimal() const {
        double result = 0.0;
        const auto [end, error] = std::from_chars(text().data(), text().data() + text().size(), result);
        if (error != std::errc{} || end != text().data() + text().size()) refute("expected a number in range");
        return result;
    }

    std::vector<Value> items() const { return children('[', "expected a list"); }
    std::vector<Value> items(std::size_t count) const {
        std::vector<Value> found = items();
        if (found.size() != count) refute("expected " + std::to_string(count) + " items");
        return found;
    }

    /// The keys and values of an object, in its order.
    std::vector<std::pair<Value, Value>> entries() const {
        const std::vector<Value> found = children('{', "expected an object");
        std::vector<std::pair<Value, Value>> result;
        for (std::size_t k = 0; k < found.size(); k += 2)
            result.emplace_back(found[k], found[k + 1]);
        return result;
    }

    /// The values of an object that has these keys, each once, and no others but `optional` ones; in the order asked for.
    /// Optional ones that are not there are this object itself.
    std::vector<Value> members(std::initializer_list<std::string_view> keys,
                               std::initializer_list<std::string_view> optional = {}) const {
        std::vector<Value> result(keys.size() + optional.size(), *this);
        for (const auto& [name, value] : entries()) {
            const std::string_view key = name.string();
            auto place = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
            if (place == keys.size())
                place += static_cast<std::size_t>(std::find(optional.begin(), optional.end(), key) - optional.begin());
            if (place == result.size()) value.refute("this key is not known here");
            if (result[place].token_ != token_) value.refute("this key stands here twice");
            result[place] = value;
        }
        for (std::size_t k = 0; k < keys.size(); ++k)
            if (result[k].token_ == token_) refute("lacks the key " + std::string(keys.begin()[k]));
        return result;
    }
    Value member(std::string_view wanted) const {
        for (const auto& [key, value] : entries())
            if (key.string() == wanted) return value;
        refute("lacks the key " + std::string(wanted));
    }
    bool is(const Value& other) const { return token_ == other.token_; }

  private:
    const Json* json_;
    std::uint32_t token_;

    const Json::Token& token() const { return json_->tokens[token_]; }

    std::vector<Value> children(char kind, const char* expected) const {
        if (text().front() != kind) refute(expected);
        std::vector<Value> result;
        for (std::uint32_t child = token_ + 1; child < token().next; child = json_->tokens[child].next)
            result.emplace_back(*json_, child);
        return result;
    }

    /// "certificate.points[3].claims[0].lower": from the root down, each time into the child that holds the token.
    std::string place() const {
        std::string path = json_->name;
        for (Value at(*json_); at.token_ < token_;) {
            const bool object = at.text().front() == '{';
            const std::vector<Value> inside = at.children(at.text().front(), "");
            const auto after = std::upper_bound(inside.begin(), inside.end(), token_,
                                                [](std::uint32_t token, const Value& v) { return token < v.token_; });
            const auto index = static_cast<std::size_t>(after - inside.begin()) - 1;
            at = inside[index];
            if (!object) path += "[" + std::to_string(index) + "]";
            if (object) path += "." + std::string(inside[index - index % 2].string().substr(0, 40));
        }
        return path;
    }
};

}  // namespace certicone::check
