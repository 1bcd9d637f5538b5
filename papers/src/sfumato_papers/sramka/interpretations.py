"""Declare the ambiguous passages of Sramka and others 2010.

The text is quoted by its sections; its pages have no numbers of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato_papers.interpretations import Ambiguity, Interpretation
from sfumato_papers.settings import Change

AVERAGE_AGES = (38, 39)
"""The ages next to the mean of all, 38.5, which five per cent of the people have."""
DRAWN = "celebrities=drawn"

CELLS = Ambiguity(
    "cells",
    "What does a miner see in a generalised cell?",
    "Our miners were the RandomForest, NaiveBayes, and J48 (C4.5 decision tree) classifiers with the default "
    "settings from the Weka 3.6.0 package.",
    "section 4.3",
    (
        Interpretation("labels", "each released label is a category of its own, whatever it stands for"),
        Interpretation("shares", "a released set is a share of each value in it, by the taxonomies"),
    ),
    "Weka reads a file with nominal attributes and knows no taxonomies.",
)
TRAINING = Ambiguity(
    "training",
    "Have the adversary's miners seen the record that they predict?",
    "An error reduction function … measures the reduction of the given sanitized value S(x)_j toward the "
    "original value x_j by considering the prediction … M(S(DB), S(x)). [And in section 4.3, of the user:] "
    "We used the Weka's default 10-fold cross-validation to evaluate the accuracy and compute the utility.",
    "sections 2.4 and 4.3",
    (
        Interpretation("all", "they are trained on the whole release, S(DB), and predict its records"),
        Interpretation(
            "others", "each record is predicted by miners that were trained without it, in ten folds"
        ),
    ),
    "The formula says so, an adversary who has the release has no reason to leave a part of it out, and "
    "folds are stated for the user only.",
)
CELEBRITIES = Ambiguity(
    "celebrities",
    "Who are the five per cent of scenario C?",
    "(C) a selected 2261 (5%) individuals, that is, the owner chooses the weight v(x) = 1 for them and v(x) "
    "= 0 for the rest of the population. [And in section 2.4:] a selected few people (say, famous people or "
    "celebrities).",
    "sections 4.4 and 2.4",
    (
        Interpretation("graduates", "those with a graduate degree and a high salary: 2,384 people"),
        Interpretation("average", "those whose age is next to the average: 38 or 39, 2,380 people"),
        Interpretation(
            "drawn", "people drawn at random: in expectation the same share of them as of everybody"
        ),
    ),
    "It comes nearest to famous people with what the table tells. Neither of the others fits all of table 2: "
    "drawn people would have had 5 per cent of the nearer predictions under k-anonymity, not 62 to 74, and "
    "those of average age are the ones of whom saying the mean is nearer than nearly any noise, for up to "
    "2,261 of 2,261.",
)
LOWEST_AGES = Ambiguity(
    "lowest-ages",
    "Is an age released as it is where a whole cluster has the same?",
    "the values of the attribute age were generalized into intervals of length 5 (0-4, 5-9, ...), then into "
    "length 10. [And in section 4.4:] the original age values were generalized into intervals, and miners "
    "were only able to learn and predict shorter intervals but not particular values.",
    "sections 4.2 and 4.4",
    (
        Interpretation("intervals", "never: five years are the least"),
        Interpretation(
            "exact", "yes, as the algorithm of Byun and others generalizes no more than a cluster needs"
        ),
    ),
    "Scenario B of table 2 is 0 for every miner and every k, which it could not be if ages were released.",
)
AGE_WIDTHS = Ambiguity(
    "age-widths",
    "Which intervals do ages become?",
    "into intervals of length 5 (0-4, 5-9, ...), then into length 10 (0-9, 10-19, ...), then into length 20 "
    "(0-19, 20-39, ...), then into length 50 (0-49, 50-99) and finally suppressed into length 100 (0-99).",
    "section 4.2",
    (
        Interpretation("twenty", "5, 10 and 20 years, then all"),
        Interpretation("fifty", "5, 10 and 50 years, then all"),
        Interpretation("own", "the smallest interval that holds the ages of a cluster"),
    ),
    "These are no taxonomy: 40-59 lies in neither 0-49 nor 50-99, so that one of both lengths must go. "
    "Twenty years keep more.",
)
AMBIGUITIES = (CELLS, TRAINING, CELEBRITIES, LOWEST_AGES, AGE_WIDTHS)


def _by_shares(document: Any) -> None:
    for scenario in document["scenarios"].values():
        scenario["cells"] = "shares"


def _out_of_fold(document: Any) -> None:
    for scenario in document["scenarios"].values():
        scenario["adversary"]["trained-on"] = "others"


def _of_average_age(document: Any) -> None:
    """Weigh by the age, and leave out what does not speak of the selected people."""
    sign = '"' if document["attributes"]["age"]["kind"] == "categorical" else ""
    ages = (f"{sign}{age}{sign}" for age in AVERAGE_AGES)
    document["scenarios"]["C"]["adversary"]["weights"] = f"if(age in ({', '.join(ages)}), 1, 0)"
    for name in ("A", "B"):
        del document["scenarios"][name]
    document["measure"]["privacy"] = [{"anti-utility": {"scenario": "C"}}]
    document["measure"]["utility"] = ["suppression-loss"]


def _exact_ages(document: Any) -> None:
    del document["attributes"]["age"]["lowest-level"]


def _fifty_years(document: Any) -> None:
    """Put the intervals of ten years into two of fifty."""
    written = document["attributes"]["age"]["hierarchy"]["tree"]
    tens = {ten: fives for twenty in written.values() for ten, fives in twenty.unwrap().items()}
    document["attributes"]["age"]["hierarchy"]["tree"] = {
        wide: {ten: fives for ten, fives in tens.items() if low <= int(ten.partition("-")[0]) < low + 50}
        for wide, low in (("0-49", 0), ("50-99", 50))
    }


def _own_intervals(document: Any) -> None:
    document["attributes"]["age"] = {"role": "quasi-identifying", "kind": "numeric"}


OF_ANONYMITY: Mapping[str, Change] = {
    "cells=shares": _by_shares,
    "training=others": _out_of_fold,
    "celebrities=average": _of_average_age,
    "lowest-ages=exact": _exact_ages,
    "age-widths=fifty": _fifty_years,
    "age-widths=own": _own_intervals,
}
"""What the interpretations change in the half about k-anonymity; drawn people need no experiment."""
OF_NOISE: Mapping[str, Change] = {
    "training=others": _out_of_fold,
    "celebrities=average": _of_average_age,
}
"""What they change in the half about noise, where nothing is generalised."""
