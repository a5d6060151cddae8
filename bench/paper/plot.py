"""Plots as SVG by the standard library alone: panels side by side with axes, one legend beneath.

Colours are Okabe and Ito's, which the colour-blind can tell apart, each with a marker and dashes of its own;
a reader's dark mode changes them."""

import html
import math

LIGHT = ["#0072B2", "#D55E00", "#009E73", "#B0558A", "#B07A00", "#2A8FBD", "#5A5A5A", "#7A4FBF", "#1F2328"]
DARK = ["#56B4E9", "#FF8A3D", "#2FD3A5", "#EBA3CC", "#F0C040", "#9AD8FF", "#B8B8B8", "#BFA2FF", "#FFFFFF"]
DASHES = ["", "6 3", "2 3", "8 3 2 3", "10 4", "4 2", "1 2", "12 3 2 3", "3 6"]
PANEL_WIDTH, PANEL_HEIGHT = 330, 250
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 34, 48


def style():
    rules = ["text{font:12px Helvetica,Arial,sans-serif;fill:#1f2328}", ".back{fill:#ffffff}",
             ".small{font-size:11px}", ".title{font-weight:bold}", ".axis{stroke:#1f2328;fill:none}",
             ".grid{stroke:#d8dee4;fill:none}", ".line{fill:none;stroke-width:1.8}"]
    dark = ["text{fill:#e6edf3}", ".back{fill:#0d1117}", ".axis{stroke:#e6edf3}", ".grid{stroke:#30363d}"]
    for index, (light, night) in enumerate(zip(LIGHT, DARK)):
        rules.append(f".s{index}{{stroke:{light}}}.f{index}{{fill:{light};stroke:{light}}}")
        dark.append(f".s{index}{{stroke:{night}}}.f{index}{{fill:{night};stroke:{night}}}")
    return f"<style>{''.join(rules)}@media (prefers-color-scheme:dark){{{''.join(dark)}}}</style>"


def text(x, y, words, anchor="middle", kind="", turn=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}"{turn}>'
            f"{html.escape(str(words))}</text>")


def number(value, base=None):
    if base == 2 and value < 1:
        return f"1/{round(1 / value)}"
    if value >= 10000 and math.log10(value) % 1 < 1e-9:
        return "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[round(math.log10(value))]
    return f"{value:g}"


def marker(x, y, index):
    shape = index
    kind = f'class="f{index}"'
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" {kind}/>'
    if shape == 1:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {kind}/>'
    if shape in (4, 6):
        return (f'<path d="M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6" fill="none" stroke-width="1.8" '
                f'class="s{index}"/>')
    points = {2: [(0, -4), (4, 3), (-4, 3)], 3: [(0, -4), (4, 0), (0, 4), (-4, 0)],
              5: [(0, 4), (4, -3), (-4, -3)], 7: [(-4, -1), (4, -1), (4, 1), (-4, 1)],
              8: [(-4, -4), (4, 0), (-4, 4)]}[shape]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)
    return f'<polygon points="{path}" {kind}/>'


class Axis:
    """Where a value stands between two pixels; `log` is the base of a logarithmic axis, or None."""

    def __init__(self, least, most, label, ticks, log=None):
        self.least, self.most, self.label, self.ticks, self.log = least, most, label, ticks, log

    def share(self, value):
        if self.log:
            low, high = math.log(self.least), math.log(self.most)
            return (math.log(value) - low) / (high - low)
        return (value - self.least) / (self.most - self.least)


class Panel:
    """`series`: (index of its style, [(x, y, spread)], with markers)."""

    def __init__(self, title, x, y):
        self.title, self.x, self.y, self.series = title, x, y, []

    def add(self, index, points, marks=True):
        self.series.append((index, points, marks))
        return self

    def draw(self, left):
        def at(x, y):
            return (left + self.x.share(x) * PANEL_WIDTH, TOP + (1 - self.y.share(y)) * PANEL_HEIGHT)

        bottom = TOP + PANEL_HEIGHT
        out = [text(left + PANEL_WIDTH / 2, TOP - 14, self.title, kind="title")]
        for tick in self.y.ticks:
            _, y = at(self.x.least, tick)
            out.append(f'<path class="grid" d="M{left} {y:.1f}h{PANEL_WIDTH}"/>')
            out.append(text(left - 7, y + 4, number(tick, self.y.log), "end"))
        for tick in self.x.ticks:
            x, _ = at(tick, self.y.least)
            out.append(f'<path class="axis" d="M{x:.1f} {bottom}v5"/>')
            out.append(text(x, bottom + 19, number(tick, self.x.log)))
        for index, points, marks in self.series:
            places = [at(x, min(max(y, self.y.least), self.y.most)) for x, y, _ in points]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            dashes = DASHES[index]
            out.append(f'<path class="line s{index}" d="M{path}"'
                       + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")
            for (x, y), (_, value, spread) in zip(places, points):
                if marks and spread:
                    reach = abs(at(self.x.least, self.y.least)[1]
                                - at(self.x.least, self.y.least + spread)[1]) if not self.y.log else 0
                    if reach > 2 and self.y.least < value < self.y.most:
                        high, low = max(y - reach, TOP), min(y + reach, bottom)
                        out.append(f'<path class="s{index}" d="M{x:.1f} {high:.1f}V{low:.1f}"/>')
                if marks:
                    out.append(marker(x, y, index))
        out.append(f'<path class="axis" d="M{left} {TOP}V{bottom}H{left + PANEL_WIDTH}"/>')
        out.append(text(left + PANEL_WIDTH / 2, bottom + 39, self.x.label))
        middle = TOP + PANEL_HEIGHT / 2
        out.append(text(left - 44, middle, self.y.label,
                        turn=f' transform="rotate(-90 {left - 44} {middle})"'))
        return out


def figure(path, panels, legend, marks=True):
    """`legend`: (index of the style, name); a name that ends in "theory" has no markers."""
    width = len(panels) * (LEFT + PANEL_WIDTH + RIGHT)
    columns = max(1, width // 205)
    rows = -(-len(legend) // columns)
    height = TOP + PANEL_HEIGHT + BOTTOM + 10 + 19 * rows
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" role="img">', style(),
           f'<rect class="back" width="{width}" height="{height}"/>']
    for place, panel in enumerate(panels):
        out += panel.draw(place * (LEFT + PANEL_WIDTH + RIGHT) + LEFT)
    for place, (index, name) in enumerate(legend):
        x = 20 + (place % columns) * ((width - 30) / columns)
        y = TOP + PANEL_HEIGHT + BOTTOM + 12 + 19 * (place // columns)
        dashes = DASHES[index]
        out.append(f'<path class="line s{index}" d="M{x} {y}h26"'
                   + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")
        if marks and not name.endswith("theory"):
            out.append(marker(x + 13, y, index))
        out.append(text(x + 32, y + 4, name, "start"))
    path.write_text("\n".join(out + ["</svg>"]) + "\n", encoding="utf-8")


def dots(path, title, rows, x, heads):
    """Rows of (name, value, spread, style, further columns as text), one dot each; `heads` name the columns."""
    left, step, further = 236, 20, 78
    width = left + PANEL_WIDTH + 24 + further * len(heads)
    height = TOP + step * len(rows) + BOTTOM + 6
    bottom = TOP + step * len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" role="img">', style(),
           f'<rect class="back" width="{width}" height="{height}"/>',
           text(left + PANEL_WIDTH / 2, 18, title, kind="title")]
    for column, head in enumerate(heads):
        out.append(text(left + PANEL_WIDTH + 12 + further * (column + 1), 18, head, "end", "title"))
    for tick in x.ticks:
        at = left + x.share(tick) * PANEL_WIDTH
        out.append(f'<path class="grid" d="M{at:.1f} {TOP - 6}V{bottom}"/>')
        out.append(text(at, bottom + 18, number(tick)))
    for place, (name, value, spread, index, columns) in enumerate(rows):
        y = TOP + step * place + step / 2 - 2
        at = left + x.share(value) * PANEL_WIDTH
        reach = spread / (x.most - x.least) * PANEL_WIDTH
        out.append(text(left - 10, y + 4, name, "end"))
        out.append(f'<path class="s{index}" d="M{at - reach:.1f} {y:.1f}h{2 * reach:.1f}"/>')
        out.append(marker(at, y, index))
        for column, words in enumerate(columns):
            out.append(text(left + PANEL_WIDTH + 12 + further * (column + 1), y + 4, words, "end"))
    out.append(f'<path class="axis" d="M{left} {bottom}h{PANEL_WIDTH}"/>')
    out.append(text(left + PANEL_WIDTH / 2, bottom + 38, x.label))
    path.write_text("\n".join(out + ["</svg>"]) + "\n", encoding="utf-8")
