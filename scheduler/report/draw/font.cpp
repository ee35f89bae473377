#include "scheduler/report/draw/font.hpp"

#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <boost/nowide/utf/utf.hpp>
#include <iterator>

#include "scheduler/base/error.hpp"
#include "scheduler/report/draw/font_file.hpp"

namespace replay::report {
namespace {

// Appends path data; FreeType's y goes up.
int move_to(const FT_Vector* to, void* path) {
  auto& text = *static_cast<std::string*>(path);
  if (!text.empty()) text += 'z';
  fmt::format_to(std::back_inserter(text), "M{} {}", to->x, -to->y);
  return 0;
}
int line_to(const FT_Vector* to, void* path) {
  fmt::format_to(std::back_inserter(*static_cast<std::string*>(path)), "L{} {}", to->x, -to->y);
  return 0;
}
int conic_to(const FT_Vector* by, const FT_Vector* to, void* path) {
  fmt::format_to(std::back_inserter(*static_cast<std::string*>(path)), "Q{} {} {} {}", by->x, -by->y, to->x, -to->y);
  return 0;
}
int cubic_to(const FT_Vector* by, const FT_Vector* then_by, const FT_Vector* to, void* path) {
  fmt::format_to(std::back_inserter(*static_cast<std::string*>(path)), "C{} {} {} {} {} {}", by->x, -by->y, then_by->x,
                 -then_by->y, to->x, -to->y);
  return 0;
}

}  // namespace

struct Font::Face {
  FT_Library library = nullptr;
  FT_Face face = nullptr;

  Face() = default;
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;
  ~Face() {
    if (library != nullptr) FT_Done_FreeType(library);  // and its faces
  }
};

Font::Font() : face_(std::make_unique<Face>()) {
  const std::string_view bytes = file();
  const auto* const first = reinterpret_cast<const FT_Byte*>(bytes.data());
  INVARIANT(FT_Init_FreeType(&face_->library) == 0, "FreeType does not start");
  INVARIANT(FT_New_Memory_Face(face_->library, first, static_cast<FT_Long>(bytes.size()), 0, &face_->face) == 0,
            "FreeType cannot read the font of the program");
  INVARIANT(face_->face->units_per_EM == static_cast<FT_UShort>(kUnits), "the font has {} units per em",
            face_->face->units_per_EM);
}

Font::~Font() = default;

const Glyph& Font::glyph(char32_t character) const {
  const auto found = glyphs_.find(character);
  if (found != glyphs_.end()) return found->second;
  Glyph glyph;
  FT_Face face = face_->face;
  const FT_UInt index = FT_Get_Char_Index(face, character);
  INVARIANT(FT_Load_Glyph(face, index, FT_LOAD_NO_SCALE) == 0, "the font has no outline of glyph {}", index);
  glyph.advance = static_cast<double>(face->glyph->metrics.horiAdvance);
  const FT_Outline_Funcs steps{move_to, line_to, conic_to, cubic_to, 0, 0};
  INVARIANT(FT_Outline_Decompose(&face->glyph->outline, &steps, &glyph.outline) == 0,
            "the font has a damaged outline of glyph {}", index);
  if (!glyph.outline.empty()) glyph.outline += 'z';
  return glyphs_.emplace(character, std::move(glyph)).first->second;
}

double Font::width(std::string_view words, double size) const {
  double units = 0;
  for (const char32_t character : characters_of(words)) units += glyph(character).advance;
  return units * size / kUnits;
}

std::string Font::cut(std::string_view words, double size, double width) const {
  if (this->width(words, size) <= width) return std::string{words};
  std::u32string characters = characters_of(words);
  std::string shorter;
  do {
    if (characters.empty()) return {};
    characters.pop_back();
    shorter = to_utf8(characters) + "...";
  } while (this->width(shorter, size) > width);
  return shorter;
}

std::string_view Font::file() { return font_file(); }

std::u32string characters_of(std::string_view text) {
  using Utf8 = boost::nowide::utf::utf_traits<char>;
  std::u32string characters;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    const char* next = at;
    const boost::nowide::utf::code_point code = Utf8::decode(next, end);
    const bool is_valid = boost::nowide::utf::is_valid_codepoint(code);
    const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    const bool is_in_xml = code != 0xFFFE && code != 0xFFFF;
    characters += is_valid && !is_control && is_in_xml ? static_cast<char32_t>(code) : U'?';
    at = is_valid ? next : at + 1;
  }
  return characters;
}

std::string to_utf8(std::u32string_view characters) {
  std::string text;
  const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  for (const char32_t character : characters) {
    const auto c = static_cast<std::uint32_t>(character);
    if (c < 0x80) {
      add(c);
      continue;
    }
    const int rest = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    add((rest == 1 ? 0xC0U : rest == 2 ? 0xE0U : 0xF0U) | c >> (6U * static_cast<unsigned>(rest)));
    for (int i = rest - 1; i >= 0; --i) add(0x80U | (c >> (6U * static_cast<unsigned>(i)) & 0x3FU));
  }
  return text;
}

}  // namespace replay::report
