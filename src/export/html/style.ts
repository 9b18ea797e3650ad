/** The style of the exported page. */

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --ink: #1d1f23; --soft: #6b6a66; --border: #e2dfd7; --wash: #f3f1eb; --accent: #c73e3a;
  --add: #2f6b3a; --del: #a8322e; --add-wash: #eaf2e6; --del-wash: #f8e9e6; --hit: #f6dfa4; --now: #eaa53a;
  --a1: #b3362f; --a2: #37713b; --a3: #8a6410; --a4: #2f5fa8; --a5: #8a3d8c; --a6: #1f7378; --a7: #6b6a66;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono CJK JP", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16171a; --ink: #e6e4df; --soft: #9b9890; --border: #2e3035; --wash: #1d1f23; --accent: #e5706b;
    --add: #8fc498; --del: #e89a94; --add-wash: #1c2920; --del-wash: #2f1f20; --hit: #574a1f; --now: #96691a;
    --a1: #e5807a; --a2: #8fc498; --a3: #d9b45f; --a4: #86aee8; --a5: #cf96d1; --a6: #74c4c8; --a7: #9b9890;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 64px; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.6 system-ui, "Hiragino Sans", "Noto Sans CJK JP", sans-serif; overflow-wrap: anywhere;
  display: grid; grid-template: "bar bar" auto "outline letter" 1fr / 248px minmax(0, 1fr);
}
a { color: inherit; text-decoration-color: var(--accent); text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
time, .facts, .end, .quiet { font-variant-numeric: tabular-nums; }

.bar {
  grid-area: bar; position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 12px;
  padding: 8px 24px; background: var(--paper); border-bottom: 1px solid var(--border);
}
.seal {
  flex: none; width: 28px; height: 28px; border-radius: 4px; background: var(--accent); color: var(--paper);
  font: 600 12px/14px "Hiragino Mincho ProN", "Noto Serif CJK JP", serif; text-align: center; writing-mode: vertical-rl;
  display: grid; place-content: center; letter-spacing: 0;
}
.jump { display: none; font-size: 13px; color: var(--soft); text-decoration: none; white-space: nowrap; }
.name { flex: 1; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-size: 13px; color: var(--soft); }
.find { display: flex; align-items: center; gap: 4px; }
.find input {
  width: 224px; font: inherit; font-size: 13px; padding: 4px 8px; color: inherit; background: var(--wash);
  border: 1px solid var(--border); border-radius: 4px;
}
.find input::placeholder { color: var(--soft); opacity: 1; }
.find output { min-width: 64px; font-size: 12px; color: var(--soft); text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
button {
  font: inherit; font-size: 13px; line-height: 20px; color: var(--soft); background: none; border: 1px solid transparent;
  border-radius: 4px; padding: 3px 8px; cursor: pointer; white-space: nowrap;
}
button:hover { color: var(--ink); border-color: var(--border); }
.no-script .find, .no-script button { display: none; }

.outline { grid-area: outline; border-right: 1px solid var(--border); font-size: 13px; }
.outline > div { position: sticky; top: 45px; max-height: calc(100vh - 45px); overflow-y: auto; padding: 24px 12px 24px 24px; scrollbar-width: thin; }
.outline h2 { margin: 0 0 8px; font-size: 12px; font-weight: 400; color: var(--soft); }
.outline ol { margin: 0; padding: 0; list-style: none; }
.outline a {
  display: flex; gap: 8px; padding: 3px 8px; margin-left: -8px; border-radius: 4px; text-decoration: none; color: var(--soft);
}
.outline a span:first-child { flex: none; min-width: 20px; text-align: right; font-variant-numeric: tabular-nums; }
.outline a span:last-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.outline a:hover { color: var(--ink); background: var(--wash); }
.outline a[aria-current] { color: var(--accent); }
.outline .gone { text-decoration: line-through; }

main { grid-area: letter; padding: 40px 48px 96px; max-width: 856px; width: 100%; }
h1 { font-size: 22px; line-height: 1.4; font-weight: 600; margin: 0 0 8px; text-wrap: balance; }
.facts { margin: 0; padding: 0; list-style: none; color: var(--soft); font-size: 13px; display: flex; flex-wrap: wrap; }
.facts li:not(:last-child)::after { content: "·"; margin: 0 8px; }
.tags { margin: 12px 0 0; font-size: 13px; }
.tags span { color: var(--accent); margin-right: 12px; }
.note { margin: 16px 0 0; padding-left: 12px; border-left: 2px solid var(--accent); white-space: pre-wrap; }

.before { margin-top: 24px; }
.turn { border-top: 1px solid var(--border); margin-top: 32px; padding-top: 28px; content-visibility: auto; contain-intrinsic-size: auto 640px; }
.turn > *, .before > * { content-visibility: auto; contain-intrinsic-size: auto 32px; }
.who { display: flex; align-items: baseline; gap: 8px; margin: 24px 0 4px; font-size: 13px; font-weight: 600; line-height: 20px; }
.turn > .who:first-child { margin-top: 0; }
.who time { margin-left: auto; font-weight: 400; color: var(--soft); font-size: 12px; }
.who i { font-style: normal; font-weight: 400; color: var(--accent); }
.who .number { color: var(--soft); font-weight: 400; text-decoration: none; }
.who.agent::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: var(--soft); align-self: center; }
.words { margin: 0 0 12px; }
.you, .words p, .words ul, .words ol { max-width: 76ch; }
.fold + .words { margin-top: 12px; }
.you { white-space: pre-wrap; font-weight: 500; }
.you pre { margin: 8px 0; font-weight: 400; }
.gone { color: var(--soft); }
.words p { margin: 0 0 12px; white-space: pre-wrap; }
.words > :last-child, .words li > :last-child { margin-bottom: 0; }
.words ul, .words ol { margin: 0 0 12px; padding-left: 24px; }
.words li { margin: 2px 0; }
.words li p { margin: 0 0 4px; }
code, pre { font-family: var(--mono); font-size: 13px; }
:not(pre) > code { font-size: .88em; background: var(--wash); border-radius: 3px; padding: 1px 4px; }
pre {
  margin: 0 0 12px; padding: 10px 12px; line-height: 1.5; background: var(--wash); border-radius: 4px; overflow-x: auto;
  white-space: pre-wrap; tab-size: 4;
}
.words pre { white-space: pre; }
img { display: block; max-width: min(100%, 560px); max-height: 560px; height: auto; margin: 0 0 12px; border: 1px solid var(--border); border-radius: 4px; }

.quiet, details.fold { color: var(--soft); font-size: 13px; margin: 0 0 4px; }
summary { display: flex; gap: 8px; align-items: baseline; padding: 2px 0; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; flex: none; width: 12px; color: var(--soft); }
details[open] > summary::before { content: "▾"; }
summary:hover { color: var(--ink); }
summary [data-t] { flex: none; }
summary b { flex: none; font-weight: 600; color: var(--ink); max-width: 50%; overflow: hidden; text-overflow: ellipsis; }
summary .gist { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-family: var(--mono); font-size: 12px; }
summary .outcome { flex: none; margin-left: auto; padding-left: 8px; font-size: 12px; font-variant-numeric: tabular-nums; }
details.error > summary .outcome, details.error > summary b { color: var(--accent); }
details[open] > summary > [data-t=thought] + .gist { visibility: hidden; }
details.fold > :not(summary) { margin-left: 20px; color: var(--ink); }
details.fold > .caption { margin: 8px 0 4px 20px; color: var(--soft); font-size: 12px; }
details.fold pre { max-height: 480px; overflow-y: auto; font-size: 12.5px; margin-bottom: 8px; }
details.fold .words { padding: 4px 0; font-size: 14px; }
details.long > summary { color: var(--soft); font-weight: 400; font-size: 13px; }
.end { margin: 20px 0 0; color: var(--soft); font-size: 12px; }
.end span:not(:last-child)::after { content: "·"; margin: 0 8px; }
.add { color: var(--add); background: var(--add-wash); } .del { color: var(--del); background: var(--del-wash); } .mark { color: var(--soft); }
.a1 { color: var(--a1); } .a2 { color: var(--a2); } .a3 { color: var(--a3); } .a4 { color: var(--a4); }
.a5 { color: var(--a5); } .a6 { color: var(--a6); } .a7 { color: var(--a7); } .ab { font-weight: 600; }
.made { margin-top: 64px; padding-top: 16px; border-top: 1px solid var(--border); color: var(--soft); font-size: 12px; display: flex; gap: 16px; flex-wrap: wrap; justify-content: space-between; }
::highlight(hit) { background: var(--hit); color: var(--ink); }
::highlight(now) { background: var(--now); color: var(--ink); }

@media (max-width: 860px) {
  body { display: block; }
  html { scroll-padding-top: 104px; }
  .bar { flex-wrap: wrap; padding: 8px 16px; gap: 4px 8px; }
  .find { order: 1; width: 100%; }
  .find input { flex: 1; width: auto; min-width: 0; font-size: 16px; }
  .find output { min-width: 0; }
  .name { visibility: hidden; }
  .jump { display: block; }
  .outline { border: 0; border-top: 1px solid var(--border); }
  .outline > div { position: static; max-height: none; padding: 24px 16px 48px; }
  main { padding: 24px 16px 48px; }
}
@page { margin: 18mm 16mm; }
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #555; --border: #ccc; --wash: #f4f4f4; color-scheme: light; }
  body { display: block; font-size: 10.5pt; }
  .bar, .outline, .made span:last-child { display: none; }
  main { max-width: none; padding: 0; }
  .turn, .turn > *, .before > * { content-visibility: visible; }
  .who { break-after: avoid; }
  pre { white-space: pre-wrap; } details.fold pre { max-height: none; }
  pre { border: 1px solid var(--border); }
  summary::before, details[open] > summary::before { content: none; }
}
`
