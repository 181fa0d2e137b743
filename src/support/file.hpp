// Whole files in, whole files out, and the small pieces of text that file errors and file formats need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace certicone {

/// Looks at the beginning of a file of `size` bytes while it is read, and throws InputError where it need not be read on.
using Screen = std::function<void(std::string_view beginning, std::uintmax_t size)>;

/// The content of a regular file. InputError for anything else: missing, a directory, a device, unreadable. What is longer
/// than a MiB is screened after the first and each time that twice as much is there.
std::string read_file(const std::filesystem::path& path, const Screen& screen = {});

/// Owns a file descriptor, −1 for none.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    int get() const { return fd_; }

  private:
    int fd_;
};

/// A file that appears under its name only when it is complete: the stream writes to a temporary neighbour, commit()
/// renames it, and the destructor removes it when there was no commit. An existing device or pipe (/dev/stdout) is
/// written to directly instead, since renaming would replace it.
///
/// A temporary file is locked (flock) as long as its process writes to it; one that is not is what a killed process left
/// behind, and the next that writes to the same name removes it.
class AtomicFile {
  public:
    explicit AtomicFile(std::filesystem::path path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    std::ostream& stream() { return stream_; }

    /// Throws InputError, naming the path, when something could not be written.
    void commit();

  private:
    std::filesystem::path path_;       ///< as given, for messages
    std::filesystem::path target_;     ///< with symbolic links followed
    std::filesystem::path temporary_;  ///< empty when writing directly
    Descriptor lock_;                  ///< of the temporary file
    std::ofstream stream_;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view content);
/// For a name that nobody asked for: what is there already must have the same content, else InputError.
void write_new_file(const std::filesystem::path& path, std::string_view content);
/// Whether there is a regular file that begins so: an earlier edition of what has that head, which may be replaced.
bool file_begins_with(const std::filesystem::path& path, std::string_view head);
void write_file_atomically(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// Shortest text that reads back to the same double; valid JSON for finite numbers ("-0.0" for negative zero, since
/// JSON readers take "-0" for the integer 0). Otherwise "nan", "inf" or "-inf".
std::string format_double(double value);
void append_double(std::string& text, double value);

/// `text` fit for one line of a message: control characters become blanks, ill-formed UTF-8 becomes '?', and what
/// exceeds `limit` bytes is replaced by "...".
std::string one_line(std::string_view text, std::size_t limit = 200);

/// Throws InputError "source: message", both made one line; without a source just the message.
[[noreturn]] void fail_input(std::string_view source, std::string_view message);

}  // namespace certicone
