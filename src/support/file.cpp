#include "support/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "support/error.hpp"

namespace certicone {

namespace fs = std::filesystem;

namespace {

std::string reason(int error) { return std::strerror(error); }

/// Reads `size` bytes, or what is left of the file.
std::size_t read_into(const Descriptor& file, const fs::path& path, char* buffer, std::size_t size) {
    std::size_t filled = 0;
    while (filled < size) {
        const ssize_t count = ::read(file.get(), buffer + filled, size - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_input(path.string(), "cannot read: " + reason(errno));
        if (count == 0) break;
        filled += static_cast<std::size_t>(count);
    }
    return filled;
}

bool try_lock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// Whether `path` still names the file that was opened.
bool names(const fs::path& path, const Descriptor& file) {
    struct stat opened = {}, named = {};
    return ::fstat(file.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/// Removes a temporary file that nobody holds the lock of.
void remove_abandoned(const fs::path& candidate) {
    const Descriptor file(::open(candidate.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (file.get() >= 0 && try_lock(file) && names(candidate, file)) ::unlink(candidate.c_str());
}

struct Temporary {
    fs::path path;
    Descriptor lock;
};

/// Creates an empty file in the folder of `target`, under the first of its temporary names that no process writes to. Between
/// creation and lock another process may take it for abandoned: then the lock is not free or the name is gone, and the next
/// one is tried. Where the file system has no locks, no file is taken for abandoned.
Temporary create_temporary(const fs::path& target, const fs::path& path) {
    const auto candidate = [&](int number) {
        fs::path name = target;
        return name += ".certicone-tmp-" + std::to_string(number);
    };
    for (int number = 0; number < 1000; ++number) {
        const fs::path name = candidate(number);
        remove_abandoned(name);
        Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file.get() < 0 && errno == EEXIST) continue;
        if (file.get() < 0) fail_input(path.string(), "cannot write: " + reason(errno));
        if (!try_lock(file) && errno == EWOULDBLOCK) continue;
        if (!names(name, file)) continue;
        // What several processes left behind that wrote at the same time and were killed.
        for (int other = number + 1; other < number + 8; ++other)
            remove_abandoned(candidate(other));
        return {name, std::move(file)};
    }
    fail_input(path.string(), "cannot write: no temporary name is free beside it");
}

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none. Overlong forms, surrogates
/// and values above U+10FFFF are not well-formed.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
        return continues(1) && continues(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
        return continues(1) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

bool is_control(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
    return sequence.size() == 2 && first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;  // U+0080..U+009F
}

}  // namespace

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

std::string read_file(const fs::path& path, const Screen& screen) {
    // O_NONBLOCK: a pipe without a writer must be refused below, not waited for.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0) {
        fail_input(path.string(), errno == ENOENT ? "no such file" : "cannot read: " + reason(errno));
    }
    struct stat info = {};
    if (::fstat(file.get(), &info) != 0) fail_input(path.string(), "cannot read: " + reason(errno));
    if (S_ISDIR(info.st_mode)) fail_input(path.string(), "is a directory, expected a file");
    if (!S_ISREG(info.st_mode)) fail_input(path.string(), "is not a regular file");

    const auto size = static_cast<std::uintmax_t>(info.st_size);
    constexpr std::uintmax_t first_step = std::uintmax_t{1} << 20;
    std::string content;
    while (content.size() < size) {
        const std::size_t filled = content.size();
        if (screen && filled > 0) screen(content, size);
        const std::uintmax_t wanted = std::min(size, std::max<std::uintmax_t>(first_step, 2 * filled));
        try {
            content.reserve(static_cast<std::size_t>(filled == 0 ? wanted : size));
            content.resize(static_cast<std::size_t>(wanted));
        } catch (const std::exception&) {
            fail_input(path.string(), "does not fit into memory (" + std::to_string(size) + " bytes)");
        }
        const std::size_t count = read_into(file, path, content.data() + filled, content.size() - filled);
        content.resize(filled + count);
        if (filled + count < wanted) break;  // it became shorter
    }
    return content;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), target_(path_) {
    if (path_.empty()) fail_input({}, "cannot write: the file name is empty");
    std::error_code error;
    const fs::file_status existing = fs::status(path_, error);
    if (fs::is_directory(existing)) fail_input(path_.string(), "is a directory, cannot be written as a file");
    const bool replaces = fs::is_regular_file(existing);
    if (replaces || !fs::exists(existing)) {
        if (replaces && fs::is_symlink(path_, error)) target_ = fs::canonical(path_, error);
        if (target_.empty()) target_ = path_;
        Temporary temporary = create_temporary(target_, path_);
        temporary_ = std::move(temporary.path);
        lock_ = std::move(temporary.lock);
        if (replaces) fs::permissions(temporary_, existing.permissions(), error);
    }
    stream_.open(temporary_.empty() ? target_ : temporary_, std::ios::binary);
    if (!stream_) {
        const int cause = errno;
        if (!temporary_.empty()) ::unlink(temporary_.c_str());
        fail_input(path_.string(), "cannot write: " + reason(cause));
    }
}

AtomicFile::~AtomicFile() {
    if (temporary_.empty()) return;
    stream_.close();
    ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
    errno = 0;
    stream_.close();
    if (!stream_) fail_input(path_.string(), "cannot write: " + (errno != 0 ? reason(errno) : "the stream failed"));
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        fail_input(path_.string(), "cannot write: " + reason(errno));
    }
    temporary_.clear();
}

void write_file_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
    AtomicFile file(path);
    write(file.stream());
    file.commit();
}

void write_file_atomically(const fs::path& path, std::string_view content) {
    write_file_atomically(path, [&](std::ostream& stream) {
        stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    });
}

void write_new_file(const fs::path& path, std::string_view content) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(path, error))) return write_file_atomically(path, content);
    const bool same =
        fs::is_regular_file(path, error) && fs::file_size(path, error) == content.size() && read_file(path) == content;
    if (!same) fail_input(path.string(), "is there already, with another content: it is not replaced");
}

bool file_begins_with(const fs::path& path, std::string_view head) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    std::string beginning(head.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    return file.read(beginning.data(), static_cast<std::streamsize>(beginning.size())) && beginning == head;
}

void append_double(std::string& text, double value) {
    if (value == 0.0) {
        text += std::signbit(value) ? "-0.0" : "0";
    } else if (std::isnan(value)) {
        text += "nan";
    } else {
        std::array<char, 32> buffer;
        const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
        text.append(buffer.data(), end);
    }
}

std::string format_double(double value) {
    std::string text;
    append_double(text, value);
    return text;
}

std::string one_line(std::string_view text, std::size_t limit) {
    std::string line;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
        if (line.size() + sequence.size() > limit) {
            line += "...";
            break;
        }
        if (length == 0) {
            line += '?';
        } else if (is_control(sequence)) {
            line += ' ';
        } else {
            line += sequence;
        }
        text.remove_prefix(sequence.size());
    }
    return line;
}

void fail_input(std::string_view source, std::string_view message) {
    constexpr std::size_t longest_path = 4096;
    const std::string place = source.empty() ? "" : one_line(source, longest_path) + ": ";
    throw InputError(place + one_line(message, 300));
}

}  // namespace certicone
