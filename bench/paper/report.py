#!/usr/bin/env python3
"""Turns the figures that scripts/paper collected into results.md and the plots beside it.

usage: bench/paper/report.py FOLDER      FOLDER holds one .tsv for each study"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from figures import RECALL, Figures, lines, points_of, table, wrapped  # noqa: E402
from machine import describe  # noqa: E402
from plot import Axis, Panel, dots, figure  # noqa: E402
from report_real import embeddings, streams  # noqa: E402

# What the paper prints, and what a NumPy simulation found before this library.
TABLE_ONE = {
    "dpcache": ("1.000 @ 64", "1.000 @ 64.0"), "full attention": ("1.00 @ 256", "1.000 @ 256"),
    "kNN / Memorizing (top 32)": ("", "1.000 @ 256"), "recency": (".71 ± .03", ".705 ± .010"),
    "StreamingLLM (4 sinks)": ("", ".704"), "H2O (no recent)": (".92 ± .02", ".965"),
    "H2O (B/8 recent)": (".92 ± .02", ".907"), "H2O (B/4 recent)": (".92 ± .02", ".862"),
    "SnapKV": ("", ".607"), "TOVA": ("", ".554"), "clustered attention (k-means, B)": ("", ".79"),
    "linear attention, d = 32": (".82 ± .02 (\"SSM\")", ".818 ± .017")}
# The simulation run again, on 2026-12-01, with as many episodes as here (table 1; it had ten a seed), and with as many
# streams (frontier; it had five): mean and spread over seeds; B and what was found there.
TABLE_ONE_AGAIN = {"H2O (no recent)": (.968, .004), "H2O (B/8 recent)": (.910, .003), "H2O (B/4 recent)": (.857, .005),
                   "SnapKV": (.614, .006), "TOVA": (.558, .008), "clustered attention (k-means, B)": (.797, .011)}
FRONTIER_AGAIN = {("frontier_uniform", "dpcache"): {32: .534, 48: .770, 64: 1},
                  ("frontier_uniform", "H2O (B/8 recent)"): {32: .515, 48: .721, 64: .885},
                  ("frontier_uniform", "recency"): {32: .454, 48: .600, 64: .706},
                  ("frontier_uniform", "SnapKV"): {32: .398, 48: .498, 64: .611},
                  ("frontier_zipf", "dpcache"): {128: .530, 256: 1},
                  ("frontier_zipf", "H2O (B/8 recent)"): {128: .346, 256: .538},
                  ("frontier_zipf", "recency"): {128: .299, 256: .438}}


def table_one(figures):
    rows, drawn = [], []
    for name in figures.series("table1"):
        x = 32 if name.endswith("32") else 64
        recall = figures.at("table1", name, x, "recall")
        slots, floats = (figures.at("table1", name, x, metric).mean for metric in ("slots", "floats"))
        paper, simulated = TABLE_ONE.get(name, ("", ""))
        rows.append([name, f"{recall.mean:.3f} ± {recall.spread:.3f}", f"{slots:.0f}", f"{floats:,.0f}", paper,
                     simulated])
        style = 0 if name == "dpcache" else 6 if slots > 200 and floats > 10000 else 2 if floats < 3000 else 1
        drawn.append((name, recall.mean, recall.spread, style, (f"{slots:.0f}", f"{floats:,.0f}")))
    dots(HERE / "table1.svg", "64 items × 4, no noise", sorted(drawn, key=lambda row: (-row[1], row[0])),
         Axis(0, 1, "recall (mean ± sd over 10 seeds)", [0, .2, .4, .6, .8, 1]), ["slots", "floats"])
    return f"""## Table 1: what each mechanism keeps of 64 items seen 4 times

![Recall of every mechanism, beside its slots and floats](table1.svg)

ρ = 0, s* = .5, a budget B of 64 for those that have one, 10 seeds of 20 episodes; the spread is that of the seeds'
means. Circle: dpcache; crosses: all tokens kept; squares: a budget of 64; triangles: a fixed state.

{table(["mechanism", "recall", "slots", "floats", "paper", "simulated"], rows, {2, 3})}
{table_one_remarks(figures)}"""


def first_number(text):
    return float(re.search(r"\d*\.?\d+", text).group())


def table_one_remarks(figures):
    def recall(name, x=64):
        return figures.mean("table1", name, x, "recall")

    asked = 12800
    missed = round((1 - recall("dpcache")) * asked)
    again = {name: (figures.at("table1", name, 64, "recall"), *told) for name, told in TABLE_ONE_AGAIN.items()}
    first = max(abs(recall(name) - first_number(TABLE_ONE[name][1])) for name in again)
    apart = max(abs(here.mean - mean) for here, mean, _ in again.values())
    h2o = "H2O (B/8 recent)"
    keep_all = ("Landmark-like (blocks of 16, best 4)", "EM-LLM-like (best 4 events)")
    ranked = [figures.mean("noise", "Kanerva (B rows)", rho, "recall") for rho in (0, .3, .5, .7, 1)]
    return points_of(
        figures.claim(recall("dpcache") == recall("leader clustering"), f"""dpcache misses in {missed} of {asked:,}
            questions: {"now and then two of 64 random keys are .5 alike, and share a slot." if missed else ""} Leader
            clustering, written apart, misses the same."""),
        figures.claim(all(abs(here.mean - mean) <= here.spread + spread for here, mean, spread in again.values()), f"""H2O,
            SnapKV, TOVA and k-means are up to {first:.3f} from the simulation's figures, which are of ten episodes a seed.
            Run again with twenty, as here, the simulation has
            {", ".join(f"{mean:.3f}" for _, mean, _ in again.values())} for these six rows, at most {apart:.3f} away and
            within the spreads of both. How copies of an item tie, without noise, is not it: with similarities rounded so
            that they tie exactly the simulation has the same figures."""),
        figures.claim(recall("H2O (no recent)") > .92 > recall(h2o), """H2O depends on how many of the latest tokens it
            is made to keep; the paper's .92 lies between 0 and 8 of them."""),
        figures.claim(recall("linear attention") > recall("linear attention, d = 32", 32) + .05 and
                      recall("diagonal SSM (64 states)") < .15, """The paper's "SSM (32)" is a linear attention with
            keys of 32 floats. With 64 it recalls more; a diagonal state, which adds keys and values instead of
            multiplying them, cannot answer at all."""),
        figures.claim(recall("neural episodic control") > .9995 and
                      figures.mean("noise", "neural episodic control", .5, "recall") <
                      figures.mean("noise", "recency", .5, "recall") and ranked == sorted(ranked, reverse=True),
                      """Episodic control is perfect because exact repeats overwrite. With noise there are none, and
            it holds what a recency window holds; its broad kernel then reads less out of it. Kanerva's memory fades
            with noise as well: see below."""),
        """Mechanisms with parameters (selective scan, product keys, Titans, Kanerva's addresses) run untrained, with
            random projections and one setting for all studies. Trained they would do better; these rows are their
            mechanism only.""",
        figures.claim(all(recall(name) < 1 for name in keep_all), """Landmark- and EM-LLM-like keep every token. Their
            misses are blocks whose mean key does not show what is in them."""))


def frontier(figures):
    names = figures.series("frontier_uniform")
    panels = [Panel("uniform: 64 items × 4", Axis(16, 192, "budget (entries)", [16, 32, 64, 128, 192], 2),
                    Axis(0, 1.02, "recall", RECALL)),
              Panel("Zipf: 256 items, 4,096 elements", Axis(32, 512, "budget (entries)", [32, 64, 128, 256, 512], 2),
                    Axis(0, 1.02, "recall", RECALL))]
    for panel, study in zip(panels, ("frontier_uniform", "frontier_zipf")):
        for index, name in enumerate(names):
            points = figures.points(study, name, "recall")
            if points:
                panel.add(index, points)
    figure(HERE / "frontier.svg", panels, list(enumerate(names)))
    known = {"dpcache": (".537, .766, 1.000", ".525, 1.000"), "H2O (B/8 recent)": (".487, .713, .872", ".340, .525"),
             "recency": (".444, .597, .694", ".290, .439"), "SnapKV": (".384, .497, .594", "")}
    rows = []
    for name in names:
        uniform = ", ".join(figures.show("frontier_uniform", name, b, "recall") for b in (32, 48, 64))
        zipf = ", ".join(figures.show("frontier_zipf", name, b, "recall") for b in (128, 256)) \
            if figures.points("frontier_zipf", name, "recall") else ""
        first, second = known.get(name, ("", ""))
        rows.append([name, uniform, first, zipf, second])
    return f"""## Frontier: recall for a budget

![Recall against the budget, uniform and Zipf](frontier.svg)

ρ = .3, s* = .6; 20 seeds. dpcache drops its least used slot.

{table(["mechanism", "uniform, B = 32, 48, 64", "simulated", "Zipf, B = 128, 256", "simulated"], rows)}
{frontier_remarks(figures)}"""


def frontier_remarks(figures):
    def recall(name, budget, study="frontier_uniform"):
        return figures.mean(study, name, budget, "recall")

    whole = "H2O (no recent)"
    apart = max(abs(recall("dpcache", budget) - recall(whole, budget)) for budget in (16, 24, 32, 40, 48, 56))
    again = [(figures.at(study, name, budget, "recall"), known) for (study, name), known_at in FRONTIER_AGAIN.items()
             for budget, known in known_at.items()]
    off = max(abs(here.mean - known) for here, known in again)

    def uniform(name, study="frontier_uniform"):
        return ", ".join(f"{known:.3f}" for known in FRONTIER_AGAIN[study, name].values())

    def zipf_told(name):
        return uniform(name, "frontier_zipf")

    zipf = {name: recall(name, 256, "frontier_zipf") for name in figures.series("frontier_zipf")}
    kmeans = "clustered attention (k-means, B)"
    return points_of(
        figures.claim(apart <= .05 and min(recall("dpcache", budget) for budget in (64, 96, 128, 192)) == 1 and
                      recall(whole, 64) < 1, f"""Below 64 entries no mechanism can hold 64 items, and H2O without a
            window and dpcache are within {apart:.3f} of each other. From 64 on dpcache holds every item, and H2O spends
            entries on repeats."""),
        figures.claim(all(abs(here.mean - known) <= here.spread for here, known in again), f"""The simulation's figures are
            of five streams; its H2O keeps B/8 recent tokens. Run again with 20 streams, as here, it has {uniform("dpcache")}
            for dpcache, {uniform("H2O (B/8 recent)")} for H2O, {uniform("recency")} for recency and {uniform("SnapKV")} for
            SnapKV; under Zipf {zipf_told("dpcache")}, {zipf_told("H2O (B/8 recent)")} and {zipf_told("recency")} for the first
            three. All of ours are within {off:.3f} of that, less than one standard deviation over streams."""),
        figures.claim(min(zipf, key=zipf.get) == "TOVA", """TOVA drops what the latest key attends to least. Under Zipf
            the latest key is mostly a popular one, and rare items go."""),
        figures.claim(zipf[whole] < zipf[kmeans] < zipf["dpcache"] - .2 and all(
            recall(kmeans, budget) > recall("dpcache", budget) for budget in (16, 24, 32)), f"""k-means sees the whole
            stream before it chooses, and is the best up to 32 entries for 64 items. Under Zipf it has 256 centres for 256 items and
            recalls {zipf[kmeans]:.3f}, little more than H2O ({zipf[whole]:.3f}): random tokens as first centres are mostly
            popular items."""))


def plateau(figures):
    names = figures.series("plateau")
    ticks = [.2, .4, .6, .8, .95]
    panels = [Panel("recall", Axis(.2, .95, "least similarity s* = 1 − τ", ticks), Axis(0, 1.02, "recall", RECALL)),
              Panel("slots", Axis(.2, .95, "least similarity s* = 1 − τ", ticks),
                    Axis(.1, 30, "slots per distinct item", [.1, .3, 1, 3, 10, 30], 10))]
    lines(panels[0], figures, "plateau", "recall", names)
    lines(panels[1], figures, "plateau", "slots an item", names)
    figure(HERE / "plateau.svg", panels, list(enumerate(names)))
    simulated = {("log-normal", .4): ".960", ("log-normal", .5): ".998", ("log-normal", .6): "1.000",
                 ("log-normal", .7): "1.000", ("log-normal", .8): "1.000", ("log-normal", .9): "1.86 slots",
                 ("uniform", .4): ".987",
                 ("uniform", .9): "2.25 slots", ("Zipf", .4): ".971", ("Zipf", .9): "1.81 slots"}
    rows = [[name, f"{least:g}", figures.show("plateau", name, least, "recall"),
             figures.show("plateau", name, least, "slots an item"), simulated.get((name, least), "")]
            for name in names for least in (.3, .4, .5, .6, .7, .8, .9, .95)]
    return f"""## Plateau: the threshold hardly matters

![Recall and slots against the threshold](plateau.svg)

631 items, 18,087 elements, ρ = .3, 5 seeds. Two noisy copies of an item have a cosine of about .92: nearer than that
and copies open slots of their own.

{table(["popularity", "s*", "recall", "slots an item", "simulated"], rows, {1})}
{plateau_remark(figures)}
"""


def plateau_remark(figures):
    flat = [figures.mean("plateau", name, least, metric) for name in figures.series("plateau")
            for least in (.5, .6, .7, .8) for metric in ("recall", "slots an item")]
    return figures.claim(all(abs(one - 1) <= .005 for one in flat), wrapped(f"""From s* = .5 to .8 recall and slots an
        item are between {min(flat):.3f} and {max(flat):.3f} whatever the popularity. Items in random directions do not
        overlap; where real ones do there is no plateau (below)."""))


def growth(figures):
    names = figures.series("crp")
    left = Panel("Chinese restaurant", Axis(1, 100000, "customers N", [1, 10, 100, 1000, 10000, 100000], 10),
                 Axis(0, 100, "tables", [0, 20, 40, 60, 80, 100]))
    lines(left, figures, "crp", "tables", names)
    for name in names:
        left.add(6, figures.points("crp", name, "expected"), marks=False)
    right = Panel("64 items, uniform", Axis(0, 1024, "elements N", [0, 256, 512, 768, 1024]),
                  Axis(0, 70, "slots", [0, 16, 32, 48, 64]))
    right.add(3, figures.points("finite", "dpcache", "slots"))
    right.add(6, figures.points("finite", "dpcache", "expected"), marks=False)
    figure(HERE / "growth.svg", [left, right], list(enumerate(names)) + [(3, "dpcache, finite"), (6, "theory")])
    theory = {"alpha = 1": ("12.09", "12.0, slope .98"), "alpha = 5": ("50.03", "49.9, slope 4.93"),
              "alpha = 10": ("92.6", "93.6, slope 10.0")}
    rows = []
    for name in names:
        slots, tables = (figures.at("crp_memory", name, 10000, m).mean for m in ("slots", "tables"))
        rows.append([name, figures.show("crp", name, 100000, "tables", 1), theory[name][0],
                     figures.show("crp", name, 100000, "slope", 2), theory[name][1], f"{slots:.1f} = {tables:.1f}"])
    finite = ", ".join(figures.show("finite", "dpcache", n, "slots", 1) for n in (64, 256, 1024))
    return f"""## Growth: slots follow the distinct items

![Tables of a restaurant and slots of a finite vocabulary](growth.svg)

Left: 200 runs for each α, bars are standard deviations. {one_slot_a_table(figures)}

{table(["restaurant", "tables at N = 100,000", "theory", "slope on ln N", "simulated", "memory: slots = tables"], rows)}
Finite vocabulary, 20 seeds: {finite} slots after 64, 256 and 1,024 elements; 64·(1 − (63/64)ᴺ) is
{", ".join(f"{figures.mean('finite', 'dpcache', n, 'expected'):.1f}" for n in (64, 256, 1024))}.
"""


def one_slot_a_table(figures):
    names = figures.series("crp_memory")
    seeds = figures.at("crp_memory", names[0], 10000, "slots").seeds
    same = all(figures.mean("crp_memory", name, 10000, "equal") == seeds for name in names)
    return figures.claim(same, f"The memory in such a restaurant (d = 128, ρ = .3, s* = .5,\n"
                         f"10,000 customers, {seeds} seeds) opens one slot a table in every run.")


def budgets(figures):
    names = figures.series("budget_trace")
    panel = Panel("working sets of 6 and 30 in turn", Axis(0, 864, "elements", [0, 216, 432, 648, 864]),
                  Axis(0, 36, "slots", [0, 6, 12, 18, 24, 30, 36]))
    for index, name in enumerate(names):
        panel.add(index, figures.points("budget_trace", name, "slots"), marks=False)
    figure(HERE / "budgets.svg", [panel], list(enumerate(names)), marks=False)
    paper = {"6 and 30 fresh items in turn": (".89 @ 17.5, fixed .81 @ 16.5", ".896 ± .020 @ 17.1; fixed .839",
                                              ".896 @ 13.5: +.122"),
             "bursts": ("", "+.079", ".953 @ 13.0: +.103"), "one constant set of 18": ("", "−.004", ""),
             "one constant set of 30": ("", "+.006", ""), "fresh sets of 18": ("", "−.134", "+.022"),
             "fresh sets of 30": ("", "−.187", "")}
    rows = []
    for name in figures.series("budget"):
        cells = [name]
        for kind in ("adaptive", "ghost"):
            fixed = figures.at("budget", name, 0, f"{kind} fixed recall").mean
            recall = figures.at("budget", name, 0, f"{kind} recall").mean
            gain = f"{recall - fixed:+.3f}".replace("-", "−")
            cells.append(f"{figures.show('budget', name, 0, kind + ' recall')} @ "
                         f"{figures.at('budget', name, 0, kind + ' slots').mean:.1f}; fixed {fixed:.3f}: {gain}")
        rows.append([cells[0], cells[1], *paper[name][:2], cells[2], paper[name][2]])
    return f"""## Budgets that move

![Slots over time under three budgets](budgets.svg)

m0 = 6, β = 80, η = .05, γ = .95, s* = .5, ρ = .3, 20 seeds; the items seen in a phase are asked for at its end. "Fixed":
a fixed budget that holds as many slots on average.

{table(["stream", "surprise [eq. 4, 5]", "paper", "simulated", "ghost list", "simulated"], rows)}
{budget_remarks(figures)}"""


def budget_remarks(figures):
    def gain(stream, kind):
        return figures.mean("budget", stream, 0, f"{kind} recall") - \
            figures.mean("budget", stream, 0, f"{kind} fixed recall")

    turns = "6 and 30 fresh items in turn"
    fresh = ("fresh sets of 18", "fresh sets of 30")
    constant = ("one constant set of 18", "one constant set of 30")
    fixed = figures.mean("budget", turns, 0, "fixed 18 recall")
    same = figures.mean("budget", turns, 0, "adaptive fixed recall")
    return points_of(
        f"""Without a budget {figures.show("budget", turns, 0, "unbounded recall")} @
            {figures.mean("budget", turns, 0, "unbounded slots"):.1f} slots; fixed at 18
            {figures.show("budget", turns, 0, "fixed 18 recall")} @
            {figures.mean("budget", turns, 0, "fixed 18 slots"):.1f}.""",
        figures.claim(all(gain(name, "adaptive") < -.05 for name in fresh) and
                      all(abs(gain(name, "adaptive")) < .01 for name in constant) and
                      all(gain(name, "ghost") > 0 for name in fresh + constant),
                      """**Surprise loses on fresh sets of equal size**: it has cooled when a set's rarer items come.
            On a constant set it gains nothing. The ghost list, which is not the paper's, answers to what was lost, and
            loses on neither. On windows of real streams both are another matter: see below."""),
        figures.claim(.81 <= fixed + .02 and gain(turns, "adaptive") < .08, f"""The paper's fixed budget recalls .81 @
            16.5; ours of the same size {fixed:.3f} and of the adaptive one's average {same:.3f}: the gain is therefore
            {gain(turns, "adaptive"):.3f} where the paper's is .08."""))


def noise(figures):
    names = figures.series("noise")
    x = [0, .2, .4, .6, .8, 1]
    panels = [Panel("recall", Axis(0, 1, "noise ρ", x), Axis(0, 1.02, "recall", RECALL)),
              Panel("slots", Axis(0, 1, "noise ρ", x), Axis(0, 270, "slots or rows", [0, 64, 128, 192, 256]))]
    lines(panels[0], figures, "noise", "recall", names)
    lines(panels[1], figures, "noise", "slots", names)
    figure(HERE / "noise.svg", panels, list(enumerate(names)))
    rows = [[name] + [figures.show("noise", name, rho, "recall") for rho in (0, .3, .5, .7, 1)] +
            [figures.show("noise", name, .7, "slots", 1), f"{figures.mean('noise', name, .7, 'floats'):,.0f}"]
            for name in names]
    return f"""## Noise

![Recall and slots against noise](noise.svg)

64 items × 4, s* = .6, B = 64, 10 seeds.
{noise_remark(figures)}

{table(["mechanism", "ρ = 0", ".3", ".5", ".7", "1", "slots at .7", "floats at .7"], rows, {6, 7})}
"""


def noise_remark(figures):
    recalls = [figures.mean("noise", "dpcache", rho, "recall") for rho in (.7, 1)]
    full = [figures.mean("noise", "full attention", rho, "recall") for rho in (.7, 1)]
    slots = [figures.mean("noise", "dpcache", rho, "slots") for rho in (.5, .7, 1)]
    return figures.claim(all(a >= b - .005 for a, b in zip(recalls, full)) and slots[1] > 1.1 * slots[0] and
                         slots[2] > .8 * 256, wrapped(f"""Above ρ = .6 copies of an item are often less than .6 alike:
        dpcache then pays in slots, not in recall, and at ρ = 1 it keeps {slots[2]:.0f} of 256 tokens."""))


def fixed_state(figures):
    names = figures.series("fixed_state")
    panel = Panel("how many items a state holds", Axis(8, 512, "distinct items K", [8, 16, 32, 64, 128, 256, 512], 2),
                  Axis(0, 1.02, "recall", RECALL))
    lines(panel, figures, "fixed_state", "recall", names)
    figure(HERE / "fixed_state.svg", [panel], list(enumerate(names)))
    rows = [[name] + [figures.show("fixed_state", name, k, "recall") for k in (16, 64, 256, 512)] +
            [f"{figures.at('fixed_state', name, 512, 'floats').mean:,.0f}"] for name in names]
    simulated = {"SSM alone (an integrator and class counts)": (".15, R² ≥ .98", 1),
                 "attention over all tokens": ("1.00, .98 @ 72", 72), "dpcache alone": ("", 24),
                 "SSM + dpcache": ("1.00, .99 @ 24", 24)}
    hybrid = [[name, figures.show("hybrid", name, 24, "recall"), figures.show("hybrid", name, 24, "r2"),
               f"{figures.at('hybrid', name, 24, 'slots').mean:.0f}",
               f"{figures.at('hybrid', name, 24, 'floats').mean:,.0f}", simulated[name][0]]
              for name in figures.series("hybrid")]
    return f"""## States of a fixed size, and a hybrid

![Recall against the number of items](fixed_state.svg)

Each item × 4, d = 64, ρ = .3, s* = .6, 5 seeds.

{table(["mechanism", "K = 16", "64", "256", "512", "floats at 512"], rows, {5})}
The hybrid: 24 items × 3, ρ = .3, 3 seeds of 2,000 episodes. Beside recall, how many of the 72 tokens' flags were set:
R² of the best line from what is kept (1,500 episodes teach, 500 judge).

{table(["mechanism", "recall", "R² of the count", "slots", "floats", "simulated: recall, R²"], hybrid, {3, 4})}
{hybrid_remarks(figures)}"""


def hybrid_remarks(figures):
    fits = {name: figures.mean("hybrid", name, 24, "r2") for name in figures.series("hybrid")}
    recalls = {name: figures.mean("hybrid", name, 24, "recall") for name in figures.series("hybrid")}
    alone = next(name for name in fits if name.startswith("SSM alone"))
    both = "SSM + dpcache"
    expected = .1660  # of 24 items in 16 classes, the largest class's share: exact, by counting
    return points_of(
        figures.claim(abs(recalls[alone] - expected) < .002, f"""SSM alone answers with the class that came most often,
            which has {24 * expected:.2f} of 24 items on average: {expected:.3f}. Here all 24 are asked for, 500 times a
            seed. The simulation asked for one an episode, 1,500 in all: .149 with a standard error of .009, which is two
            of these below."""),
        figures.claim(fits[alone] > .9995 and fits[both] > .9995, """An integrator that is not trained counts exactly,
            hence 1.000 where trained models come to .98 and .99."""),
        figures.claim(fits["dpcache alone"] < fits[both] and recalls[alone] < .5 < recalls[both], """dpcache alone sees
            the flag of an item's first copy only. The two together do both."""))


def clustering(figures):
    rhos = (.1, .3, .5, .7)

    def rows(study):
        return [[name] + [f"{figures.show(study, name, rho, 'recall')} @ "
                          f"{figures.mean(study, name, rho, 'slots'):.1f}" for rho in rhos]
                for name in figures.series(study)]

    def recall(study, name, rho):
        return figures.mean(study, name, rho, "recall")

    heads = ["method", "ρ = .1", ".3", ".5", ".7"]
    studies = ("clustering", "clustering_zipf")
    one_pass = [recall(study, "dpcache, frozen keys", rho) for study in studies for rho in rhos]
    equal = {study: [recall(study, "k-means, M = K", rho) for rho in rhos] for study in studies}
    zipf_twice = max(recall("clustering_zipf", "k-means, M = 2K", rho) for rho in rhos)
    folded = [figures.mean(study, "dpcache, consolidated at the end", .7, "slots") for study in studies]
    opened = [figures.mean(study, "dpcache, frozen keys", .7, "slots") for study in studies]
    remarks = points_of(
        figures.claim(min(one_pass) > .99 and max(equal["clustering"]) < .95, """k-means from random tokens starts with
            two centres in some items and none in others, and stays there; one pass with a threshold cannot make that
            mistake."""),
        figures.claim(max(equal["clustering_zipf"]) < min(equal["clustering"]) and zipf_twice < .9, f"""Under Zipf it
            is far worse: most random tokens are copies of a few items. With M = K it recalls at most
            {max(equal["clustering_zipf"]):.3f}, with twice the centres at most {zipf_twice:.3f}."""),
        figures.claim(abs(folded[0] - 64) < .5 and abs(folded[1] - 256) < 2.5 and opened[0] > 70 and opened[1] > 270,
                      f"""At ρ = .7 the one pass opens duplicates, {opened[0]:.0f} slots for 64 items and
            {opened[1]:.0f} for 256; consolidation leaves {folded[0]:.1f} and {folded[1]:.1f}."""))
    return f"""## One pass against offline clustering

64 items × 8, s* = .6, 10 seeds; recall @ slots. k-means sees all tokens 25 times and must be told M.

{table(heads, rows("clustering"))}
The same with Zipf's popularity: 256 items, 4,096 elements, 5 seeds.

{table(heads, rows("clustering_zipf"))}
{remarks}"""


def weaknesses(figures):
    panel = Panel("40 items, each .75 alike to the last", Axis(.5, .9, "least similarity s*", [.5, .6, .7, .8, .9]),
                  Axis(0, 1.02, "recall; slots per item", RECALL))
    panel.add(0, figures.points("chain", "cosine .75", "recall"))
    panel.add(1, [(x, y / 40, spread / 40) for x, y, spread in figures.points("chain", "cosine .75", "slots")])
    figure(HERE / "chain.svg", [panel], [(0, "recall"), (1, "slots per item")])
    rows = []
    for name in figures.series("weakness"):
        slots = [figures.at("weakness", name, 0, metric).mean for metric in ("least slots", "slots", "most slots")]
        rows.append([name, f"{slots[0]:.0f} – {slots[2]:.0f}, mean {slots[1]:.1f}",
                     figures.show("weakness", name, 0, "recall"),
                     {"order, rho .3, frozen": "64 – 64", "order, rho .7, frozen": "90 – 104",
                      "order, rho .7, centroid": "65 – 77"}.get(name, "")])
    drift = [figures.at("drift", kind, 180, "slots").mean for kind in ("frozen", "centroid")]
    return f"""## Weaknesses: chains, drift, order

![Recall and slots of a chain against the threshold](chain.svg)

Chain of 40 items × 20, ρ = .1, 20 seeds, s* = .6: {figures.show("chain", "cosine .75", .6, "slots", 1)} slots, recall
{figures.show("chain", "cosine .75", .6, "recall")} (simulated: 16.4 and .44). {chain_remark(figures)} One item that turns by 180° in 2,000 steps, 10 seeds: {drift[0]:.0f} slots with frozen keys, {drift[1]:.0f} with
centroids (simulated: 4 and 2). {duplicates_remark(figures)}

The same 512 elements in 50 orders, s* = .6:

{table(["order", "slots", "recall", "simulated"], rows)}
"""


def duplicates_remark(figures):
    def show(when, metric):
        return figures.show("duplicates", when, 0, metric)

    before, after = "as they came", "consolidated"
    return figures.claim(figures.mean("duplicates", after, 0, "slots an item") < 1.01, f"""128 items × 16 with
ρ = .7, 5 seeds: {show(before, "slots an item")} slots an item, consolidated
{show(after, "slots an item")} (simulated: 1.81 and 1.00); recall {show(before, "recall")} and {show(after, "recall")}.""")


def chain_remark(figures):
    return figures.claim(figures.mean("chain", "cosine .75", .85, "recall") > .99,
                         "A threshold above the neighbours' .75 mends\nit.")


def cost(figures):
    names = figures.series("cost")
    x = Axis(4, 128, "repeats r of each of 64 items", [4, 8, 16, 32, 64, 128], 2)
    panel = Panel("time of one read", x, Axis(1, 1000, "µs", [1, 10, 100, 1000], 10))
    lines(panel, figures, "cost", "microseconds", names)
    figure(HERE / "cost.svg", [panel], list(enumerate(names)))
    rows = []
    for r in (4, 8, 16, 32, 64, 128):
        few, all_ = (figures.at("cost", name, r, "microseconds").mean for name in ("dpcache", "all tokens"))
        rows.append([str(r), str(64 * r), f"{few:.2f}", f"{all_:.1f}", f"{all_ / few:.1f}",
                     {4: "3", 128: "37"}.get(r, "")])
    return f"""## Cost of a read

![Time of a read against repeats](cost.svg)

One thread, d = 64, 16 classes, ρ = .3; the least of fifteen rounds of 2,000 reads, in turns. "All tokens" is the same code with a
threshold that nothing but an exact repeat passes.

{table(["r", "tokens", "dpcache, µs", "all tokens, µs", "ratio", "paper"], rows, {0, 1, 2, 3, 4, 5})}
{cost_remark(figures)}
"""


def cost_remark(figures):
    few = [figures.mean("cost", "dpcache", r, "microseconds") for r in (4, 8, 16, 32, 64, 128)]
    ratio = figures.mean("cost", "all tokens", 128, "microseconds") / few[-1]
    flat = figures.claim(max(few) < 1.5 * min(few), f"""Flat, as the paper has it: {min(few):.2f} to {max(few):.2f} µs.""")
    beyond = """; it is above the 128 entries to 1 where 8,192 keys and values, 2.5 MiB, no longer fit the inner
        caches""" if ratio > 128 else ""
    return wrapped(flat + figures.claim(ratio > 37, f""" The paper's ratio at r = 128 is 37, ours {ratio:.0f}{beyond}. How
        the paper measured is not known here: a cost that each read has whatever it reads, in a framework for one, would
        lower its ratio."""))


def gate(figures):
    names = figures.series("gate_path")
    panel = Panel("threshold b while learning", Axis(1, 600, "steps", [1, 3, 10, 30, 100, 300, 600], 10),
                  Axis(0, 1, "b", [0, .2, .4, .6, .8, 1]))
    for index, name in enumerate(names):
        panel.add(index, figures.points("gate_path", name, "b"), marks=False)
    figure(HERE / "gate.svg", [panel], [(i, f"start a, b = {n}") for i, n in enumerate(names)], marks=False)
    paper = {"soft mask (the paper's), two parameters": "1.000 of the best 64 (paper)",
             "soft mask, perceptron on key and novelty": ".372 of the best 64 (paper's MLP)",
             "exact flips, two parameters": "1.000 @ 64.0",
             "exact flips, perceptron on the key alone": ".205, .214 @ 21 (two runs)"}
    rows = [[kind, f"{figures.at('gate_ablation', kind, 0, 'converged').mean:.0f} of 5",
             figures.show("gate_ablation", kind, 0, "kept", 1), figures.show("gate_ablation", kind, 0, "recall"),
             figures.show("gate_ablation", kind, 0, "recall of the best 64"), paper.get(kind, "")]
            for kind in figures.series("gate_ablation")]
    rows.insert(0, ["the rule alone, novelty > .4", "", figures.show("gate_rule", "fixed", 0, "kept", 1),
                    figures.show("gate_rule", "fixed", 0, "recall"), "", ".999 (paper)"])
    learned = [[f"{rho:g}", f"{figures.mean('gate', 'nine starts', rho, 'converged'):.0f} of "
                f"{figures.mean('gate', 'nine starts', rho, 'runs'):.0f}", figures.show("gate", "nine starts", rho, "b"),
                told, figures.show("gate", "nine starts", rho, "slots", 1), figures.show("gate", "nine starts", rho, "recall")]
               for rho, told in ((0, "≈ .34"), (.3, "≈ .38"), (.5, "≈ .43"))]
    return f"""## The gate, from the task's loss alone

![The threshold over the steps, from nine starts](gate.svg)

Nine starts, 5 seeds, 600 steps, λ = .5 (`dpcache/train.h`); then 64 items × 4. Converged: 64 slots and recall 1 on each of
three streams. The simulation had 45 of 45 over the three noises together; paper: two parameters 1.000. Where a line begins
late the start had a negative slope a, which is no gate until it has turned.

{table(["ρ", "converged", "b", "simulated", "slots", "recall"], learned)}
{price_remark(figures)}

Other ways to learn it, 5 runs each of 600 steps, two parameters from five of those starts; judged on 64 items × 4 by the
tokens with g > ½. Converged: recall of .99 or more from at most 70 tokens. "Best 64": the tokens of largest g, chosen with
the number of items known.

{table(["rule, gate", "converged", "tokens kept", "recall", "recall of the best 64", "paper or simulated"], rows)}
{gate_remarks(figures)}
"""


def price_remark(figures):
    def kept(price):
        return figures.mean("gate_price", "two parameters", price, "kept")

    works = all(kept(price) == 64 and figures.mean("gate_price", "two parameters", price, "recall") == 1
                for price in (.05, .5, 2))
    return figures.claim(works and kept(3) < 1 and figures.mean("gate_transfer", "512 items", 512, "recall") == 1,
                         wrapped(f"""Prices λ of .05, .5 and 2 give 64.0 tokens and recall 1.000, 5 seeds each; at 3 nothing
        is kept ({kept(3):.1f}): a slot for more than ln 16 = 2.77 never pays (simulated: .05 to 2 work, 3 collapses). Learned
        on 16 to 64 items and given 512, the gate keeps {figures.show("gate_transfer", "512 items", 512, "slots", 1)} slots,
        recall {figures.show("gate_transfer", "512 items", 512, "recall")}."""))


def gate_remarks(figures):
    def found(kind, metric):
        return figures.mean("gate_ablation", kind, 0, metric)

    soft, straight = "soft mask (the paper's), two parameters", "straight-through, two parameters"
    exact = ("exact flips, two parameters", "exact flips, perceptron on key and novelty")
    wide = "soft mask, perceptron on key and novelty"
    key = "exact flips, perceptron on the key alone"
    missed = 5 - round(found(soft, "converged"))
    return wrapped(" ".join([
        figures.claim(missed > 0 and found(soft, "ranked") >= found(soft, "converged"), f"""The soft mask loses nothing
            by spreading over repeats: in {missed} of 5 runs g does not part at ½ and only the choice of the best 64 can
            bring recall."""),
        figures.claim(found(wide, "kept") < 1 and found(wide, "ranked") == 0, """Under it a perceptron spreads over all
            tokens, and none reaches ½."""),
        figures.claim(found(straight, "kept") > 128 and found(straight, "converged") <= 2, """Straight-through keeps
            nearly everything from most starts."""),
        figures.claim(all(found(kind, "converged") == 5 for kind in exact) and found(key, "converged") == 0, """Hard
            keeps with exact differences teach novelty to two parameters and to a perceptron alike; the key alone does
            not hold it."""),
        figures.claim(.30 < found(wide, "recall of the best 64") < .71 and .30 < found(key, "recall of the best 64") < .71,
                      f"""The best 64 of a gate that looks at keys ({found(wide, "recall of the best 64"):.3f} and
            {found(key, "recall of the best 64"):.3f}; the paper's perceptron .372) lie between all copies of 16 items,
            .30, and 64 tokens drawn at random, .71: it ranks the copies of an item alike. What the key alone recalls at ½
            follows how many tokens it keeps: {found(key, "kept"):.0f} of 256 here, 21 in the simulation."""),
        figures.claim(True, f"""The paper's price, length and starts are not known here: its two parameters reach 1.000;
            by its rule {round(found(soft, "ranked"))} of 5 runs here do (best 64: .99 or more).""")]))


def choices(figures):
    thetas = (.005, .05, .1, .2, .3)
    told = {("K = 1024, 0.3", .2): "1.000", ("K = 1024, 0.3", .3): ".733", ("K = 1024, 0.7", .2): ".646",
            ("K = 1024, 0.7", .3): ".232"}
    theta_rows = []
    for series in figures.series("theta"):
        simulated = ", ".join(told[series, theta] for theta in thetas if (series, theta) in told)
        count, rho = series.split(", ")
        theta_rows.append([count.replace("K = ", ""), rho[1:].replace(".0", "0") if rho == "0.0" else rho[1:]] +
                          [figures.show("theta", series, theta, "recall") for theta in thetas] + [simulated])
    words = {"a known curve": "a known curve, P(novelty ≤ τ) = τ²", "word order": "word order (PAWS-Wiki)",
             "negation": "negation and antonyms (SemAntoNeg)", "items against a memory": "items against a memory"}
    bound_rows = []
    for source in words:
        if source not in figures.series("bound"):
            continue
        for pairs in (200, 500, 1000):
            if ("bound", source, float(pairs), "alpha") not in figures.all:
                continue
            bound_rows.append([words[source], str(pairs), f"{figures.mean('bound', source, pairs, 'alpha'):g}",
                               f"{figures.mean('bound', source, pairs, 'chosen'):.0f}",
                               figures.show("bound", source, pairs, "tau"),
                               f"{figures.mean('bound', source, pairs, 'violated'):.3f}"])
    values = [["first", "it keeps what no longer holds", ".50"], ["mean", "four votes against four: .75 expected", ".78 (one seed)"],
              ["last", "", "1.00"], ["ema", "", "1.00"]]
    value_rows = [[name, figures.show("values", name, 0, "recall"), simulated, why] for name, why, simulated in values]
    return f"""## Choosing: tau, theta, and what a slot remembers

**tau by a model of noise.** d = 16 to 256, K = 64 and 512, ρ = .1 to .7, each item × 4, 5 seeds a cell.
{model_remark(figures)}

**tau with a bound.** 300 sets of pairs of other meaning, confidence .9: how often the true rate of false merges is above
α with the chosen τ. On real pairs the sets are drawn from all of them.

{table(["source", "pairs", "α", "chosen", "τ", "bound broken"], bound_rows, {1, 2, 3, 5})}
{bound_remark(figures)}

**theta.** d = 64, s* = .6, each item × 4, 5 seeds; recall.

{table(["K", "ρ"] + [f"θ = {theta:g}" for theta in thetas] + ["simulated at .2, .3"], theta_rows)}
{theta_remark(figures)}

**Values that change.** 64 items × 4; then half of them get another class, and all come 4 times more; asked for what holds
now. ρ = .3, s* = .6, 10 seeds.

{table(["value policy", "recall", "simulated", ""], value_rows)}
"""


def model_remark(figures):
    def cells(name, metric):
        return figures.mean("cells", name, 0, metric)

    model, default = "noise model", "defaults"
    most = max(cells(name, "most slots") for name in (model, default))
    least = min(cells(name, "least recall") for name in (model, default))
    return figures.claim(cells(model, "with room") == 28 and cells(model, "exact") >= 26 and
                         cells(default, "exact") >= 16 and most < 1.001, wrapped(f"""In
        {cells(model, "with room"):.0f} of {cells(model, "all"):.0f} cells s_lo ≤ s_hi (simulated: 28). Halfway between them
        {cells(model, "exact"):.0f} have exactly one slot an item and recall 1.000 (simulated: all 28), the others at most
        {most:.4f} slots an item: the cosine of two copies has a longer tail downwards than the normal distribution that s_hi
        assumes. The default τ of .4, where d ≥ 64 and ρ ≤ .5: {cells(default, "exact"):.0f} of
        {cells(default, "all"):.0f} exact; least recall {least:.3f}."""))


def bound_remark(figures):
    broken = [figure.mean for (study, _, _, metric), figure in figures.all.items() if (study, metric) == ("bound", "violated")]
    curve = [figures.mean("bound", "a known curve", pairs, "violated") for pairs in (200, 500, 1000)]
    return figures.claim(max(broken) <= .1, wrapped(f"""The bound is broken in at most {max(broken):.3f} of the sets; .1 is what
        it states. In the simulation, new keys against 1,024 slots, it was broken in at most .020. On the curve it is more
        often, {min(curve):.3f} to {max(curve):.3f}: many novelties lie just above the limit there, so that a τ one step too
        loose breaks it."""))


def theta_remark(figures):
    small = [figures.mean("theta", series, theta, "recall") for series in figures.series("theta") for theta in (.005, .05, .1)]
    worst = figures.mean("theta", "K = 1024, 0.3", .3, "recall")
    return figures.claim(min(small) > .998 and worst < .85, wrapped(f"""Up to .1 all of them recall {min(small):.3f} or more. At
        .3 a slot that matches exactly weighs e^(1/.3) = 28 times one at a right angle, and a thousand of those drown it."""))


def entry_remark(figures):
    """Floats of the mechanisms that keep entries, wherever a study has both."""
    one_more = ("dpcache", "H2O")
    holds = True
    for (study, name, x, metric), floats in figures.all.items():
        entries = name.startswith(one_more + ("recency", "SnapKV", "TOVA", "StreamingLLM", "full attention", "k-means"))
        if metric != "floats" or not entries or study in ("hybrid",):
            continue
        each = floats.mean / figures.mean(study, name, x, "slots")
        d = {"overlap_frontier": 128, "real_texts": 256}.get(study.split(":")[0], 64)
        sums = name.startswith(("dpcache, centroids", "dpcache, consolidated"))
        holds = holds and abs(each - (d + 16 + name.startswith(one_more) + (d if sums else 0))) < .01
    return figures.claim(holds, """Where a table shows entries only: a
token takes d + 16 floats, key and value; an entry of dpcache or of H2O one more, 81 at d = 64, for its usage; a slot with a sum of
its keys (centroids, consolidation) another d.""")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    figures = Figures(sys.argv[1])
    parts = [f"""# The paper's studies, run again

{describe("scripts/paper")}

Source: Pal & Rojkova, arXiv 2607.09889 (2026). "Paper": printed there, where known here. "Simulated": an independent NumPy
simulation from before this library. All else is measured by this run: mean ± standard deviation over seeds. d = 64, 16
classes, θ = .05, the answer is the largest component of the mixed value; every item is asked for at the end. Streams come
from a stated integer generator, other than the simulation's, so figures agree within their spread only. Every mechanism is
in this folder, behind `mechanism.h`; nothing is tuned to a study. {entry_remark(figures)}
"""]
    for study in (table_one, frontier, plateau, growth, budgets, noise, fixed_state, clustering, weaknesses, cost, gate,
                  choices, streams, embeddings):
        parts.append(study(figures))
    parts.append("""## Not here

Trained versions of the mechanisms that have parameters.
""")
    (HERE / "results.md").write_text("\n".join(parts), encoding="utf-8")
    for sentence in figures.broken:
        print(f"report: no longer so, and left out: {sentence}", file=sys.stderr)
    return 1 if figures.broken else 0


if __name__ == "__main__":
    sys.exit(main())
