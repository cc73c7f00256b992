"""Reading data sets: every format gives the same rows, and every error says where."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from rankcut import InputError, RankSVM, io
from rankcut.errors import FileError

NAMES = ("width", "height, cm", "depth")


@pytest.fixture
def rows(rng: np.random.Generator) -> dict[str, np.ndarray]:
    n = 60
    X = np.round(rng.standard_normal((n, 3)), 4)
    return {"X": X, "y": (X[:, 0] > 0.5).astype(int), "qid": np.repeat(np.arange(12), 5) + 100}


@pytest.fixture
def frame(rows: dict[str, np.ndarray]) -> pl.DataFrame:
    features = {name: rows["X"][:, i] for i, name in enumerate(NAMES)}
    names = [f"row {i}" for i in range(len(rows["y"]))]
    return pl.DataFrame({"id": names, "label": rows["y"], **features, "qid": rows["qid"]})


def write(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.parquet"])
def test_tables(name: str, frame: pl.DataFrame, rows: dict[str, np.ndarray], tmp_path: Path) -> None:
    data = io.read(write(frame, tmp_path / name))
    assert data.holds == ("X", "y", "qid", "id", "feature_names")
    assert np.array_equal(data.X, rows["X"])
    assert np.array_equal(data.y, rows["y"])
    assert np.array_equal(data.qid, rows["qid"])
    assert data.feature_names == NAMES
    assert data.id is not None
    assert data.id[3] == "row 3"
    assert "60 rows, 3 features (dense)" in repr(data)
    other = io.read(tmp_path / name, label="qid", features=["depth"], drop=["label"], dtype="float32")
    assert np.array_equal(other.X, rows["X"][:, 2:].astype(np.float32))
    assert other.X.dtype == np.float32
    assert np.array_equal(other.y, rows["qid"])
    assert other.qid is None


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.svm"])
def test_stream_is_read_in_parts(
    name: str,
    frame: pl.DataFrame,
    rows: dict[str, np.ndarray],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rankcut.io import parquet, source

    monkeypatch.setattr(parquet, "BATCH", 24 * 7)
    monkeypatch.setattr(source.blocks, "__kwdefaults__", {"quotes": False, "size": 300})
    path = tmp_path / name
    if path.suffix == ".svm":
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(rows["X"], rows["y"], str(path), zero_based=False, query_id=rows["qid"])
    else:
        write(frame, path)
    parts = list(io.stream(path))
    assert len(parts) > 3
    dense = [part.X.toarray() if sp.issparse(part.X) else part.X for part in parts]
    assert np.array_equal(np.concatenate(dense), rows["X"])
    assert np.array_equal(io.read(path).X, rows["X"])


def test_npz(rows: dict[str, np.ndarray], tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, **rows, feature_names=np.array(NAMES))
    data = io.read(path)
    assert data.holds == ("X", "y", "qid", "feature_names")
    assert np.array_equal(data.X, rows["X"])
    X = sp.random(20, 30, 0.1, format="csr", rng=np.random.default_rng(0))
    bag = np.repeat(np.arange(5), 4)
    parts = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": X.shape}
    np.savez_compressed(
        path, **parts, bag=bag, y_bag=np.array([0, 1, 0, 1, 1]), edges=np.array([[0, 1], [2, 3]])
    )
    data = io.read(path, label="y_bag")
    assert abs(data.X - X).nnz == 0
    assert data.y is not None
    assert data.edges is not None
    assert data.y.tolist() == [0] * 4 + [1] * 4 + [0] * 4 + [1] * 8
    assert data.edges.tolist() == [[0, 1], [2, 3]]


def test_text_stays_text_and_numbers_become_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,qid,x\nspam,007,1\nham,7,2\n")
    data = io.read(path)
    assert data.y is not None
    assert data.qid is not None
    assert data.y.tolist() == ["spam", "ham"]
    assert data.qid.tolist() == ["007", "7"]
    path.write_text("label,qid,x\n1.5,-3,1\n2,12,2\n")
    data = io.read(path)
    assert data.y is not None
    assert data.qid is not None
    assert data.y.tolist() == [1.5, 2]
    assert data.qid.tolist() == [-3, 12]


def test_quotes_blank_lines_and_line_feeds_in_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankcut.io import source

    path = tmp_path / "rows.csv"
    path.write_bytes(b'"id","a ""b""",label\r\n' + b'"x\ny",1,0\r\n"\n\n,",2,1\n' * 40)
    for size in (16, 50, 10**6):
        monkeypatch.setattr(source.blocks, "__kwdefaults__", {"quotes": False, "size": size})
        data = io.read(path)
        assert data.feature_names == ('a "b"',)
        assert data.id is not None
        assert data.X.shape == (80, 1)
        assert data.id[:2].tolist() == ["x\ny", "\n\n,"]
    path.write_bytes(b"a,label\n\n1,0\n\n2,1\n\n")
    assert io.read(path).X.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ("a,label\n1,0\nx,1\n", 3, "'a'", "'x' is no finite number"),
        ("a;label\n1;0\n2;1\n", 1, None, "'a;label'; if ';' parts the columns, pass it as separator"),
        ("a,label\n1,0\n,1\n", 3, "'a'", "missing"),
        ("a,label\n1,0\n\n\nnan,1\n", 5, "'a'", "'nan' is no finite number"),
        ("a,label\n1,0\n1e999,1\n", 3, "'a'", "no finite number"),
        ("a,label\n1,0\n1,\n", 3, "'label'", "missing"),
        ("a,label\n1,0\n1,0,0\n", 3, None, "3 fields, but the first line names 2"),
        ("a,label\n1,0\n1\n", 3, None, "1 fields, but the first line names 2"),
        ('a,id,label\n1,"x\ny",0\n1,z,0\n?,z,0\n', 5, "'a'", "'[?]' is no finite number"),
        ('a,label\n1,0\n"1,0\n', 3, None, "quote"),
        ("a,a\n1,0\n", 1, None, "'a' comes more than once"),
        ("1,0\n2,1\n", 1, None, "numbers in the first line"),
        ("\n1,0\n", 1, None, "empty first line"),
        ("", None, None, "empty"),
        ("a,label\n", None, None, "without a row"),
        ("label,qid\n1,2\n", None, None, "no column is left for features"),
    ],
)
def test_csv_errors_say_where(
    text: str, line: int | None, column: str | None, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=what) as error:
        io.read(path)
    assert (error.value.line, error.value.column) == (line, column)
    assert str(error.value).startswith(str(path))


def test_parquet_errors_say_where(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"a": [1.0, None], "label": [0, 1]}, "column 'a': missing or not finite in row 1"),
        ({"a": [1.0, 2.0], "label": [0, None]}, "column 'label': missing in row 1"),
        ({"a": ["x", "y"], "label": [0, 1]}, "column 'a': holds String"),
        ({"a": [1.0, 2.0], "label": [[0], [1]]}, "column 'label': holds List"),
        ({"label": [0, 1]}, "no column is left"),
    ]
    for columns, what in cases:
        pl.DataFrame(columns).write_parquet(path)
        with pytest.raises(FileError, match=what):
            io.read(path)
    content = path.read_bytes()
    for broken in (content[:-1], content[: len(content) // 2], b"PAR1" * 4, b""):
        path.write_bytes(broken)
        with pytest.raises(FileError):
            io.read(path)


def test_small_parquet_types_become_float32(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    columns = {"a": pl.Series([0.1, 0.2], dtype=pl.Float32), "b": [True, False], "label": [1, 0]}
    pl.DataFrame(columns).write_parquet(path)
    assert io.read(path).X.dtype == np.float32
    pl.DataFrame({**columns, "c": [1, 2]}).write_parquet(path)
    assert io.read(path).X.dtype == np.float64


def test_broken_compression(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt.gz"
    content = gzip.compress(b"1 1:0.5\n" * 1000)
    for broken, what in [
        (content[:-9], "cut short"),
        (content[:20] + b"\x00" * 8 + content[28:], "cannot be read|cut"),
    ]:
        path.write_bytes(broken)
        with pytest.raises(FileError, match=what):
            io.read(path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz"])
def test_edges_from_a_second_file(suffix: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    data, path = write(frame, tmp_path / "rows.csv"), tmp_path / f"edges{suffix}"
    if suffix == ".npz":
        np.savez(path, edges=np.array([[0, 5], [59, 2]]), edge_features=np.array([[0.5], [1.5]]))
    else:
        write(pl.DataFrame({"source": [0, 59], "weight": [0.5, 1.5], "target": [5, 2]}), path)
    found = io.read(data, edges=path)
    assert found.edges is not None
    assert found.edge_features is not None
    assert found.edges.tolist() == [[0, 5], [59, 2]]
    assert found.edge_features.tolist() == [[0.5], [1.5]]


def test_edges_by_id_and_wrong_edges(frame: pl.DataFrame, tmp_path: Path) -> None:
    data, path = write(frame, tmp_path / "rows.csv"), tmp_path / "edges.csv"
    path.write_text("source,target\nrow 3,row 1\n")
    found = io.read(data, edges=path, edges_by="id")
    assert found.edges is not None
    assert found.edges.tolist() == [[3, 1]]
    assert found.edge_features is None
    path.write_text("source,target\n")
    assert len(io.read(data, edges=path).edges) == 0  # type: ignore[arg-type]
    for text, by, what in [
        ("source,target\nrow 3,row 77\n", "id", "no row has the id 'row 77'"),
        ("source,target\nrow 3,row 1\n", "row", "edges_by='id'"),
        ("source,target\n0,60\n", "row", "joins rows .0, 60., but rows go from 0 to 59"),
        ("from,to\n0,1\n", "row", "no column 'source'"),
    ]:
        path.write_text(text)
        with pytest.raises(FileError, match=what):
            io.read(data, edges=path, edges_by=by)


@pytest.mark.parametrize(
    ("name", "options", "what"),
    [
        ("rows.csv", {"label": "lable"}, "label: no column 'lable'; the file has 'id', 'label'"),
        ("rows.csv", {"features": ["depht"]}, "features: no column 'depht'"),
        ("rows.csv", {"features": "depth"}, "features: came as the text 'depth'"),
        ("rows.csv", {"separator": ";;"}, "separator: came as ';;'"),
        ("rows.csv", {"dtype": "int8"}, "dtype: came as 'int8'"),
        ("rows.csv", {"n_features": 0}, "n_features: came as 0"),
        ("rows.csv", {"known": "label", "format": "xml"}, "format: came as 'xml'"),
        ("rows.csv", {"known": "qid"}, "known: came with .*; mark annotated"),
        ("rows.what", {}, "format: cannot tell from the name"),
        ("missing.csv", {}, "path: No such file"),
        ("missing.npz", {}, "path: No such file"),
        ("missing.parquet", {}, "path: No such file"),
        (".", {}, "is a folder"),
        ("rows.txt", {"label": "y"}, "label: names a column, but svmlight files have none"),
    ],
)
def test_wrong_options(
    name: str, options: dict[str, Any], what: str, frame: pl.DataFrame, tmp_path: Path
) -> None:
    write(frame, tmp_path / "rows.csv")
    (tmp_path / "rows.txt").write_text("1 1:1\n")
    with pytest.raises(InputError, match=what):
        io.read(tmp_path / name, **options)


def test_missing_extra_is_named(frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from rankcut.extras import MissingExtra

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rankcut\[io\]'"):
        io.read(write(frame, tmp_path / "rows.csv"))


def test_comment_names_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.letor"
    path.write_text("2 qid:1 1:3 #docid = GX1 inc = 1\n0 qid:1 1:4 #docid = GX2 inc = 7\n")
    data = io.read(path, id="docid")
    assert data.id is not None
    assert data.id.tolist() == ["GX1", "GX2"]
    with pytest.raises(FileError, match="no 'url' in the comment") as error:
        io.read(path, id="url")
    assert error.value.line == 1


def test_what_is_read_can_be_trained_on(frame: pl.DataFrame, tmp_path: Path) -> None:
    data = io.read(write(frame, tmp_path / "rows.csv"))
    model = RankSVM(C=10.0).fit(data.X, data.y)
    assert model.dual_gap_ <= 1e-3


def test_growing_matrix_is_the_stack_of_its_parts(rng: np.random.Generator) -> None:
    from rankcut.io.growing import Growing

    for _ in range(300):
        parts, growing = [], Growing()
        for _ in range(rng.integers(1, 6)):
            shape = int(rng.integers(0, 9)), int(rng.integers(1, 9))
            X = np.where(rng.random(shape) < rng.random(), rng.standard_normal(shape), 0.0)
            parts.append(X)
            growing.add(sp.csr_matrix(X) if rng.random() < 0.7 else X)
        width = max(X.shape[1] for X in parts)
        expected = np.concatenate([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X in parts])
        found = growing.matrix()
        assert np.array_equal(found.toarray() if sp.issparse(found) else found, expected)


def test_far_column_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1 2:1\n" * 1000 + "0 2147483647:1\n")
    data = io.read(path)
    assert sp.issparse(data.X)
    assert data.X.shape == (1001, 2**31 - 1)
    assert data.X.nnz == 2001


def test_svmlight_that_counts_from_zero(rows: dict[str, np.ndarray], tmp_path: Path) -> None:
    """As scikit-learn writes it: an index 0 says so, and a warning says what that means for other files."""
    from sklearn.datasets import dump_svmlight_file

    path = tmp_path / "rows.svm"
    dump_svmlight_file(rows["X"], rows["y"], str(path))
    with pytest.warns(UserWarning, match="zero_based=True for every file of this origin"):
        data = io.read(path)
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    assert np.array_equal(X, rows["X"])
    again = io.read(path, zero_based=True)
    assert np.array_equal(again.y, rows["y"])
    with pytest.raises(FileError, match="line 1, column 3: index 0"):
        io.read(path, zero_based=False)
