// The font of drawings, Liberation Sans: its file is part of the program, so that a drawing is the same wherever it is made.
// It says how wide a text is, and gives the outlines of characters to writers that draw them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace replay::report {

/// A character of the font, in units of which unitsPerEm make the font's size.
struct Glyph {
  double advance = 0;
  std::string outline;  ///< path data of SVG, y down from the base line; empty: nothing to draw
};

class Font {
 public:
  static constexpr double kUnits = 2048;  ///< per em

  Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;
  ~Font();

  /// Kept. A character that the font lacks has the glyph that stands for such.
  [[nodiscard]] const Glyph& glyph(char32_t character) const;
  /// Of the text in one line, without kerning.
  [[nodiscard]] double width(std::string_view words, double size) const;
  /// As many of the characters as fit, with "..." for the rest.
  [[nodiscard]] std::string cut(std::string_view words, double size, double width) const;

  /// The file, TrueType.
  [[nodiscard]] static std::string_view file();

 private:
  struct Face;
  std::unique_ptr<Face> face_;
  mutable std::map<char32_t, Glyph> glyphs_;
};

/// The characters of a UTF-8 text; '?' for control characters and for each byte that is no UTF-8.
[[nodiscard]] std::u32string characters_of(std::string_view text);
[[nodiscard]] std::string to_utf8(std::u32string_view characters);

}  // namespace replay::report
