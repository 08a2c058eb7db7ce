import { casePages, casesPanel, listedCases } from './cases.ts'
import { html, type Markup } from './markup.ts'
import { pageScript, pageStyle } from './page-style.ts'
import { latencyPanel, overviewPanel, provenancePanel, trendPanel } from './panels.ts'
import type { ReportData } from './report-data.ts'

/** Nothing is fetched from anywhere, whatever the data says. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Runs as one page that needs nothing but itself. Same data, same bytes. */
export function reportPage({ generatedAt, runs }: ReportData): string {
  const cases = listedCases(runs)
  const total = runs.reduce((sum, { records }) => sum + records.length, 0)
  const body = html`<header><h1>Benchmark report</h1><p class="soft">${generatedAt}</p>
<nav><a href="#overview">Overview</a><a href="#trend">Trend</a><a href="#case-table">Cases</a><a href="#latency">Latency</a><a href="#provenance">Provenance</a></nav></header>
<main>${overviewPanel(runs)}${trendPanel(runs)}${casesPanel(cases, total)}${casePages(cases)}${latencyPanel(runs)}${provenancePanel(runs)}</main>
<footer>Made by Credence. This file is complete: it loads nothing and sends nothing.</footer>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Benchmark report</title>
<style>${pageStyle}</style></head>
<body>${markupOf(body)}
<script>${pageScript}</script></body></html>
`
}

const markupOf = ({ markup }: Markup): string => markup
