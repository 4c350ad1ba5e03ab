"""Draw curves/: accuracy on the odd ids against the words that were read, as curves.svg.

`python -m experiments.msr.figure`
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 48, 130, 16, 40
COLOURS = ("#1b6ca8", "#b8442c", "#3b7d3b", "#7a4fa3", "#8a6d1d", "#555555")
LOWEST, HIGHEST = 0.4, 0.75


def main() -> None:
    curves = {path.stem: _points(path) for path in sorted((HERE / "curves").glob("*.jsonl"))}
    most = max(words for points in curves.values() for words, _ in points)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for percent in range(round(100 * LOWEST), round(100 * HIGHEST) + 1, 5):
        y = _y(percent / 100)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent}</text>')
    for millions in range(0, round(most / 1e6) + 1, 50):
        x = _x(millions * 1e6, most)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{millions}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">million words read; right of 100</text>')
    for (name, points), colour in zip(curves.items(), COLOURS, strict=False):
        places = [(_x(words, most), _y(accuracy)) for words, accuracy in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    (HERE / "curves.svg").write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _points(path: Path) -> list[tuple[float, float]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(sum(each["words"] for each in lines[: i + 1]), line["accuracy"]) for i, line in enumerate(lines)]


def _x(words: float, most: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * words / most


def _y(accuracy: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (HIGHEST - accuracy) / (HIGHEST - LOWEST)


if __name__ == "__main__":
    main()
