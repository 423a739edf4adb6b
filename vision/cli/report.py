"""One HTML file with everything in it: it can be sent by mail and opened without a network."""

from __future__ import annotations

import base64
import html
from pathlib import Path

from trine import Tensor
from trine.vision._buffers import buffer_of
from trine.vision.cli.results import Result, Unreadable
from trine.vision.io import encode_jpeg
from trine.vision.transforms import functional as F

_WIDEST = 640  # pixels of an embedded picture

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #3b82f6; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; }
.note { opacity: .75; margin-top: .25rem; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); gap: 1.25rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .6rem; overflow: hidden; }
img { display: block; width: 100%; height: 16rem; object-fit: contain; background: #8882; }
figcaption { padding: .7rem .9rem; }
table { border-collapse: collapse; width: 100%; }
td { padding: .1rem .3rem; vertical-align: middle; }
td:nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; width: 4rem; }
td:nth-child(3) { width: 35%; }
.bar { height: .6rem; border-radius: .3rem; background: var(--bar); min-width: 1px; }
.unreadable { border-left: 4px solid #dc2626; padding: .3rem .9rem; margin: .5rem 0; }
"""


def embedded(picture: Tensor) -> str:
    """A ``data:`` address of the picture as JPEG, made smaller if it is large."""
    if max(picture.shape[-2:]) > _WIDEST:
        picture = F.resize(picture, None, max_size=_WIDEST)
    file = encode_jpeg(picture, quality=85)
    data = bytes(buffer_of(file))
    return "data:image/jpeg;base64," + base64.b64encode(data).decode("ascii")


def _figure(result: Result, drawn: Tensor) -> str:
    name = html.escape(result.path.name)
    height, width = result.picture.shape[-2:]
    rows = "".join(
        f"<tr><td>{html.escape(label)}</td><td>{probability:.1%}</td>"
        f'<td><div class="bar" style="width:{100 * probability:.1f}%"></div></td></tr>'
        for label, probability in result.labels
    )
    times = ", ".join(f"{part} {value:.1f}" for part, value in result.milliseconds.items())
    return (
        f'<figure><img src="{embedded(drawn)}" alt="{name}"><figcaption><strong>{name}</strong> '
        f'<span class="note">{width}&times;{height}</span><table>{rows}</table>'
        f'<div class="note">{result.total_milliseconds:.1f} ms ({times})</div></figcaption></figure>'
    )


def write_report(path: Path, model: str, results: list[Result], drawn: list[Tensor], skipped: list[Unreadable]) -> None:
    """Write the report on ``results``, of which ``drawn`` are the annotated pictures, and on ``skipped`` files."""
    figures = "\n".join(_figure(result, picture) for result, picture in zip(results, drawn, strict=True))
    unreadable = "\n".join(
        f'<p class="unreadable"><strong>{html.escape(str(file.path))}</strong>: {html.escape(file.reason)}</p>' for file in skipped
    )
    page = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>What is in these pictures</title><style>{_STYLE}</style></head>
<body><h1>What is in these pictures</h1>
<p class="note">{html.escape(model)}: {len(results)} of {len(results) + len(skipped)} pictures. The frame shows the part that the
network looked at.</p>
{unreadable}
<main>
{figures}
</main></body></html>
"""
    path.write_text(page, encoding="utf-8")
