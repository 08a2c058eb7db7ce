import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importRecords } from '../../src/memory/import.ts'
import { openWorkshop } from '../../src/open-memory.ts'
import { benchScope, generateBeliefs, generateMessages } from '../corpus.ts'
import { milliseconds, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** One-shot commands from start to exit, beside an empty Node program; runs alternate so that noise falls on both. */
export const startUpLane: Lane = {
  name: 'start-up',
  summary: 'one-shot `credence recall` from start to exit, beside `node -e 0`',
  async run({ quick, log }) {
    const size = quick ? 1_000 : 100_000
    const rounds = quick ? 5 : 25
    const dir = mkdtempSync(join(tmpdir(), 'credence-bench-'))
    try {
      const workshop = openWorkshop(dir)
      const records = [...generateBeliefs({ count: size, seed: 1 })]
      for (let from = 0; from < size; from += 10_000) {
        const placed = records.slice(from, from + 10_000).map((record, index) => ({ place: `${from + index}`, record }))
        await importRecords(workshop, { user: 'local', author: { actor: 'import', origin: 'bench' } }, placed)
      }
      await workshop.store.close()
      execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' })
      const message = generateMessages(records.slice(0, 1_000), {
        count: 1,
        words: 40,
        mentions: 2,
        seed: 3,
      })[0] as string
      const built = join(dir, 'package')
      execFileSync('mkdir', ['-p', built])
      execFileSync('cp', ['-R', join(root, 'bin'), join(root, 'dist'), join(root, 'package.json'), built])
      execFileSync('ln', ['-s', join(root, 'node_modules'), join(built, 'node_modules')])
      const programs: Record<string, readonly string[]> = {
        'node -e 0': ['-e', '0'],
        'credence recall (package)': [
          join(built, 'bin/credence.js'),
          'recall',
          message,
          '--dir',
          dir,
          '--scope',
          benchScope,
        ],
        'credence recall (clone)': [
          join(root, 'bin/credence.js'),
          'recall',
          message,
          '--dir',
          dir,
          '--scope',
          benchScope,
        ],
      }
      const samples = new Map<string, number[]>(Object.keys(programs).map((name) => [name, []]))
      for (let round = -2; round < rounds; round += 1) {
        for (const [name, argv] of Object.entries(programs)) {
          const start = performance.now()
          const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
          if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
          if (round >= 0) samples.get(name)?.push(performance.now() - start)
        }
      }
      const rows = [...samples].map(([program, sample]) => ({ program, beliefs: size, spread: spreadOf(sample) }))
      const floor = rows[0]?.spread.p50 ?? Number.NaN
      for (const { program, spread } of rows)
        log(`  ${program.padEnd(28)} p50 ${milliseconds(spread.p50)} ms  ${(spread.p50 / floor).toFixed(2)}x`)
      return { rows }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
}
