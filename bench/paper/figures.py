"""What the pages of scripts/paper are made from: the figures of its studies, tables, and sentences that must hold."""

import collections
import pathlib

Figure = collections.namedtuple("Figure", "mean spread seeds")


class Figures:
    """study, series, x, metric -> mean, standard deviation over seeds, seeds."""

    def __init__(self, folder):
        self.all = {}
        self.broken = []  # sentences that the figures contradict
        for path in sorted(pathlib.Path(folder).glob("*.tsv")):
            for line in path.read_text(encoding="utf-8").splitlines():
                study, series, x, metric, mean, spread, seeds = line.split("\t")
                self.all[study, series, float(x), metric] = Figure(float(mean), float(spread), int(seeds))

    def has(self, study):
        return any(key[0] == study for key in self.all)

    def at(self, study, series, x, metric):
        return self.all[study, series, float(x), metric]

    def mean(self, study, series, x, metric):
        return self.at(study, series, x, metric).mean

    def series(self, study):
        return list(dict.fromkeys(key[1] for key in self.all if key[0] == study))

    def points(self, study, series, metric):
        return [(x, figure.mean, figure.spread) for (one, name, x, kind), figure in sorted(self.all.items())
                if (one, name, kind) == (study, series, metric)]

    def show(self, study, series, x, metric, digits=3):
        found = self.at(study, series, x, metric)
        spread = f" ± {found.spread:.{digits}f}" if found.seeds > 1 and found.spread >= 0.5 * 10**-digits else ""
        return f"{found.mean:.{digits}f}{spread}"

    def claim(self, holds, sentence):
        """The sentence if it holds. Else nothing, and report.py fails at its end and says which it was."""
        if holds:
            return sentence
        self.broken.append(" ".join(sentence.split()))
        return ""


def table(heads, rows, numeric=None):
    out = ["| " + " | ".join(heads) + " |", "|" + "|".join("---:" if numeric and i in numeric else "---"
                                                            for i in range(len(heads))) + "|"]
    return "\n".join(out + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def points_of(*sentences):
    """A list of those that are not empty, wrapped as the page is."""
    return "\n".join("- " + wrapped(one, "  ") for one in sentences if one.strip()) + "\n"


def wrapped(text, indent="", width=118):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return ("\n" + indent).join(lines + [line])


def signed(number, digits=3):
    return f"{number:+.{digits}f}".replace("-", "−")


def lines(panel, figures, study, metric, names, first=0):
    for index, name in enumerate(names):
        panel.add(first + index, figures.points(study, name, metric))
    return panel


RECALL = [0, .2, .4, .6, .8, 1]
