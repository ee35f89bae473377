// A terminal of a given size, as far as the program's pictures use one: it obeys the cursor movements and erasures of
// ECMA-48 that it knows and keeps what stands where. What it does not know is a failure, not ignored: a picture must not
// depend on more than this.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace replay::test {

class TextScreen {
 public:
  TextScreen(int columns, int rows) : columns_(columns), rows_(rows), lines_(blank()) {}

  void write(std::string_view bytes) {
    pending_ += bytes;
    std::size_t at = 0;
    while (at < pending_.size()) {
      const std::size_t taken = take(std::string_view{pending_}.substr(at));
      if (taken == 0) break;
      at += taken;
    }
    pending_.erase(0, at);
  }

  /// Rows without blanks at their ends, each with a line end.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& line : lines_) {
      std::string row;
      for (const std::string& cell : line) row += cell;
      text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
  }
  /// Of "?25", "?7", "?1049": whether it was switched on last; as a terminal begins if it never was.
  [[nodiscard]] bool mode(const std::string& name) const {
    const auto found = modes_.find(name);
    return found == modes_.end() ? name != "?1049" : found->second;
  }
  /// What was not understood, or was written beside the screen; empty: nothing.
  [[nodiscard]] const std::string& faults() const { return faults_; }
  /// How many graphic renditions (colours) were chosen.
  [[nodiscard]] int renditions() const { return renditions_; }

 private:
  using Lines = std::vector<std::vector<std::string>>;
  [[nodiscard]] Lines blank() const {
    return Lines(static_cast<std::size_t>(rows_), std::vector<std::string>(static_cast<std::size_t>(columns_), " "));
  }

  // How many bytes the next character or sequence has; 0: it is not complete.
  std::size_t take(std::string_view text) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte == 0x1b) return take_sequence(text);
    if (byte == '\r') return column_ = 0, 1;
    if (byte == '\n') return new_line(), 1;
    if (byte < 0x20) return fault("control character"), 1;
    const std::size_t size = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (text.size() < size) return 0;
    put(std::string{text.substr(0, size)});
    return size;
  }

  std::size_t take_sequence(std::string_view text) {
    if (text.size() < 3) return 0;
    if (text[1] != '[') return fault("no CSI"), 2;
    std::size_t end = 2;
    while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
    if (end == text.size()) return 0;
    obey(std::string{text.substr(2, end - 2)}, text[end]);
    return end + 1;
  }

  void obey(const std::string& parameters, char what) {
    switch (what) {
      case 'H': {
        const std::size_t semicolon = parameters.find(';');
        row_ = std::stoi(parameters) - 1;
        column_ = std::stoi(parameters.substr(semicolon + 1)) - 1;
        if (row_ < 0 || row_ >= rows_ || column_ < 0 || column_ >= columns_) fault("cursor beside the screen");
        break;
      }
      case 'J':
        if (parameters != "2") fault("erase " + parameters);
        lines_ = blank();
        break;
      case 'K':
        if (!parameters.empty()) fault("erase in line " + parameters);
        for (int column = column_; column < columns_; ++column) cell(row_, column) = " ";
        break;
      case 'm': ++renditions_; break;
      case 'h':
      case 'l':
        if (parameters == "?1049" && mode("?1049") != (what == 'h')) switch_screen();
        modes_[parameters] = what == 'h';
        break;
      default: fault(std::string{"sequence "} + what);
    }
  }

  // To the other screen, which is blank at first; back to what stood here, and to the cursor.
  void switch_screen() {
    if (!mode("?1049")) {
      other_ = std::exchange(lines_, blank());
      other_row_ = row_;
      other_column_ = column_;
    } else {
      lines_ = other_;
      row_ = other_row_;
      column_ = other_column_;
    }
  }
  void put(const std::string& character) {
    if (column_ >= columns_) {
      if (!mode("?7")) return fault("a row is too long");
      new_line();
      column_ = 0;
    }
    cell(row_, column_++) = character;
  }
  void new_line() {
    if (++row_ < rows_) return;
    row_ = rows_ - 1;
    lines_.erase(lines_.begin());
    lines_.push_back(blank().front());
  }
  std::string& cell(int row, int column) {
    return lines_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }
  void fault(const std::string& what) { faults_ += what + "\n"; }

  int columns_;
  int rows_;
  int row_ = 0;
  int column_ = 0;
  Lines lines_;
  Lines other_;
  int other_row_ = 0;
  int other_column_ = 0;
  std::map<std::string, bool> modes_;
  std::string pending_;
  std::string faults_;
  int renditions_ = 0;
};

}  // namespace replay::test
