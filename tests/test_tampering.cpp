// Whatever is changed in a certificate or its network is refuted by mathematics: the hash of the network is renewed where that
// is what a forger would do. The checker in Python gives the same answers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "certificate_samples.hpp"
#include "run_program.hpp"
#include "verify/check/check.hpp"

using namespace certicone;
using namespace certicone::test;
using Json = nlohmann::ordered_json;

namespace {

struct Mutant {
    std::string name;
    Sample files;
};

void visit(const Json& tree, const Json::json_pointer& at, const std::function<void(const Json::json_pointer&)>& call) {
    call(at);
    const Json& here = tree.at(at);
    if (here.is_object())
        for (const auto& [key, value] : here.items())
            visit(tree, at / key, call);
    if (here.is_array())
        for (std::size_t k = 0; k < here.size(); ++k)
            visit(tree, at / k, call);
}

bool is_number(const Json& value) {
    return value.is_string() &&
           (value.get<std::string>().starts_with("0x") || value.get<std::string>().starts_with("-0x"));
}

/// One digit of the mantissa, the sign, the exponent.
std::vector<std::string> other_numbers(const std::string& text) {
    std::vector<std::string> result;
    const std::size_t p = text.find('p'), first = text.find("0x") + 2;
    if (text.find_first_of("123456789abcdef", first) > p)
        return {"0x1p-900"};  // of zero neither sign nor exponent counts
    std::string digit = text;
    digit[p - 1] = digit[p - 1] == '1' ? '3' : '1';
    result.push_back(digit);
    result.push_back(text.starts_with('-') ? text.substr(1) : fmt::format("-{}", text));
    result.push_back(text.substr(0, p) + fmt::format("p{:+}", std::stol(text.substr(p + 1)) + 1));
    digit = text;
    digit[first] = digit[first] == '1' ? '2' : '1';
    result.push_back(digit);
    return result;
}

std::vector<Mutant> certificate_mutants(const Sample& sample) {
    std::vector<Mutant> mutants;
    const Json tree = Json::parse(sample.certificate);
    const auto add = [&](const std::string& name, const Json& changed) {
        mutants.push_back({name, {sample.network, changed.dump()}});
    };
    visit(tree, Json::json_pointer(), [&](const Json::json_pointer& at) {
        const Json& here = tree.at(at);
        const std::string place = at.to_string();
        const auto replace = [&](const std::string& what, const Json& value) {
            Json changed = tree;
            changed.at(at) = value;
            add(what + " " + place, changed);
        };
        if (is_number(here)) {
            for (const std::string& other : other_numbers(here))
                replace("number", other);
            replace("not a string", 1.5);
        } else if (here.is_string()) {
            std::string text = here;
            text.back() = text.back() == '1' ? '2' : text.back() == '+' ? '-' : text.back() == '-' ? '0' : '1';
            replace("text", text);
            if (text.size() > 1 && text[0] != text[1]) std::swap(text[0], text[1]), replace("swapped signs", text);
        } else if (here.is_number()) {
            replace("integer", here.get<int>() + 1);
            replace("integer as text", std::to_string(here.get<int>()));
        } else if (here.is_object()) {
            for (const auto& [key, value] : here.items()) {
                Json changed = tree;
                changed.at(at).erase(key);
                add("without " + place + "/" + key, changed);
                changed.at(at)[key + "s"] = value;
                add("renamed " + place + "/" + key, changed);
            }
            Json changed = tree;
            changed.at(at)["remark"] = "trust me";
            add("new key " + place, changed);
        } else if (here.is_array() && at.back() != "claims" && at.back() != "points") {
            replace("null", nullptr);
            Json longer = here;
            longer.push_back(here.empty() ? Json(0) : here.back());
            replace("longer", longer);
            if (here.empty()) return;
            Json shorter = here;
            shorter.erase(shorter.size() - 1);
            replace("shorter", shorter);
            for (std::size_t k = 0; k + 1 < here.size(); ++k)
                if (here[k] != here[k + 1]) {
                    Json swapped = here;
                    std::swap(swapped[k], swapped[k + 1]);
                    replace(fmt::format("swapped {} in", k), swapped);
                }
        }
    });
    for (int part = 0; part < 20; ++part)
        mutants.push_back({fmt::format("truncated {}", part),
                           {sample.network, sample.certificate.substr(0, sample.certificate.size() * part / 20)}});
    const auto textual = [&](const std::string& from, const std::string& to) {
        mutants.push_back({"text " + to, {sample.network, replaced(sample.certificate, from, to)}});
    };
    textual("certicone-certificate/1", "certicone-certificate/2");
    textual("\"bits\":64", "\"bits\":64,\"bits\":64");
    textual("\"bits\":64", "\"bits\":64.0");
    textual("\"bits\":64", "\"bits\":064");
    textual("\"kind\":\"value\"", "\"kind\":\"value\",\"kind\":\"value\"");
    textual("\"kind\":\"value\"", "\"\\u006bind\":\"value\"");
    textual("\"kind\":\"value\"", "\"kind\":\"miracle\"");
    textual("0x", "0X");
    textual("]}\n", "]}]");
    textual("]}\n", ",]}");
    textual("{\"format\"", "\xEF\xBB\xBF{\"format\"");
    return mutants;
}

/// Every number of the network another one, with the hash renewed; kept where f(x) changes, so that the claims are false.
std::vector<Mutant> network_mutants(const Sample& sample) {
    std::vector<Mutant> mutants;
    const Json tree = Json::parse(sample.network);
    Json claims = Json::parse(sample.certificate);
    const std::string value = claims["points"][0]["claims"][0].dump();
    Vector x(3);
    for (Index j = 0; j < 3; ++j)
        x(j) = std::stod(claims["points"][0]["x"][static_cast<std::size_t>(j)].get<std::string>());
    const auto add = [&](const std::string& name, const Json& changed) {
        const std::string bytes = changed.dump();
        mutants.push_back({name + " with the old hash", {bytes, sample.certificate}});
        claims["network"] = sha256(bytes);
        const Network network = parse_network(bytes, "mutant");
        if (Json::parse(verify::value_claim(exact_point(network, x), 64)).dump() != value)
            mutants.push_back({name + " with its hash", {bytes, claims.dump()}});
    };
    visit(tree, Json::json_pointer(), [&](const Json::json_pointer& at) {
        if (!tree.at(at).is_number_float()) return;
        Json changed = tree;
        changed.at(at) = std::nextafter(tree.at(at).get<double>(), 1e9);
        add("network " + at.to_string(), changed);
    });
    // Two units change places, in all that refers to them: the same function, but not the same signs.
    const std::string signs = claims["points"][0]["claims"][1]["signs"][0];
    for (std::size_t i = 0; i < signs.size(); ++i)
        for (std::size_t j = i + 1; j < signs.size(); ++j) {
            if (signs[i] == signs[j]) continue;
            Json changed = tree;
            for (const char* key : {"W", "b"})
                std::swap(changed["layers"][0][key][i], changed["layers"][0][key][j]);
            for (Json& row : changed["layers"][1]["U"])
                std::swap(row[i], row[j]);
            claims["network"] = sha256(changed.dump());
            mutants.push_back({fmt::format("units {} and {} swapped", i, j), {changed.dump(), claims.dump()}});
        }
    return mutants;
}

/// What tests/certificate_checker.py says of each, one line each.
std::vector<std::string> python_answers(const std::vector<Mutant>& mutants) {
    const ScratchFolder folder;
    std::map<std::string, std::string> networks;
    std::ofstream list(folder / "list");
    for (std::size_t k = 0; k < mutants.size(); ++k) {
        auto [at, is_new] = networks.try_emplace(mutants[k].files.network, folder / fmt::format("n{}", k));
        if (is_new) write_file_atomically(at->second, mutants[k].files.network);
        const std::string file = folder / fmt::format("c{}", k);
        std::ofstream(file, std::ios::binary) << mutants[k].files.certificate;
        list << file << '\t' << at->second << '\n';
    }
    list.close();
    const std::string out = folder / "out";
    const std::string command = "python3 " CERTICONE_TESTS_DIR "/certificate_checker.py --list " +
                                std::string(folder / "list") + " >" + out + " 2>&1";
    REQUIRE(std::system(command.c_str()) == 0);
    std::vector<std::string> answers;
    std::istringstream lines(read_file(out));
    for (std::string line; std::getline(lines, line);)
        answers.push_back(line);
    REQUIRE(answers.size() == mutants.size());
    return answers;
}

bool verified(const std::string& answer) { return answer.starts_with("verified"); }

}  // namespace

TEST_CASE("every mutant of certificates and networks is refuted, by both checkers") {
    std::vector<Mutant> mutants, sound;
    for (const bool degenerate : {false, true}) {
        const Sample s = sample(11, degenerate);
        sound.push_back({"untampered", s});
        for (auto& list : {certificate_mutants(s), network_mutants(s)})
            mutants.insert(mutants.end(), list.begin(), list.end());
    }
    // Another point's claims, and another network's.
    Json tree = Json::parse(sound[0].files.certificate), other = Json::parse(sample(12, false).certificate);
    tree["points"][0]["x"] = other["points"][0]["x"];
    mutants.push_back({"another point", {sound[0].files.network, tree.dump()}});
    for (std::size_t k = 0; k < other["points"][0]["claims"].size(); ++k) {
        Json mixed = Json::parse(sound[0].files.certificate);
        mixed["points"][0]["claims"][k] = other["points"][0]["claims"][k];
        if (other["points"][0]["claims"][k]["kind"] != "uniqueness")
            mutants.push_back({fmt::format("claim {} of another point", k), {sound[0].files.network, mixed.dump()}});
    }
    MESSAGE(mutants.size() << " mutants");
    CHECK(mutants.size() >= 1000);

    for (const Mutant& mutant : sound)
        CHECK_MESSAGE(check::check(mutant.files.certificate, mutant.files.network).verified, mutant.name);
    for (const Mutant& mutant : mutants) {
        const check::Verdict verdict = check::check(mutant.files.certificate, mutant.files.network);
        CHECK_MESSAGE(!verdict.verified, mutant.name);
        CHECK_MESSAGE((!verdict.place.empty() && !verdict.reason.empty()), mutant.name);
    }
    mutants.insert(mutants.end(), sound.begin(), sound.end());
    const std::vector<std::string> answers = python_answers(mutants);
    for (std::size_t k = 0; k < mutants.size(); ++k) {
        const bool expected = k >= mutants.size() - sound.size();
        CHECK_MESSAGE(verified(answers[k]) == expected, mutants[k].name << ": " << answers[k]);
    }
}

TEST_CASE("a forger who computes all numbers right, of a false claim, is refuted") {
    Random random(21);
    const Network network = random_network({3, {4, 3}, {2}, {2, 1}, 0.5}, random);
    const Vector x = random_vector(3, random), y = random_vector(3, random);
    const std::string bytes = to_json(network);
    const ExactPoint point = exact_point(network, x);
    const LocalState state = evaluate(network, x);
    const auto claims = [&](const Multipliers& xi) {
        return std::vector{verify::multiplier_claim(point, xi, 64), verify::inference_claim(point, y, 2.0, xi, 64)};
    };
    const auto place = [&](const std::string& claim) {
        const std::string text =
            verify::certificate(sha256(bytes), 64, std::vector{verify::certificate_point(x, std::vector{claim})});
        const check::Verdict verdict = check::check(text, bytes);
        CHECK(verified(python_answers({{"forged", {bytes, text}}}).front()) == verdict.verified);
        return verdict.verified ? "verified" : verdict.place.substr(verdict.place.rfind('.') + 1);
    };
    Multipliers xi = repair_exactly(network, random_feasible(network, state, random));
    for (const std::string& claim : claims(xi))
        CHECK(place(claim) == "verified");
    for (Index i = 0; i < network.c.size(); ++i) {  // one unit in the last place above its bound, and below 0
        Multipliers wrong = xi;
        wrong.nu[1](i) = std::nextafter(network.c(i), 1e9);
        for (const std::string& claim : claims(wrong))
            CHECK(place(claim) == "nu");
        wrong.nu[1](i) = -5e-324;
        for (const std::string& claim : claims(wrong))
            CHECK(place(claim) == "nu");
    }
    Multipliers wrong = xi;
    wrong.nu[0](2) = exact_upper_bound(network, {{}, xi.nu[1].cast<Dyadic>()}, 0)(2).to_double_up();
    for (const std::string& claim : claims(wrong))
        CHECK(place(claim) == "nu");
    wrong = xi;
    wrong.r[1](0) = -std::nextafter(network.conic[1].lambda, 1e9);
    for (const std::string& claim : claims(wrong))
        CHECK(place(claim) == "r");
    CHECK(place(verify::inference_claim(point, y, -2.0, xi, 64)) != "verified");

    // Claims that need a nondegenerate point, at a degenerate one.
    const PointedNetwork kink = degenerate_network({3, {4, 3}, {2}, {2, 1}, 0.5}, random);
    const ExactPoint at = exact_point(kink.network, kink.x);
    const std::string other = to_json(kink.network);
    for (const std::string& claim :
         {verify::branch_claim(at, 64), verify::hessian_claim(at, ExactCurvature(network), 64)}) {
        const std::string text =
            verify::certificate(sha256(other), 64, std::vector{verify::certificate_point(kink.x, std::vector{claim})});
        CHECK(check::text(check::check(text, other)) ==
              "refuted: certificate.points[0].claims[0]: the point is degenerate");
        CHECK_FALSE(verified(python_answers({{"forged", {other, text}}}).front()));
    }
}

TEST_CASE("a refusal names its place") {
    const Sample s = sample(11, false);
    Json tree = Json::parse(s.certificate);
    tree["points"][0]["claims"][7]["upper_triangle"][1][0][1] = "0x1p+0";
    const check::Verdict verdict = check::check(tree.dump(), s.network);
    CHECK(verdict.place == "certificate.points[0].claims[7].upper_triangle[1][0][1]");
    CHECK(verdict.claims == 7);
}

TEST_CASE("damaged files get an answer, the same from both checkers") {
    std::vector<Mutant> damaged;
    std::mt19937_64 random(3);
    const std::string_view telling = "{}[]\",:-+.eExp0179abfn \n\t\\";
    for (int round = 0; round < 1500; ++round) {
        Sample s = sample(11, round % 2 == 0);
        std::string& file = round % 3 == 0 ? s.network : s.certificate;
        for (std::size_t k = random() % 3 + 1; k > 0; --k) {
            const std::size_t at = random() % file.size();
            switch (random() % 5) {
                case 0: file.resize(at + 1); break;
                case 1: file.erase(at, 1 + random() % 6); break;
                case 2: file.insert(at, file.substr(at, random() % 6)); break;
                case 3: file[at] = telling[random() % telling.size()]; break;
                default: file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
            }
            if (file.empty()) file.push_back(' ');
        }
        if (round % 3 == 0)
            s.certificate = replaced(s.certificate, sha256(sample(11, round % 2 == 0).network), sha256(file));
        damaged.push_back({fmt::format("round {}", round), s});
    }
    const std::vector<std::string> answers = python_answers(damaged);
    int refuted = 0;
    for (std::size_t k = 0; k < damaged.size(); ++k) {
        const check::Verdict verdict = check::check(damaged[k].files.certificate, damaged[k].files.network);
        refuted += verdict.verified ? 0 : 1;
        CHECK_MESSAGE(verdict.verified == verified(answers[k]),
                      damaged[k].name << ": " << check::text(verdict) << " / " << answers[k]);
    }
    CHECK(refuted > 1300);
}

TEST_CASE("hostile files: no crash, no hang, memory within bounds") {
#if defined(__SANITIZE_ADDRESS__)  // it reserves terabytes of addresses
    const std::string limit;
#else
    const std::string limit = "ulimit -v 200000; ";
#endif
    const ScratchFolder folder;
    const Sample s = sample(11, false);
    const std::string network = file_with(folder, "network", s.network);
    /// Under 20 seconds and 200 MB of address space.
    const auto answer = [&](const std::string& certificate, const std::string& of_network) {
        const std::string file = file_with(folder, "certificate", certificate);
        const int status = std::system((limit + "timeout 20 " CERTICONE_CHECK_BINARY " " + file + " " + of_network +
                                        " >" + std::string(folder / "out") + " 2>&1")
                                           .c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    };
    const auto with = [&](const char* pointer, const Json& value) {
        Json tree = Json::parse(s.certificate);
        tree.at(Json::json_pointer(pointer)) = value;
        return tree.dump();
    };
    CHECK(answer(s.certificate, network) == 0);
    CHECK(answer(std::string(5'000'000, '['), network) == 1);
    CHECK(answer(std::string(5'000'000, '{'), network) == 1);
    std::string escapes(5'000'000, '\\');
    escapes.front() = '"';
    CHECK(answer(escapes, network) == 1);
    CHECK(answer(std::string(5'000'000, ' '), network) == 1);
    CHECK(answer(std::string(1'000'000, '\0'), network) == 1);
    CHECK(answer("", network) == 1);
    CHECK(answer(with("/points/0/x/0", "0x1p+999999999"), network) == 1);
    CHECK(answer(with("/points/0/claims/0/lower", "0x1p+999999999"), network) == 1);
    CHECK(answer(with("/points/0/claims/0/lower", "-0x1p-999999999"), network) == 1);
    CHECK(answer(with("/points/0/claims/0/lower", "0x" + std::string(5'000'000, 'f') + "p+0"), network) == 1);
    CHECK(answer(with("/points/0/claims/0/lower", "0x0." + std::string(5'000'000, '0') + "1p+0"), network) == 1);
    CHECK(answer(with("/bits", 65536), network) == 1);
    CHECK(answer(with("/bits", 999999999), network) == 1);
    std::string many = "[";
    for (int k = 0; k < 1'000'000; ++k)
        many += "0,";
    CHECK(answer(with("/points", Json::parse(many + "0]")), network) == 1);

    // Exact numbers that grow by 2000 bits a layer: refused, not computed.
    Json deep = {{"format", "soc-icnn/1"}, {"input_dim", 1}, {"c", {1.0}}, {"v", {1.0}}, {"b0", 0.0},
                 {"layers", Json::array()}};
    for (int l = 0; l < 5000; ++l) {
        Json layer = {{"W", {{1e300}}}, {"b", {1e-300}}};
        if (l > 0) layer["U"] = {{l % 2 == 0 ? 1e-300 : 1e300}};
        deep["layers"].push_back(layer);
    }
    const std::string grown = file_with(folder, "deep", deep.dump());
    CHECK(answer(
              verify::certificate(sha256(deep.dump()), 64, std::vector<std::string>{R"({"x":["0x1p+0"],"claims":[]})"}),
              grown) == 1);
    CHECK(contains(read_file(folder / "out"), "more bits than this checker allows"));
}
