"""What the papers say: every sentence of the data file is put to the test, and of the right paper."""

from importlib.resources import files

import pytest

from sfumato_papers.quotations import Quotation, quotation, quotations
from sfumato_papers.run import PAPERS

SOURCES = files("sfumato_papers")


def code_of(paper: str) -> str:
    """Return the code of a paper, and the rows of its published figures, which name some sentences."""
    own = [each.read_text() for each in (SOURCES / paper).iterdir() if each.name.endswith(".py")]
    return "\n".join([*own, (SOURCES / "published.toml").read_text()])


@pytest.mark.parametrize("paper", quotations())
def test_every_sentence_of_a_paper_is_put_to_the_test(paper: str) -> None:
    code = code_of(paper)
    assert not [key for key in quotations()[paper] if f'"{key}"' not in code]


def test_only_papers_have_their_words_and_each_says_where() -> None:
    assert set(quotations()) == set(PAPERS) - {"all-papers"}
    every = [quotation(paper, key) for paper, keys in quotations().items() for key in keys]
    assert all(each.words and each.source for each in every)
    assert len({each.words for each in every}) == len(every)


def test_a_sentence_that_is_not_in_the_file_is_an_error() -> None:
    assert quotation("dewri", "(20, 4)") == Quotation(
        "For a good balance between the two desired privacy properties, say the data publisher chooses the "
        "(20, 4)-safe solution.",
        "section 7.4",
        repeated=True,
    )
    with pytest.raises(KeyError):
        quotation("dewri", "(20, 40)")
