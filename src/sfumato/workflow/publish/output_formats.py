"""Write the tables in formats other than CSV and Parquet, and list all data files in the data package."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.reading import parquet_files
from sfumato.reading.base import Codebook
from sfumato.results.release import Release
from sfumato.runtime.extras import require
from sfumato.verification.documents import FormatFacts, Manifest
from sfumato.verification.folder import FORMATS, StatisticsFormat
from sfumato.verification.partition_check import partition_files
from sfumato.workflow.publish.partitions import check_partition, lay_into_folders
from sfumato.workflow.publish.publication_request import PublicationRequest, allowed_names
from sfumato.workflow.publish.statistics_output import write_statistics

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Sinks:
    """The formats of the tables other than CSV and Parquet.

    Parameters
    ----------
    formats
        Formats of statistics programs.
    partition_by
        The attribute whose values name the folders of the Parquet files, if these lie in folders.
    codebook
        The labels of the original.
    """

    formats: tuple[StatisticsFormat, ...]
    partition_by: str | None
    codebook: Codebook

    @classmethod
    def of(cls, release: Release, request: PublicationRequest) -> Sinks:
        """Check the requested formats before anything is computed."""
        formats = allowed_names("formats", request.publication.formats, FORMATS)
        if formats:
            require("statistics", "to write files of SPSS and Stata takes")
        partition_by = request.publication.partition_by
        if partition_by is not None:
            check_partition(release, partition_by)
        return cls(formats, partition_by, request.codebook)

    def write(
        self, place: Path, types: Mapping[str, pa.Schema], unchanged: Collection[str]
    ) -> dict[StatisticsFormat, FormatFacts]:
        """Write the files from the Parquet files; return how statistics programs see the columns.

        Parameters
        ----------
        place
            The folder, with a Parquet file of each table.
        types
            The columns of each table.
        unchanged
            The attributes all of whose released cells are original values.
        """
        import pyarrow.parquet as pq

        facts = {}
        for kind in self.formats:
            tables = {name: pq.read_table(place / f"{name}.parquet", partitioning=None) for name in types}
            facts[kind] = write_statistics(tables, place, kind, self.codebook, unchanged)
        if self.partition_by is not None:
            table = next(name for name in types if self.partition_by in types[name].names)
            lay_into_folders(place, table, self.partition_by, **parquet_files.OPTIONS)
        return facts


def resources(manifest: Manifest, types: Mapping[str, pa.Schema]) -> list[dict[str, Any]]:
    """Describe each data file as a data package does.

    Parameters
    ----------
    manifest
        What the folder says of itself.
    types
        The columns of each table.
    """
    fields = {
        name: [{"name": field.name, "type": _field_type(field.type)} for field in schema]
        for name, schema in types.items()
    }
    return [_resource(manifest, *each) for name in types for each in _files(manifest, name, fields[name])]


def _files(
    manifest: Manifest, table: str, fields: list[dict[str, Any]]
) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield the files of a table, each with its resource name and its columns."""
    yield f"{table}-csv", f"{table}.csv", fields
    if f"{table}.parquet" in manifest.files:
        yield f"{table}-parquet", f"{table}.parquet", fields
    else:
        inside = [field for field in fields if field["name"] != manifest.partition_by]
        for number, file in enumerate(partition_files(manifest)):
            yield f"{table}-parquet-{number}", file, inside
    for kind, facts in manifest.formats.items():
        yield f"{table}-{kind}", f"{table}.{kind}", [_as_statistics_field(field, facts) for field in fields]


def _as_statistics_field(field: Mapping[str, Any], facts: FormatFacts) -> dict[str, Any]:
    name = field["name"]
    described = {**field, "name": facts.renamed.get(name, name)}
    if name in facts.labels:
        described["title"] = facts.labels[name]
    if name in facts.codes:
        listed = [{"value": code, "label": label} for label, code in facts.codes[name].items()]
        described |= {"type": "integer", "categories": listed}
    return described


def _resource(manifest: Manifest, name: str, file: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "path": file,
        "format": Path(file).suffix[1:],
        "hash": f"sha256:{manifest.files[file].sha256}",
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _field_type(arrow_type: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_dictionary(arrow_type):
        return _field_type(arrow_type.value_type)
    if pa.types.is_integer(arrow_type):
        return "integer"
    return "number" if pa.types.is_floating(arrow_type) else "string"
