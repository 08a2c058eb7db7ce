import { html, type Markup } from './markup.ts'
import type { ReportedRun } from './report-data.ts'

/** Where every figure comes from: enough to repeat the run. */
export function provenancePanel(runs: readonly ReportedRun[]): Markup {
  return html`<h2 id="provenance">Provenance</h2>${runs.map(provenance)}`
}

function provenance({ run, environment }: ReportedRun): Markup {
  const git = environment?.git
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', run.runId],
    ['started', run.startedAt],
    ['completed', run.completedAt],
    ['pack', run.packHash],
    ['system', run.system === undefined ? undefined : `${run.system.name} ${run.system.version}`],
    ['seed', run.seed?.toString()],
    ['repeats', run.repeats?.toString()],
    [
      'commit',
      git === null || git === undefined
        ? 'not in a repository'
        : `${git.commit}${git.dirty ? ', with uncommitted changes' : ''}`,
    ],
    ['Node', environment?.node],
    [
      'machine',
      environment === null ? undefined : `${environment.os.platform} ${environment.os.release} ${environment.os.arch}`,
    ],
    ['settings', environment === null ? undefined : JSON.stringify(environment.settings)],
    ['notes', run.notes],
  ]
  return html`<h3>${run.benchmarkId}, ${run.system?.name}</h3><div class="scroll"><dl>${rows.flatMap(([name, value]) => (value === undefined ? [] : [html`<dt>${name}</dt><dd class="id">${value}</dd>`]))}</dl></div>`
}
