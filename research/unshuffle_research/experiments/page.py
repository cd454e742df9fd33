"""One HTML page of all experiments, each of our figures beside the paper's; it needs nothing but itself.

`python -m unshuffle_research.experiments.page` makes it from research/results.
"""

from __future__ import annotations

import base64
import html
from pathlib import Path
from typing import Any

from unshuffle.storage.files import write_text
from unshuffle_research import RESULTS
from unshuffle_research.experiments.report import read_sheets, tables_of
from unshuffle_research.experiments.sheet import Table

ORDER = ("main", "pairwise", "length", "head-tail", "ablation", "summaries", "cost", "density")
STYLE = """
:root{--ink:#1d262e;--soft:#5c6b77;--line:#e1e7ec;--paper:#fff;--ground:#f5f7f9;--ours:#1b6ca8;--theirs:#b23a48}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,"Segoe UI",Roboto,sans-serif}
header,main,footer{max-width:1080px;margin:0 auto;padding:0 24px}
header{padding-top:44px}
h1{font-size:30px;line-height:1.2;margin:0 0 8px;letter-spacing:-.01em}
h2{font-size:22px;margin:0;letter-spacing:-.005em}
h3{font-size:16px;margin:26px 0 2px}
p{margin:6px 0}.soft{color:var(--soft)}.lead{font-size:17px;max-width:74ch}
nav{display:flex;flex-wrap:wrap;gap:8px;margin:20px 0 26px}
nav a{color:var(--ours);text-decoration:none;border:1px solid var(--line);background:var(--paper);padding:4px 12px;
border-radius:99px;font-size:14px}
nav a:hover{border-color:var(--ours)}
section{background:var(--paper);border:1px solid var(--line);border-radius:14px;padding:26px 28px;margin:0 0 24px}
.place{display:inline-block;font-size:13px;color:var(--soft);margin-left:10px}
.scroll{overflow-x:auto;margin:10px 0 4px}
table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums;min-width:60%}
caption{caption-side:top;text-align:left;font-weight:600;padding:0 0 6px}
th,td{padding:6px 0 6px 16px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:600;border-bottom:2px solid var(--line);white-space:normal;vertical-align:bottom}
th:first-child,td:first-child{text-align:left;padding-left:0;white-space:normal;min-width:11em}
.theirs{color:var(--theirs)}
figure{margin:18px 0 6px}figure img{max-width:100%;height:auto;display:block}
figcaption{font-size:13.5px;color:var(--soft);margin-top:4px}
ul{margin:12px 0 0;padding-left:20px;color:var(--soft);font-size:14.5px}
details{margin-top:14px;font-size:13.5px;color:var(--soft)}
code{font:12.5px ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
footer{padding-bottom:60px;font-size:13.5px;color:var(--soft)}
@media(max-width:640px){section{padding:18px 16px}h1{font-size:24px}}
"""


def write_page(root: Path) -> Path:
    """`report.html` from all sheets below a folder of results."""
    others = sorted(path.name for path in root.iterdir() if path.is_dir() and path.name not in ORDER)
    found = {name: sheets for name in (*ORDER, *others) if (sheets := read_sheets(root / name))}
    links = "".join(f'<a href="#{name}">{_text(sheets[0]["title"])}</a>' for name, sheets in found.items())
    body = "\n".join(_section(name, sheets, root / name) for name, sheets in found.items())
    page = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>unshuffle: experiments</title><style>{STYLE}</style></head>
<body>
<header>
<h1>Experiments</h1>
<p class="lead">The experiments of Lai et al., <i>Improving Graph-based Sentence Ordering with Iteratively Predicted
Pairwise Orderings</i> (EMNLP 2021), run with the leaks of the released programs closed. Figures that the paper prints
are <span class="theirs">red</span>; where the data is not the paper's own, they are there for orientation only.</p>
<nav>{links}</nav>
</header>
<main>
{body}
</main>
<footer>Every figure comes from the JSON files beside this page. ± is the standard deviation over seeds, brackets are
95 % of resampled documents.</footer>
</body>
</html>
"""
    path = root / "report.html"
    write_text(path, page)
    return path


def _section(name: str, sheets: list[dict[str, Any]], folder: Path) -> str:
    first = sheets[0]
    parts = [
        f'<section id="{name}"><h2>{_text(first["title"])}<span class="place">{_text(first["place"])}</span></h2>',
        f'<p class="soft">{_text(first["question"])}</p>',
    ]
    for sheet in sheets:
        parts.append(f"<h3>{_text(sheet['subtitle'])}</h3>")
        parts += [_table(table) for table in tables_of(sheet)]
        parts += [_figure(folder / f"{plot['file']}.svg", plot["caption"]) for plot in sheet["plots"]]
        if sheet["notes"]:
            parts.append("<ul>" + "".join(f"<li>{_text(note)}</li>" for note in sheet["notes"]) + "</ul>")
        parts.append(_provenance(sheet))
    return "\n".join([*parts, "</section>"])


def _table(table: Table) -> str:
    theirs = [name.startswith("paper") for name in table.head]
    head = "".join(f"<th{_mark(red)}>{_text(name)}</th>" for name, red in zip(table.head, theirs, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{_mark(red)}>{_text(cell)}</td>" for cell, red in zip(row, theirs, strict=True)) + "</tr>"
        for row in table.rows
    )
    note = f'<p class="soft">{_text(table.note)}</p>' if table.note else ""
    caption = f"<caption>{_text(table.caption)}</caption>"
    return (
        f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'
    )


def _figure(file: Path, caption: str) -> str:
    if not file.is_file():
        return ""
    # Embedded as a picture and not as markup: the ids inside two drawings would get in each other's way.
    data = base64.b64encode(file.read_bytes()).decode()
    text = _text(caption)
    return f'<figure><img alt="{text}" src="data:image/svg+xml;base64,{data}"><figcaption>{text}</figcaption></figure>'


def _provenance(sheet: dict[str, Any]) -> str:
    runs = "".join(
        f"<li>{_text(run['row'])}, seed {run['seed']}: {run['minutes']:.1f} min"
        f"{', ended by the time limit' if run.get('cut') else ''}"
        f"{', read back from ' + _text(run['read']) if run.get('read') else ''}</li>"
        for run in sheet["runs"]
    )
    commit = sheet["commit"][:10] or "unknown"
    packages = ", ".join(f"{name} {number}" for name, number in sheet["versions"].items())
    return (
        f"<details><summary>How it was made</summary><p><code>{_text(sheet['command'])}</code></p>"
        f"<p>Commit {_text(commit)}; {_text(packages)}.</p><ul>{runs}</ul></details>"
    )


def _mark(red: bool) -> str:
    return ' class="theirs"' if red else ""


def _text(value: object) -> str:
    return html.escape(str(value))


if __name__ == "__main__":
    print(write_page(RESULTS))
