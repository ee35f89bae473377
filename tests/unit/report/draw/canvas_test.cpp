// Tests of drawings: one drawing comes out in three formats, the same bytes each time; text from headers cannot break them; a PDF has its
// font in it and its text can be read again.
#include "scheduler/report/draw/canvas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/report/draw/canvas_file.hpp"
#include "scheduler/report/draw/font.hpp"
#include "scheduler/report/draw/hatch.hpp"
#include "scheduler/report/draw/legend.hpp"
#include "scheduler/report/draw/markup.hpp"
#include "scheduler/report/draw/tikz_canvas.hpp"
#include "tests/support/shell.hpp"

namespace replay::report {
namespace {

// Without the outlines of the characters, and with a text as "words at place".
std::string readable(const std::string& svg) {
  const std::string text = std::regex_replace(svg, std::regex("<path id=\"c[^>]*>\n"), "");
  return std::regex_replace(text, std::regex("(<g aria-label=\"[^\"]*\"[^>]*>)(<use[^>]*>)*</g>"), "$1</g>");
}

std::string drawn(const std::string& name) {
  const auto canvas = canvas_for(name, 100, 50);
  const Box boxes[] = {{10, 10, 20, 5.005}, {30, 10, 5, 5}};
  canvas->fill(boxes, Colour::of(0x1f5a93));
  canvas->line({0, 25}, {100, 25}, {.width = 0.5, .dashes = {4, 2}});
  canvas->fill_circle({50, 25}, 2, kInk);
  canvas->text({50, 40}, "time, h", {.size = 8, .anchor = Anchor::kMiddle});
  canvas->text({8, 45}, "a & b_1 <50 %>", {.size = 8, .is_upright = true});
  return canvas->finish("two boxes");
}

TEST(SvgCanvas, IsSmallEnoughToRead) {
  EXPECT_EQ(
      readable(drawn("a.svg")),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"100pt\" "
      "height=\"50pt\" viewBox=\"0 0 100 50\" role=\"img\">\n<title>two boxes</title>\n<defs>\n</defs>\n"
      "<rect x=\"0\" y=\"0\" width=\"100\" height=\"50\" fill=\"#ffffff\"/>\n"
      "<path fill=\"#1f5a93\" d=\"M10 10H30V15.01H10zM30 10H35V15H30z\"/>\n"
      "<path fill=\"none\" stroke=\"#222222\" stroke-width=\"0.5\" stroke-dasharray=\"4 2\" d=\"M0 25L100 25\"/>\n"
      "<circle cx=\"50\" cy=\"25\" r=\"2\" fill=\"#222222\"/>\n"
      "<g aria-label=\"time, h\" fill=\"#222222\" transform=\"translate(38 40) scale(0.00390625)\"></g>\n"
      "<g aria-label=\"a &amp; b_1 &lt;50 %&gt;\" fill=\"#222222\" transform=\"translate(8 45) rotate(-90) "
      "scale(0.00390625)\"></g>\n"
      "</svg>\n");
}

TEST(SvgCanvas, DefinesEachCharacterOnceAndDrawsEveryOne) {
  const std::string svg = drawn("a.svg");
  const auto count = [&svg](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("id=\"c65\""), 1u);  // e
  EXPECT_EQ(count("#c65\""), 1u);
  EXPECT_EQ(count("#c20\""), 0u);      // a blank has no outline
  EXPECT_EQ(count("<use"), 6u + 10u);  // "time,h", "a&b_1<50%>"
}

TEST(TikzCanvas, NeedsTikzAloneAndTakesTextAsText) {
  EXPECT_EQ(drawn("a.tikz"),
            "% two boxes\n"
            "% Needs \\usepackage{tikz}; with pdfTeX also \\usepackage[T1]{fontenc}.\n"
            "\\begingroup%\n"
            "\\definecolor{replay1f5a93}{RGB}{31,90,147}%\n"
            "\\definecolor{replay222222}{RGB}{34,34,34}%\n"
            "\\begin{tikzpicture}[x=1bp,y=-1bp,every node/.style={inner sep=0pt,outer sep=0pt}]\n"
            "\\useasboundingbox (0,0) rectangle (100,50);\n"
            "\\fill[replay1f5a93] (10,10) rectangle (30,15.01) (30,10) rectangle (35,15);\n"
            "\\draw[replay222222,line width=0.5bp,dash pattern=on 4bp off 2bp] (0,25)--(100,25);\n"
            "\\fill[replay222222] (50,25) circle[radius=2bp];\n"
            "\\node[replay222222,anchor=base,font=\\fontsize{8bp}{9.6bp}\\selectfont] at (50,40) {time, h};\n"
            "\\node[replay222222,anchor=base west,font=\\fontsize{8bp}{9.6bp}\\selectfont,rotate=90] at (8,45) "
            "{a \\& b\\_1 \\textless{}50 \\%\\textgreater{}};\n"
            "\\end{tikzpicture}%\n\\endgroup\n");
  EXPECT_EQ(tex_escaped("\\input{x} ~^ \xC3\xA5\x01"),
            "\\textbackslash{}input\\{x\\} \\textasciitilde{}\\textasciicircum{} \xC3\xA5?");
}

TEST(PdfCanvas, HasItsFontInItAndTextThatCanBeReadAgain) {
  const TemporaryFolder folder;
  test::write_text(folder / "a.pdf", drawn("a.pdf"));
  const auto text = test::shell("pdftotext -layout a.pdf -", folder.path());
  if (text.status == 127) GTEST_SKIP() << "pdftotext (apt: poppler-utils) is not there";
  EXPECT_NE(text.out.find("time, h"), std::string::npos) << text.out << text.err;
  EXPECT_EQ(text.err, "");
  const auto fonts = test::shell("pdffonts a.pdf", folder.path());
  EXPECT_NE(fonts.out.find("LiberationSans"), std::string::npos) << fonts.out;
  EXPECT_NE(fonts.out.find("yes yes"), std::string::npos) << fonts.out;  // embedded, a subset
  const auto page = test::shell("pdfinfo a.pdf", folder.path());
  EXPECT_NE(page.out.find("100 x 50 pts"), std::string::npos) << page.out;
  EXPECT_NE(page.out.find("two boxes"), std::string::npos) << page.out;
  EXPECT_EQ(page.out.find("CreationDate"), std::string::npos) << page.out;
}

TEST(PdfCanvas, ReadsAgainTextOfAnyAlphabet) {
  const TemporaryFolder folder;
  const auto canvas = canvas_for("a.pdf", 200, 50);
  canvas->text({10, 20}, "Ume\xC3\xA5 \xCE\xA3 \xE2\x89\xA4 1", {});
  test::write_text(folder / "a.pdf", canvas->finish("\xCE\xA3"));
  const auto text = test::shell("pdftotext a.pdf -", folder.path());
  if (text.status == 127) GTEST_SKIP() << "pdftotext (apt: poppler-utils) is not there";
  EXPECT_NE(text.out.find("Ume\xC3\xA5 \xCE\xA3 \xE2\x89\xA4 1"), std::string::npos) << text.out;
}

TEST(Canvas, TheSameDrawingIsTheSameBytes) {
  for (const char* const name : {"a.svg", "a.pdf", "a.tikz", "a.tex"}) EXPECT_EQ(drawn(name), drawn(name)) << name;
  EXPECT_TRUE(drawn("a.pdf").starts_with("%PDF-1."));
  EXPECT_EQ(drawn("a.pdf").find("/CreationDate"), std::string::npos);
}

TEST(Canvas, RefusesOtherEndings) {
  try {
    expect_drawing_name("-o", "a.png");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "-o: expected a name that ends in .svg, .pdf, .tikz or .tex, found 'a.png'");
  }
}

TEST(Canvas, ACoordinateThatIsNoNumberIsABrokenInvariant) {
  const InvariantsThrow throws;
  EXPECT_THROW(static_cast<void>(rounded(std::nan(""))), BrokenInvariant);
  EXPECT_EQ(number_text(-0.001), "0");
  EXPECT_EQ(number_text(12.5), "12.5");
}

TEST(Canvas, TextOfOthersIsTextAndNothingElse) {
  EXPECT_EQ(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(escaped("Ume\xC3\xA5 \xE5 \x01"), "Ume\xC3\xA5 ? ?");
  EXPECT_EQ(escaped("\xE2\x82"), "??");
  for (const char* const name : {"a.svg", "a.pdf", "a.tikz"}) {
    const auto canvas = canvas_for(name, 10, 10);
    canvas->begin_tip("</title><script>");
    canvas->text({1, 2}, "</g><script>\n\\end{tikzpicture}", {});
    canvas->end_tip();
    const std::string file = canvas->finish("</title><script>\n\\input{x}");
    EXPECT_EQ(file.find("<script>"), name == std::string{"a.tikz"} ? 10u : std::string::npos) << name << file;
    EXPECT_EQ(file.find("\\end{tikzpicture}"), file.rfind("\\end{tikzpicture}")) << name;
  }
}

TEST(Font, KnowsTheWidthsOfItsCharacters) {
  const Font font;
  EXPECT_DOUBLE_EQ(font.width("0", 2048), 1139);  // as in the font's table hmtx
  EXPECT_DOUBLE_EQ(font.width("00", 8), 2 * 1139 * 8 / 2048.0);
  EXPECT_EQ(font.cut("abcdef", 8, 1000), "abcdef");
  const std::string shorter = font.cut("fcfs-malleable:max_mpl=2", 8, 60);
  EXPECT_TRUE(shorter.starts_with("fcfs-mal")) << shorter;
  EXPECT_TRUE(shorter.ends_with("...")) << shorter;
  EXPECT_LE(font.width(shorter, 8), 60);
}

TEST(Hatch, LinesKeepInsideOfTheBoxAndOnOneGrid) {
  const auto canvas = canvas_for("a.svg", 100, 100);
  const Box boxes[] = {{10, 10, 6, 6}, {16, 10, 6, 6}};
  hatch(*canvas, boxes, {.stroke = {}, .spacing = 6});
  // x + y = 24 cuts the first box, 24 its corner only, 30 the second; each from edge to edge.
  EXPECT_NE(canvas->finish("h").find("d=\"M10 14L14 10M14 16L16 14M16 14L20 10M20 16L22 14\""), std::string::npos);
}

TEST(Legend, NamesWrapAndAreCutAtTheWidth) {
  const auto canvas = canvas_for("a.svg", 100, 100);
  const std::vector<LegendEntry> entries(3, {"a name", [](Canvas&, const Box&) {}});
  EXPECT_DOUBLE_EQ(legend_height(canvas->font(), entries, 1000, 10), 13);
  EXPECT_DOUBLE_EQ(legend_height(canvas->font(), entries, 60, 10), 39);
  draw_legend(*canvas, {0, 0}, std::vector<LegendEntry>{{std::string(100, 'n'), [](Canvas&, const Box&) {}}}, 100, 10);
  EXPECT_NE(canvas->finish("l").find("nnn...\""), std::string::npos);
}

TEST(Characters, AreThoseOfValidUtf8AndOtherBytesAreQuestionMarks) {
  EXPECT_EQ(characters_of("aé€😀"), U"aé€😀");
  EXPECT_EQ(characters_of("\xff"), U"?");
  EXPECT_EQ(characters_of("\xed\xa0\x80"), U"???") << "a surrogate";
  EXPECT_EQ(characters_of("\xc0\xaf"), U"??") << "longer than it has to be";
  EXPECT_EQ(characters_of("\xf4\x90\x80\x80"), U"????") << "beyond U+10FFFF";
  EXPECT_EQ(characters_of("\xe2\x82"), U"??") << "cut off";
  EXPECT_EQ(characters_of("\xef\xbf\xbf"), U"?") << "no character of XML";
  EXPECT_EQ(characters_of("\x1b\x7f\xc2\x85"), U"???") << "control characters";
}

}  // namespace
}  // namespace replay::report
