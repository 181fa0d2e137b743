// A validator for the part of JSON Schema (draft 2020-12) that docs/*.schema.json use. A keyword it does not know is an
// error, so that no rule is passed over.
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace certicone::test {

inline bool has_type(const nlohmann::json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return value.type_name() == type;  // object, array, string, boolean, null
}

/// Empty where `value` follows `schema`, else the first place that does not, and the rule it breaks.
inline std::string violation(const nlohmann::json& value, const nlohmann::json& schema, const std::string& place = "") {
    static const std::set<std::string> known{
        "$comment", "title", "description", "type",    "required", "items",   "properties", "additionalProperties",
        "enum",     "const", "minimum",     "pattern", "minItems", "maxItems"};
    for (const auto& [keyword, rule] : schema.items())
        if (!known.contains(keyword)) throw std::runtime_error("the validator does not know the keyword " + keyword);
    const auto broken = [&](const char* keyword) {
        return place + ": " + keyword + " " + schema[keyword].dump() + ", found " + value.dump().substr(0, 80);
    };
    if (schema.contains("type")) {
        const auto types = schema["type"].is_array() ? schema["type"] : nlohmann::json::array({schema["type"]});
        if (std::none_of(types.begin(), types.end(), [&](const auto& type) { return has_type(value, type); }))
            return broken("type");
    }
    if (schema.contains("const") && value != schema["const"]) return broken("const");
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
        return broken("enum");
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) return broken("minimum");
    if (schema.contains("pattern") && value.is_string() &&
        !std::regex_search(value.get<std::string>(), std::regex(schema["pattern"].get<std::string>())))
        return broken("pattern");
    if (value.is_array()) {
        if (schema.contains("minItems") && value.size() < schema["minItems"]) return broken("minItems");
        if (schema.contains("maxItems") && value.size() > schema["maxItems"]) return broken("maxItems");
        for (std::size_t k = 0; schema.contains("items") && k < value.size(); ++k)
            if (auto found = violation(value[k], schema["items"], place + "/" + std::to_string(k)); !found.empty())
                return found;
    }
    if (value.is_object()) {
        for (const auto& key : schema.value("required", nlohmann::json::array()))
            if (!value.contains(key)) return place + ": required " + key.dump();
        const auto properties = schema.value("properties", nlohmann::json::object());
        const auto others = schema.value("additionalProperties", nlohmann::json(true));
        for (const auto& [key, entry] : value.items()) {
            const auto& rule = properties.contains(key) ? properties[key] : others;
            if (rule.is_boolean()) {
                if (!rule.get<bool>()) return place + ": additionalProperties, found " + key;
            } else if (auto found = violation(entry, rule, place + "/" + key); !found.empty()) {
                return found;
            }
        }
    }
    return {};
}

}  // namespace certicone::test
