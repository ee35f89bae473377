#include "scheduler/report/draw/pdf_canvas.hpp"

#include <fmt/format.h>
#include <hpdf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"

namespace replay::report {
namespace {

// Thrown through libharu, as its documentation shows.
[[noreturn]] void fail(HPDF_STATUS error, HPDF_STATUS detail, void* /*document*/) {
  throw InputError(fmt::format("the PDF cannot be made: libharu's error {:#x}, {}", error, detail));
}

float real(double value) { return static_cast<float>(rounded(value)); }

float share(std::uint8_t part) { return static_cast<float>(part) / 255.0F; }

bool is_latin(std::u32string_view characters) {
  return std::ranges::all_of(characters, [](char32_t c) { return c < 0x100; });
}

}  // namespace

struct PdfCanvas::Document {
  HPDF_Doc pdf = nullptr;
  HPDF_Page page = nullptr;
  std::string font_name;
  HPDF_Font latin = nullptr;  // one byte a character; most drawings need no other
  HPDF_Font wide = nullptr;   // any character; null: not in use yet
  Colour filled_with{}, stroked_with{};

  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() {
    if (pdf != nullptr) HPDF_Free(pdf);
  }

  // libharu reads fonts from files only: this one is in memory.
  void load_font() {
    const std::string_view bytes = Font::file();
    const UniqueFd file{::memfd_create("font", MFD_CLOEXEC)};
    if (file.get() < 0 || ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw InputError(fmt::format("the PDF cannot be made: its font: {}", std::strerror(errno)));
    font_name = HPDF_LoadTTFontFromFile(pdf, fmt::format("/proc/self/fd/{}", file.get()).c_str(), HPDF_TRUE);
    latin = HPDF_GetFont(pdf, font_name.c_str(), "WinAnsiEncoding");
  }
  HPDF_Font wide_font() {
    if (wide == nullptr) {
      HPDF_UseUTFEncodings(pdf);
      wide = HPDF_GetFont(pdf, font_name.c_str(), "UTF-8");
    }
    return wide;
  }
  void fill_with(Colour colour) {
    if (colour != filled_with) HPDF_Page_SetRGBFill(page, share(colour.red), share(colour.green), share(colour.blue));
    filled_with = colour;
  }
  void stroke_with(Colour colour) {
    if (colour != stroked_with)
      HPDF_Page_SetRGBStroke(page, share(colour.red), share(colour.green), share(colour.blue));
    stroked_with = colour;
  }
};

PdfCanvas::PdfCanvas(double width, double height) : Canvas(width, height), document_(std::make_unique<Document>()) {
  Document& document = *document_;
  document.pdf = HPDF_New(fail, nullptr);
  if (document.pdf == nullptr) throw InputError("the PDF cannot be made: no memory");
  HPDF_SetCompressionMode(document.pdf, HPDF_COMP_ALL);
  document.page = HPDF_AddPage(document.pdf);
  HPDF_Page_SetWidth(document.page, real(width));
  HPDF_Page_SetHeight(document.page, real(height));
  document.load_font();
}

PdfCanvas::~PdfCanvas() = default;

float PdfCanvas::up(double y) const { return static_cast<float>(rounded(rounded(height()) - rounded(y))); }

void PdfCanvas::fill(std::span<const Box> boxes, Colour colour) {
  if (boxes.empty()) return;
  document_->fill_with(colour);
  for (const Box& box : boxes) {
    const float x = real(box.x), bottom = up(box.bottom());
    HPDF_Page_Rectangle(document_->page, x, bottom, real(box.right() - rounded(box.x)),
                        real(rounded(box.bottom()) - rounded(box.y)));
  }
  HPDF_Page_Fill(document_->page);
}

void PdfCanvas::fill(std::span<const Point> polygon, Colour colour) {
  document_->fill_with(colour);
  HPDF_Page_MoveTo(document_->page, real(polygon.front().x), up(polygon.front().y));
  for (const Point& point : polygon.subspan(1)) HPDF_Page_LineTo(document_->page, real(point.x), up(point.y));
  HPDF_Page_ClosePath(document_->page);
  HPDF_Page_Fill(document_->page);
}

void PdfCanvas::fill_circle(Point centre, double radius, Colour colour) {
  document_->fill_with(colour);
  HPDF_Page_Circle(document_->page, real(centre.x), up(centre.y), real(radius));
  HPDF_Page_Fill(document_->page);
}

void PdfCanvas::stroke(std::span<const Polyline> lines, const Stroke& stroke) {
  if (std::ranges::none_of(lines, [](const Polyline& line) { return line.size() > 1; })) return;
  HPDF_Page page = document_->page;
  document_->stroke_with(stroke.colour);
  HPDF_Page_SetLineWidth(page, real(stroke.width));
  HPDF_UINT16 dashes[4];
  std::ranges::copy(stroke.dashes, dashes);
  HPDF_Page_SetDash(page, dashes, dashes[0] == 0 ? 0 : dashes[2] == 0 ? 2 : 4, 0);
  for (const Polyline& line : lines) {
    if (line.size() < 2) continue;
    HPDF_Page_MoveTo(page, real(line.front().x), up(line.front().y));
    for (const Point& point : std::span(line).subspan(1)) HPDF_Page_LineTo(page, real(point.x), up(point.y));
  }
  HPDF_Page_Stroke(page);
}

void PdfCanvas::text(Point at, std::string_view words, const TextStyle& style) {
  const std::u32string characters = characters_of(words);
  if (characters.empty()) return;
  const double width = width_of(words, style.size);
  const double before = style.anchor == Anchor::kStart ? 0 : style.anchor == Anchor::kMiddle ? width / 2 : width;
  const bool has_latin = is_latin(characters);
  std::string bytes = to_utf8(characters);
  if (has_latin) {
    bytes.clear();
    for (const char32_t c : characters) bytes += static_cast<char>(static_cast<unsigned char>(c));
  }
  HPDF_Page page = document_->page;
  document_->fill_with(style.colour);
  HPDF_Page_BeginText(page);
  HPDF_Page_SetFontAndSize(page, has_latin ? document_->latin : document_->wide_font(), real(style.size));
  if (style.is_upright)
    HPDF_Page_SetTextMatrix(page, 0, 1, -1, 0, real(at.x), up(at.y + before));
  else
    HPDF_Page_SetTextMatrix(page, 1, 0, 0, 1, real(at.x - before), up(at.y));
  HPDF_Page_ShowText(page, bytes.c_str());
  HPDF_Page_EndText(page);
}

std::string PdfCanvas::finish(std::string_view title) {
  // libharu would take other text for that of its own encodings.
  std::string plain;
  for (const char32_t c : characters_of(title)) plain += c < 0x7F ? static_cast<char>(c) : '?';
  if (!plain.empty()) HPDF_SetInfoAttr(document_->pdf, HPDF_INFO_TITLE, plain.c_str());
  HPDF_SaveToStream(document_->pdf);
  std::string bytes(HPDF_GetStreamSize(document_->pdf), '\0');
  auto size = static_cast<HPDF_UINT32>(bytes.size());
  HPDF_ReadFromStream(document_->pdf, reinterpret_cast<HPDF_BYTE*>(bytes.data()), &size);
  bytes.resize(size);
  return bytes;
}

}  // namespace replay::report
