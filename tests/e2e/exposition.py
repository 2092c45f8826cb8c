"""Prometheus' text format, version 0.0.4, read strictly: what it allows and we do not use is an
error, and so is every slip that a lenient reader forgives.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import re
from dataclasses import dataclass, field

from kraken_client import KrakenClient

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
HELP = re.compile(rf"# HELP ({NAME}) ((?:[^\\\n]|\\\\|\\n)+)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')
SERIES = re.compile(rf"({NAME})(?:\{{(.+)\}})? (\S+)")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?|[+-]Inf|NaN")

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Malformed(AssertionError):
    """The page is not what a strict reader takes."""


Labels = tuple[tuple[str, str], ...]


@dataclass
class Family:
    name: str
    help: str
    type: str = ""
    values: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def suffixes(self) -> set[str]:
        return {"_bucket", "_sum", "_count"} if self.type == "histogram" else {""}


class Page:
    """One scrape."""

    def __init__(self, text: str):
        self.families: dict[str, Family] = {}
        self._read(text)
        for family in self.families.values():
            if family.type == "histogram":
                _check_histogram(family)
            if (family.type == "counter") != family.name.endswith("_total"):
                raise Malformed(f"{family.name} is a {family.type}")
            if family.type == "counter" and min(family.values.values(), default=0) < 0:
                raise Malformed(f"{family.name} is negative")

    def value(self, name: str, **labels: str) -> float:
        """One series; of a histogram ask <name>_count or <name>_sum."""
        family = self.families.get(name) or self.families[re.sub("_(count|sum)$", "", name)]
        return family.values[name, tuple(sorted(labels.items()))]

    def total(self, name: str, **labels: str) -> float:
        """Of all series with these labels."""
        wanted = set(labels.items())
        family = self.families.get(name) or self.families[re.sub("_(count|sum)$", "", name)]
        return sum(value for (series, has), value in family.values.items()
                   if series == name and wanted <= set(has))

    def series(self) -> set[tuple[str, Labels]]:
        return {key for family in self.families.values() for key in family.values}

    def _read(self, text: str) -> None:
        if not text.endswith("\n"):
            raise Malformed("the last line has no end")
        current = None
        for line in text[:-1].split("\n"):
            if match := HELP.fullmatch(line):
                name, what = match.groups()
                if name in self.families:
                    raise Malformed(f"{name} has HELP twice, or its series are scattered")
                current = self.families[name] = Family(name, what)
            elif match := TYPE.fullmatch(line):
                if current is None or match[1] != current.name or current.type or current.values:
                    raise Malformed(f"TYPE out of place: {line}")
                current.type = match[2]
            elif (match := SERIES.fullmatch(line)) and NUMBER.fullmatch(match[3]):
                if current is None or not current.type:
                    raise Malformed(f"a series without HELP and TYPE: {line}")
                if match[1] not in {current.name + suffix for suffix in current.suffixes()}:
                    raise Malformed(f"a series of another family than {current.name}: {line}")
                key = match[1], _labels(match[2])
                if key in current.values:
                    raise Malformed(f"twice: {line}")
                current.values[key] = float(match[3])
            else:
                raise Malformed(f"no line of this format: {line!r}")


def scrape(client: KrakenClient) -> Page:
    answer = client.request("GET", "/metrics")
    assert answer.status == 200, answer
    assert answer.header("Content-Type") == CONTENT_TYPE
    return Page(answer.body.decode("utf-8"))


def _labels(text: str | None) -> Labels:
    labels, at = {}, 0
    while text is not None and at < len(text):
        match = LABEL.match(text, at)
        if match is None or match[1] in labels:
            raise Malformed(f"labels: {text}")
        labels[match[1]] = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        at = match.end()
        if at < len(text):
            if text[at] != "," or at + 1 == len(text):
                raise Malformed(f"labels: {text}")
            at += 1
    return tuple(sorted(labels.items()))


def _check_histogram(family: Family) -> None:
    """Buckets rise and are cumulative, and the one of +Inf is the count."""
    buckets: dict[Labels, list[tuple[float, float]]] = {}
    for (series, labels), value in family.values.items():
        if series.endswith("_bucket"):
            rest = tuple(label for label in labels if label[0] != "le")
            buckets.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    counts = {labels: value for (series, labels), value in family.values.items()
              if series.endswith("_count")}
    sums = {labels for series, labels in family.values if series.endswith("_sum")}
    if not buckets.keys() == counts.keys() == sums:
        raise Malformed(f"{family.name}: not every histogram has buckets, sum and count")
    for labels, of_one in buckets.items():
        if of_one != sorted(of_one) or of_one[-1][0] != float("inf"):
            raise Malformed(f"{family.name}: buckets are out of order, or +Inf is missing")
        if sorted(value for _, value in of_one) != [value for _, value in of_one]:
            raise Malformed(f"{family.name}: buckets are not cumulative")
        if of_one[-1][1] != counts[labels]:
            raise Malformed(f"{family.name}: +Inf is not the count")
