"""Write the README of a published folder, which explains how to read it, also without sfumato."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.results.formatting import joined
from sfumato.verification.documents import LayoutFacts, Manifest
from sfumato.verification.folder import MANIFEST, PROGRAMS
from sfumato.verification.partition_check import partitioned_table
from sfumato.verification.published_view import table_names
from sfumato.verification.renderings import UNVERIFIED_CLAIM
from sfumato.workflow.report.singled_out import singled_out

_LABEL = f"*({UNVERIFIED_CLAIM})*"
"""Put after every statement that no reader can check."""
_STANDS_FOR = {
    "people": "Every record is one of the original; a cell that is not exact is a set with the true value.",
    "perturbed": "Every record is one of the original, with values that were changed: they need not be true.",
    "synthetic": "The records are made up. They stand for nobody, and only numbers of them say something.",
}
_LABELS = """\
| a cell like | stands for |
|---|---|
| `39`, `Female` | this value |
| `[20, 30)` | a number from 20 to below 30; `[20, 30]` has 30, too |
| `<25`, `>=80` | a number below 25; one of 80 or more |
| `{a, b, "c, d"}` | one of these; what has a comma is quoted, as in CSV |
| `1990 to 2003` | a value from the first to the last, in the order of numbers, of time, or of letters |
| `130*` | a value that begins so |
| `... or missing` | the same, or no value |
| an empty cell | no value |
| `*` | any value, or none |
"""
# Both examples are the same in every folder: `verify` knows them, whichever version wrote the page, so that
# nobody can put another program into it.
_PYTHON = """\
import csv, json, re
from collections import Counter

layout = json.load(open("manifest.json", encoding="utf-8"))["layout"]
attributes, group = layout["attributes"], layout["group"]
name = next(iter(attributes))  # or another one
PART = re.compile(r'"(?:[^"]|"")*"|[\\[(][^\\])]*[\\])]|[^,\\s][^,]*')


def read(name):
    return list(csv.DictReader(open(name + ".csv", encoding="utf-8", newline="")))


def members(name, label):
    \"\"\"List what a cell may stand for: of an interval of fractions a hundred points.\"\"\"
    facts = attributes[name]
    if label in facts.get("branches", {}):
        return facts["branches"][label]
    if label.endswith(" or missing"):
        return members(name, label[:-11]) + [""]
    if label.startswith("{"):
        parts = PART.findall(label[1:-1])
        plain = [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in parts]
        return [each for part in plain for each in ([""] if part == "missing" else members(name, part))]
    if re.fullmatch(r"\\[[^,]+, [^,]+[)\\]]", label):
        low, high = map(float, label[1:-1].split(", "))
        if facts.get("whole"):
            return [str(number) for number in range(int(low), int(high) + label.endswith("]"))]
        return [str(low + (high - low) * (step + 0.5) / 100) for step in range(100)]
    return [label]


is_one = layout["form"] == "one-table"
people = read("data" if is_one else "quasi-identifiers")
records = [(person, 1) for person in people]
sensitive = [each for each in attributes if attributes[each]["role"] == "sensitive"]
if group is not None and sensitive:
    # every record of a group may have each sensitive value of it
    count, told = "count", {}
    while count in sensitive:
        count += "_"
    kept = [group, *sensitive]
    rows = [{each: row[each] for each in kept} for row in people] if is_one else read("sensitive")
    for row in rows:
        told.setdefault(row[group], []).append(row)
    sizes = Counter(person[group] for person in people)
    records = [
        ({**person, **row}, (1 if is_one else int(row[count])) / sizes[person[group]])
        for person in people
        for row in told[person[group]]
    ]


def expected(**tests):
    \"\"\"Count the records that pass all tests, when all that a cell may stand for is equally likely.\"\"\"
    total = 0.0
    for record, weight in records:
        for name, test in tests.items():
            meant = members(name, record[name])
            weight *= sum(map(test, meant)) / len(meant)
        total += weight
    return total


values = Counter(member for record, _ in records for member in members(name, record[name]))
for value in sorted(values):
    print(value or "missing", round(expected(**{name: value.__eq__}), 2), sep="\\t")
"""
_R = r"""
# reads JSON: numbers, texts, and lists with or without names
TOKEN <- '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|[][{}:,]|[^][{}:,"\\s]+'
ESCAPES <- c(b = "\b", f = "\f", n = "\n", r = "\r", t = "\t")
lines <- readLines("manifest.json", encoding = "UTF-8", warn = FALSE)
tokens <- unlist(regmatches(lines, gregexpr(TOKEN, lines, perl = TRUE)))
at <- 0

following <- function() tokens[at <<- at + 1]

unescaped <- function(part) {
  sign <- substr(part, 2, 2)
  if (!startsWith(part, "\\")) return(part)
  if (sign == "u") return(intToUtf8(strtoi(substr(part, 3, 6), 16)))
  if (sign %in% names(ESCAPES)) ESCAPES[[sign]] else sign
}

plain <- function(token) {
  inside <- substr(token, 2, nchar(token) - 1)
  parts <- regmatches(inside, gregexpr("\\\\(?:u[0-9a-f]{4}|.)|[^\\\\]+", inside, perl = TRUE))[[1]]
  paste(vapply(parts, unescaped, ""), collapse = "")
}

value <- function() {
  token <- following()
  if (startsWith(token, '"')) return(plain(token))
  if (!token %in% c("{", "[")) return(switch(token, true = TRUE, false = FALSE, null = NA, as.numeric(token)))
  values <- list()
  keys <- c()
  while (!tokens[at + 1] %in% c("}", "]")) {
    if (tokens[at + 1] == ",") following()
    if (token == "{") {
      keys <- c(keys, plain(following()))
      following()
    }
    values[[length(values) + 1]] <- value()
  }
  following()
  names(values) <- keys
  values
}

layout <- value()[["layout"]]
name <- names(layout[["attributes"]])[1]  # or another one
facts <- layout[["attributes"]][[name]]
apart <- if (facts[["role"]] == "sensitive") "sensitive" else "quasi-identifiers"
file <- paste0(if (layout[["form"]] == "one-table") "data" else apart, ".csv")
data <- read.csv(file, colClasses = "character", check.names = FALSE, na.strings = character(0),
                 blank.lines.skip = FALSE, encoding = "UTF-8")
PART <- '"(?:[^"]|"")*"|[\\[(][^\\])]*[\\])]|[^,\\s][^,]*'

members <- function(label) {
  if (label %in% names(facts[["branches"]])) return(unlist(facts[["branches"]][[label]]))
  if (endsWith(label, " or missing")) return(c(members(sub(" or missing$", "", label)), ""))
  if (grepl("^\\[[^,]+, [^,]+[])]$", label)) {
    ends <- as.numeric(strsplit(substr(label, 2, nchar(label) - 1), ", ")[[1]])
    if (isTRUE(facts[["whole"]])) return(as.character(seq(ends[1], ends[2] - endsWith(label, ")"))))
    return(as.character(ends[1] + diff(ends) * (seq_len(100) - 0.5) / 100))
  }
  if (startsWith(label, "{")) {
    inside <- substr(label, 2, nchar(label) - 1)
    parts <- regmatches(inside, gregexpr(PART, inside, perl = TRUE))[[1]]
    quoted <- startsWith(parts, '"')
    parts[quoted] <- gsub('""', '"', substr(parts[quoted], 2, nchar(parts[quoted]) - 1))
    parts[parts == "missing"] <- ""
    return(unlist(lapply(parts, members)))
  }
  label
}

lists <- lapply(data[[name]], members)
values <- unlist(lists)
values[values == ""] <- "missing"
counts <- round(tapply(rep(1 / lengths(lists), lengths(lists)), values, sum), 2)
cat(paste(names(counts), counts, sep = "\t"), sep = "\n")
""".lstrip()


def readme(manifest: Manifest, n_records: int) -> str:
    """Explain how to read a published folder, from its manifest.

    Parameters
    ----------
    manifest
        What the folder says of itself.
    n_records
        How many records it has.
    """
    return "\n".join(_table_rows(manifest, n_records)) + "\n"


def _about(layout: LayoutFacts) -> str:
    """Say how many records the original has; of made-up ones, which leave nobody out, perhaps with noise."""
    if layout.type == "synthetic":
        return f"The original has about {layout.n_original:,} records."
    return f"The original has {layout.n_original:,} records; what was left out is in no file."


def _table_rows(manifest: Manifest, n_records: int) -> Iterator[str]:
    layout = manifest.layout
    first = singled_out(manifest, n_records)
    yield "# How to read this folder\n"
    yield f"{first}\n" if first.is_checked else f"{first} {_LABEL}\n"
    yield f"{_STANDS_FOR[layout.type]} {_about(layout)} {_LABEL}\n"
    if manifest.unverified.guarantee is not None:
        yield (
            "The release is differentially private. Epsilon, delta and what they rest on are in "
            f"`{MANIFEST}`, under `unverified`, `guarantee`. The publisher assumes that everyone may know "
            f"what stands there under `public`, also without the records. {_LABEL}\n"
        )
    yield from _data_lines(manifest)
    if layout.group is not None:
        yield (
            f"- `{layout.group}` is the group of a record. Sensitive values are told for groups: which "
            "record of a group has which of its values is not told, whatever stands side by side."
        )
    if layout.person is not None:
        yield (
            f"- `{layout.person}` is the same for all records of one person, and says nothing else. {_LABEL}"
        )
    yield "- `report.html`: what was measured, and who decided. `manifest.json`: the same for programs."
    yield (
        "- `sfumato verify FOLDER` checks every statement, but those that are marked as an unverified claim "
        "by the publisher: no reader can check them. `sfumato query FOLDER QUERY` answers.\n"
    )
    yield "## Cells\n"
    yield _LABELS
    branches = [name for name, facts in layout.attributes.items() if facts.branches]
    if branches:
        yield (
            f"Branches of the publisher's hierarchies stand in {joined(f'`{name}`' for name in branches)}. "
            "What each stands for is in `manifest.json`, under `layout`, `attributes`, the attribute, "
            "`branches`, whether it occurs in the data or not; no value at all is an empty text. "
            f"{_LABEL}\n"
        )
    whole = [name for name, facts in layout.attributes.items() if facts.whole]
    if whole:
        yield f"All numbers of {joined(f'`{name}`' for name in whole)} are whole. {_LABEL}\n"
    name = next(iter(layout.attributes))
    yield "## Without sfumato\n"
    yield (
        f"This counts the records with each value of `{name}`, all that a cell may stand for taken as "
        "equally likely. It needs Python 3.9 and nothing else; run it in this folder.\n"
    )
    yield f"```python\n{_PYTHON}```\n"
    yield "The same in R, which needs no package:\n"
    yield f"```r\n{_R}```"


def _data_lines(manifest: Manifest) -> Iterator[str]:
    tables, parted = table_names(manifest.layout), partitioned_table(manifest)
    whole = "; `.parquet` holds the same" if parted is None or len(tables) > 1 else ""
    yield f"- {joined(f'`{name}.csv`' for name in tables)}: the data{whole}."
    if parted is not None:
        yield (
            f"- `{parted}/` holds the same as `{parted}.csv` in Parquet files, one folder for each value of "
            f"`{manifest.partition_by}`, which stands in the folder's name and not in the file."
        )
    for kind, facts in manifest.formats.items():
        renamed = joined(f"`{old}` is called `{new}` there" for old, new in facts.renamed.items())
        yield f"- `.{kind}` holds the same for {PROGRAMS[kind]}{'; ' if renamed else ''}{renamed}."
