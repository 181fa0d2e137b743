// A strict reader for the XML that we write: elements and attributes in double quotes, no text but white space. Anything
// not well-formed is an error.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace certicone::test {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::vector<XmlElement> children;
};

class XmlReader {
  public:
    static XmlElement read(std::string_view text) {
        XmlReader reader{text};
        reader.expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        reader.skip_blanks();
        XmlElement root = reader.element();
        reader.skip_blanks();
        if (!reader.rest_.empty()) reader.fail("something follows the root");
        return root;
    }

  private:
    explicit XmlReader(std::string_view text) : rest_(text) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(what + " at: " + std::string(rest_.substr(0, 60)));
    }
    bool accept(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) fail("expected " + std::string(token));
    }
    void skip_blanks() {
        while (!rest_.empty() && std::string_view(" \n").find(rest_.front()) != std::string_view::npos)
            rest_.remove_prefix(1);
    }
    std::string name() {
        std::size_t size = 0;
        while (size < rest_.size() && ((rest_[size] >= 'a' && rest_[size] <= 'z') || rest_[size] == '_'))
            ++size;
        if (size == 0) fail("expected a name");
        const std::string result(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return result;
    }
    std::string value() {
        std::string result;
        expect("\"");
        while (!accept("\"")) {
            if (rest_.empty() || rest_.front() == '<' || static_cast<unsigned char>(rest_.front()) < 0x20)
                fail("bad attribute");
            if (accept("&amp;"))
                result += '&';
            else if (accept("&lt;"))
                result += '<';
            else if (accept("&gt;"))
                result += '>';
            else if (accept("&quot;"))
                result += '"';
            else if (rest_.front() == '&')
                fail("unknown entity");
            else {
                result += rest_.front();
                rest_.remove_prefix(1);
            }
        }
        return result;
    }
    XmlElement element() {
        XmlElement result;
        expect("<");
        result.name = name();
        while (accept(" ")) {
            const std::string key = name();
            expect("=");
            if (!result.attributes.emplace(key, value()).second) fail("attribute twice: " + key);
        }
        if (accept("/>")) return result;
        expect(">");
        for (skip_blanks(); !accept("</"); skip_blanks())
            result.children.push_back(element());
        expect(result.name + ">");
        return result;
    }

    std::string_view rest_;
};

}  // namespace certicone::test
