#include "farthest/line_survey.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "line_survey.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

LineSurvey::Keep keep_named(const std::string& name) {
  if (name == "minimal") return LineSurvey::Keep::minimal;
  if (name == "solvable") return LineSurvey::Keep::solvable;
  if (name == "all") return LineSurvey::Keep::all;
  throw InvalidArgument("keep: expected minimal, solvable or all");
}

// What a part has found, as Python takes it.
template <class Do>
nb::tuple told(const std::string& keep, Do survey) {
  const auto kept = keep_named(keep);
  LineSurvey::Part found;
  {
    const nb::gil_scoped_release release;
    found = survey(kept);
  }
  nb::dict totals;
  for (std::size_t pieces = 0; pieces < found.totals.size(); ++pieces) {
    const auto& each = found.totals[pieces];
    if (each.starts == 0) continue;
    nb::dict fields;
    fields["starts"] = each.starts;
    fields["components"] = each.components;
    fields["solvable"] = each.solvable;
    fields["minimal"] = each.minimal;
    fields["states"] = each.states;
    fields["solvable_states"] = each.solvable_states;
    fields["minimal_states"] = each.minimal_states;
    fields["moves"] = each.moves;
    totals[nb::int_(pieces)] = fields;
  }
  nb::list rows;
  for (const auto& row : found.rows)
    rows.append(nb::make_tuple(row.pieces, row.states, row.board, row.layers, row.minimal));
  return nb::make_tuple(totals, rows);
}

}  // namespace

void bind_line_survey(nb::module_& m) {
  nb::class_<LineSurvey>(
      m, "LineSurvey",
      "All boards of a square grid whose pieces of 2 and 3 cells stay in their lines; one in `row` "
      "is to reach the right end (line_survey.hpp). Raises ValueError.")
      .def(nb::init<int, int, int, int>(), "size"_a, "row"_a, "most_pieces"_a, "most_walls"_a = 0)
      .def("starts", &LineSurvey::starts, "most_sets"_a = UINT64_MAX,
           nb::call_guard<nb::gil_scoped_release>(),
           "How many boards a survey starts from; about so many for more than `most_sets` sets of walls.")
      .def("check", &LineSurvey::check, "board"_a, "Raises ValueError where it is no board of these.")
      .def(
          "survey",
          [](const LineSurvey& lines, std::uint64_t part, std::uint64_t parts, const std::string& keep) {
            return told(keep, [&](auto kept) { return lines.survey(part, parts, kept); });
          },
          nb::sig("def survey(self, part: int, parts: int, keep: str) -> tuple[dict[int, dict[str, int]], "
                  "list[tuple[int, int, str, list[int], bool]]]"),
          "part"_a, "parts"_a, "keep"_a,
          "The components of a part: totals by number of pieces; and of the minimal, solvable or all ones, "
          "as `keep` says, the number of pieces, states, the hardest board, the states at each distance "
          "from solved boards, and whether that board is minimal. Raises ValueError.")
      .def(
          "survey_boards",
          [](const LineSurvey& lines, const std::vector<std::string>& boards, std::uint64_t part,
             std::uint64_t parts, const std::string& keep) {
            return told(keep, [&](auto kept) { return lines.survey_boards(boards, part, parts, kept); });
          },
          nb::sig("def survey_boards(self, boards: list[str], part: int, parts: int, keep: str) -> "
                  "tuple[dict[int, dict[str, int]], list[tuple[int, int, str, list[int], bool]]]"),
          "boards"_a, "part"_a, "parts"_a, "keep"_a,
          "The same of the components of these boards, each once. Raises ValueError.");
}

}  // namespace farthest::python
