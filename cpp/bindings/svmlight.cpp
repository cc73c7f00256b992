#include "rankcut/svmlight/parse.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <utility>

#include "rooms.hpp"

using rankcut::svmlight::Options;
using rankcut::svmlight::ParseError;
using rankcut::svmlight::Rows;

namespace {

// Hands a vector over to NumPy, without a copy.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T>&& numbers) {
    auto kept = std::make_unique<std::vector<T>>(std::move(numbers));
    T* data = kept->data();
    const std::size_t size = kept->size();
    nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    kept.release();
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner);
}

nb::object parse(Vector<const std::uint8_t> text, bool zero_based, bool comments, std::int32_t max_columns) {
    const Options options{zero_based, comments, max_columns};
    Rows rows;
    std::optional<ParseError> error;
    {
        const nb::gil_scoped_release released;
        try {
            rows = rankcut::svmlight::parse({reinterpret_cast<const char*>(text.data()), text.size()}, options);
        } catch (const ParseError& found) {
            error = found;
        }
    }
    if (error) return nb::make_tuple(error->line, error->column, std::string(error->what()));
    return nb::make_tuple(array(std::move(rows.labels)), array(std::move(rows.queries)),
                          array(std::move(rows.row_starts)), array(std::move(rows.columns)),
                          array(std::move(rows.values)), array(std::move(rows.comments)),
                          array(std::move(rows.lines)), rows.n_lines, rows.n_columns);
}

}  // namespace

void bind_svmlight(nb::module_& m) {
    m.def("parse_svmlight", &parse, nb::arg("text"), nb::arg("zero_based"), nb::arg("comments"),
          nb::arg("max_columns"), nb::sig("def parse_svmlight(text: typing.Any, zero_based: bool, comments: bool, max_columns: int) -> tuple[typing.Any, ...]"),
          "Rows of whole lines: (labels, queries, row starts, columns, values, comments, lines, number of lines, "
          "number of columns); or what is wrong with them: (line, column, message).");
}
