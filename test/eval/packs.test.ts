import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tableMarkdown } from '../../scripts/measured.ts'
import { comparisonRow, overallTable, packTable } from '../../src/eval/report/comparison.ts'
import { findPacks, loadPack } from '../../src/eval/runners/retrieval/pack.ts'
import { checkPack, runPack } from '../../src/eval/runners/retrieval/run-pack.ts'
import { Systems } from '../../src/eval/system/systems.ts'
import { openMiniLm } from '../../src/search/minilm/minilm.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { systemsFor, tickingClock } from './sample-corpus.ts'

const found = findPacks('packs').map((directory) => loadPack(directory))
const counting = found.filter(({ runner }) => runner !== 'calibration').map(({ pack }) => pack)
const backends = systemsFor('packs')

describe.each(found.map((one) => [one.pack.id, one] as const))('the pack %s', (_id, { pack }) => {
  it('can judge: an empty answer fails it, and every case can be passed', async () => {
    const { problems, cases } = await checkPack(pack, backends)

    expect(cases).toBeGreaterThan(0)
    expect(problems).toEqual([])
  })

  it('is passed by Credence, case by case', async () => {
    const { outcomes, notices } = await runPack(pack, await backends.open('bm25'))

    expect(notices).toEqual([])
    expect(
      outcomes
        .filter(({ verdict }) => verdict !== 'pass')
        .map(({ caseId, failures, error }) => [caseId, failures, error]),
    ).toEqual([])
  })
})

describe('the packs together', () => {
  it('have the promised contents', () => {
    const sizes = Object.fromEntries(counting.map((pack) => [pack.id, pack.cases.length]))

    expect(sizes).toMatchObject({ 'retrieval-precision': 60, 'session-drift': 12 })
    expect(sizes['retrieval-hard']).toBeGreaterThanOrEqual(80)
  })

  it('share no scope with the pack on which settings are chosen', () => {
    const scopesOf = (wanted: boolean) =>
      new Set(
        found
          .filter(({ runner }) => (runner === 'calibration') === wanted)
          .flatMap(({ pack }) => pack.beliefs.flatMap(({ scopes }) => scopes)),
      )

    expect([...scopesOf(true)].filter((scope) => scope !== 'user:universal' && scopesOf(false).has(scope))).toEqual([])
  })

  it('choose the threshold that the documentation names', async () => {
    const { description } = await systemsFor('packs', openMiniLm).open('vector-calibrated')

    expect(readFileSync('docs/retrieval.md', 'utf8')).toContain(`- \`vector-calibrated\`: ${description}.`)
  })

  it('give the figures in the documentation', async () => {
    const file = 'docs/retrieval.md'
    const [, measured = ''] = readFileSync(file, 'utf8').split(/<!-- measured: (?:start|end) -->/u)
    const names = ['bm25', 'none', 'everything', 'exact', 'oracle'] as const

    const rows = []
    for (const name of names) {
      const runs = []
      for (const pack of counting) runs.push(await runPack(pack, await backends.open(name)))
      rows.push(comparisonRow(name, runs))
    }

    for (const table of [overallTable(rows), packTable(rows)]) {
      for (const line of tableMarkdown(table).split('\n')) expect(measured.split('\n')).toContain(line)
    }
    for (const backend of ['vector', 'vector-calibrated']) expect(measured).toContain(`| ${backend} | `)
  })

  it('give the same results on a store on disk', async () => {
    using directory = temporaryDirectory()
    let stores = 0
    const openStore = () => openSqliteStore({ file: join(directory.path, `${++stores}.db`), random: randomBytes })
    const onDisk = new Systems({
      openStore,
      version: 'test',
      clock: tickingClock(),
      openEmbedder: openMiniLm,
      packsDirectory: 'packs',
    })

    for (const pack of counting) {
      const one = await runPack(pack, await backends.open('bm25'))
      const subject = await onDisk.open('bm25')
      const other = await runPack(pack, subject)
      await subject.close()

      expect(other.outcomes).toEqual(one.outcomes)
    }
  })
})
