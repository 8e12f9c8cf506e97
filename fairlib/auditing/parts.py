"""All tables of an audit, each computed when it is first asked for.

Every table that makes claims gets its share of the promise of the whole page, so that
all claims together keep it (`shares`). `claims` lists them in one table: whatever the
page says, and the exit status of the command, is read off it.
"""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from pandas import DataFrame

from fairlib.auditing.changes import changes
from fairlib.auditing.compared import Compared
from fairlib.auditing.gap_changes import gap_changes
from fairlib.auditing.local_law_144 import local_law_144
from fairlib.auditing.odds import equalized_odds
from fairlib.auditing.own_rates import outcomes, own_rates
from fairlib.auditing.probabilities import (
    calibration,
    calibration_test,
    thresholds,
)
from fairlib.auditing.questions import Questions
from fairlib.auditing.selection import selection
from fairlib.auditing.shares import shares_of_alpha
from fairlib.auditing.strata import strata
from fairlib.auditing.summary import summarize

# The columns of `Parts.claims`.
CLAIMS = ("part", "question", "attribute", "name", "class", "verdict")


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """The tables of an audit.

    Attributes
    ----------
    compared : Compared
        All comparisons of groups.
    progress : bool
        Whether to show a bar on the error stream where a table takes more than 2 s.
    """

    compared: Compared
    progress: bool = False

    @property
    def questions(self) -> Questions:
        """What is asked, and the counts that answer it."""
        return self.compared.questions

    @property
    def comparisons(self) -> DataFrame:
        """One row per comparison, as of `Report.to_frame`."""
        return self.compared.rows

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share of alpha that each part has."""
        return shares_of_alpha(self.questions.counts)

    @cached_property
    def metrics(self) -> DataFrame:
        """The fairness metrics of the literature, for each attribute."""
        # Where strata or weights leave them out, their notes say so.
        share = self.shares["metrics"] or 1.0
        return summarize(self.questions, share=share, progress=self.progress)

    @cached_property
    def odds(self) -> DataFrame | None:
        """Equalized odds as one number for each attribute; None without labels."""
        if not self.shares["odds"]:
            return None
        return equalized_odds(self.questions, share=self.shares["odds"])

    @cached_property
    def calibration_test(self) -> DataFrame | None:
        """Whether probabilities mean the same in all groups; None without them."""
        if not self.shares["calibration"]:
            return None
        return calibration_test(self.questions, share=self.shares["calibration"])

    @cached_property
    def outcomes(self) -> DataFrame | None:
        """Whether the outcome is as frequent in each group; None without labels."""
        return outcomes(self.questions, share=self.shares["outcomes"])

    @cached_property
    def selection(self) -> DataFrame | None:
        """How often each group gets the favourable prediction."""
        return selection(self.questions, share=self.shares["selection"])

    @cached_property
    def changes(self) -> DataFrame | None:
        """How the rates of each group change with the other model; None without it."""
        return changes(self.questions, share=self.shares["changes"])

    @cached_property
    def gap_changes(self) -> DataFrame | None:
        """How the gaps between groups change with the other model."""
        return gap_changes(self.questions, share=self.shares["gap_changes"])

    @cached_property
    def groups(self) -> DataFrame:
        """The rates of each group, each with an interval."""
        return own_rates(self.questions)

    @cached_property
    def strata(self) -> DataFrame | None:
        """The comparisons in each stratum; None without strata."""
        return strata(self.questions)

    @cached_property
    def local_law_144(self) -> DataFrame | None:
        """The tables of Local Law 144, if they were asked for."""
        return local_law_144(self.questions)

    @cached_property
    def calibration(self) -> DataFrame | None:
        """How often the class occurs at each level of its probability, by group."""
        return calibration(self.questions)

    @cached_property
    def thresholds(self) -> DataFrame | None:
        """The rates of each group at other thresholds."""
        return thresholds(self.questions)

    @cached_property
    def claims(self) -> DataFrame:
        """Whatever the audit claims or does not claim, one row each.

        The columns are `CLAIMS`: the part of the page, the question (errors, selection,
        mix, cost, calibration), the attribute, the name of the rate or metric, its
        class, and the verdict.
        """
        comparisons = self.comparisons.assign(part="comparisons")
        tables = [comparisons.rename(columns={"rate": "name"})]
        tables.append(self._of_metrics())
        if self.odds is not None:
            odds = self.odds.assign(
                part="odds", question="errors", name="equalized odds"
            )
            tables.append(odds)
        if self.calibration_test is not None:
            test = self.calibration_test.assign(
                part="calibration", question="calibration", name="calibration"
            )
            tables.append(test)
        if self.gap_changes is not None:
            gaps = self.gap_changes.assign(part="gap changes")
            tables.append(gaps.rename(columns={"rate": "name"}))

        columns = [table.reindex(columns=CLAIMS) for table in tables if len(table)]
        return pd.concat(columns, ignore_index=True)

    def _of_metrics(self) -> DataFrame:
        """Return the claims of the metrics of the literature."""
        return self.metrics.assign(part="metrics").rename(columns={"metric": "name"})

    def looked_at(self) -> DataFrame:
        """Return the claims that decide the exit status of the command.

        With labels these are errors, calibration and costs; selection and mixes only
        if they were asked for by name. Gaps count if the other model widens them.
        """
        kinds = {*self.questions.looked_at(), "calibration"}
        claims = self.claims[self.claims["question"].isin(kinds)]
        if self.gap_changes is None:
            return claims

        is_gap = claims["part"] == "gap changes"
        is_worse = self.gap_changes["direction"] != "narrower"
        gaps = self.gap_changes[is_worse & self.gap_changes["question"].isin(kinds)]
        of_gaps = gaps.assign(part="gap changes").rename(columns={"rate": "name"})
        return pd.concat(
            [claims[~is_gap], of_gaps.reindex(columns=CLAIMS)], ignore_index=True
        )
