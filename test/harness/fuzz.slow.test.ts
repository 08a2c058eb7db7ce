import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gateStores } from '../../src/eval/gate/ci-gate.ts'
import { randomFrom } from '../../src/eval/score/statistics.ts'
import { type ArtifactKind, parseArtifact } from '../../src/eval/store/parse-artifact.ts'
import { storeStatus } from '../../src/eval/store/status.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { plant } from './eval-store.ts'
import {
  baselineExample,
  caseExample,
  environmentExample,
  manifestExample,
  redTeamExample,
  runExample,
  shadowExample,
} from './example-documents.ts'

const seed = Number(process.env.FC_SEED || 20_260_101)
const rounds = 10_000

const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  0.5,
  1e-320,
  1e308,
  2 ** 53,
  -(2 ** 31),
  '',
  ' ',
  '0',
  '1',
  'null',
  'x',
  '../../etc/passwd',
  '.',
  '..',
  'a/b',
  'a\\b',
  '\u0000',
  '\ud800',
  '\u202e',
  '𝔘𝔫𝔦',
  'x'.repeat(200),
  '2026-02-30T00:00:00Z',
  '<script>',
  [],
  {},
  [[]],
  [{}],
  { a: { b: [1] } },
  ['x', 'x'],
  [null],
  { __proto__: null, constructor: 1 },
  { toString: 1, length: -1 },
]
const names = [
  'id',
  'prompt',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'a b',
  '\u0000',
  'length',
  'then',
  '0',
]

type Random = () => number

/** A copy, because the next change may mutate an inserted value. */
const fresh = (value: unknown): unknown =>
  value !== null && typeof value === 'object' ? structuredClone(value) : value

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item

/** A document with one to four changes at any depth. */
function mutated(document: unknown, random: Random): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(document))
  for (let change = 0; change <= random() * 4; change += 1) mutate(copy, random)
  return copy
}

function mutate(root: unknown, random: Random): void {
  let place = root
  while (place !== null && typeof place === 'object') {
    const holder = place as Record<string, unknown>
    const keys = Object.keys(holder)
    const key = keys.length === 0 || random() < 0.1 ? pick(random, names) : pick(random, keys)
    const inner = holder[key]
    if (inner !== null && typeof inner === 'object' && random() < 0.7) {
      place = inner
      continue
    }
    // The length of a list cannot be deleted or redefined, so the list is emptied.
    if (Array.isArray(place) && key === 'length') place.length = 0
    else if (random() < 0.2) delete holder[key]
    else
      Object.defineProperty(holder, key, {
        value: fresh(pick(random, values)),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    return
  }
}

/** The text of a document, possibly damaged as by a disk or an editor. */
function damaged(text: string, random: Random): Uint8Array {
  const bytes = Buffer.from(text)
  const at = Math.floor(random() * bytes.length)
  switch (Math.floor(random() * 8)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      bytes[at] = Math.floor(random() * 256)
      return bytes
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes])
    case 3:
      return Buffer.from(text.replace('{', `{"__proto__":{"polluted":true},`))
    case 4:
      return Buffer.concat([Buffer.from('\uFEFF'), bytes])
    default:
      return bytes
  }
}

const subjects: readonly (readonly [string, ArtifactKind, readonly object[]])[] = [
  ['manifests', 'manifest', [manifestExample, redTeamExample]],
  ['runs', 'run-summary', [runExample]],
  ['shadow records', 'shadow-record', [shadowExample]],
  ['snapshots', 'baseline', [baselineExample]],
  ['case records', 'case-record', [caseExample]],
  ['environments', 'environment', [environmentExample]],
]

describe('fuzzed documents', () => {
  it.each(subjects)('%s cause no crash, and every refusal names file and field', (_name, kind, examples) => {
    const random = randomFrom(seed)
    const seen = { accepted: 0, refused: 0 }
    for (let round = 0; round < rounds; round += 1) {
      const bytes = damaged(JSON.stringify(mutated(pick(random, examples), random)), random)
      const context = () => `seed ${seed}, round ${round}: ${Buffer.from(bytes).toString().slice(0, 500)}`

      const checked = parseArtifact(kind, bytes, 'some/file.json')

      if (checked.ok) {
        seen.accepted += 1
        const again = parseArtifact(kind, Buffer.from(JSON.stringify(checked.value)), 'f')
        if (!again.ok) expect(again, context()).toEqual(checked)
        continue
      }
      seen.refused += 1
      for (const { file, field, message } of checked.problems) {
        if (file !== 'some/file.json' || field === '' || message === '') expect(checked.problems, context()).toEqual([])
      }
    }

    // Both must happen; otherwise the mutations are too weak or too strong to prove anything.
    expect(seen.accepted).toBeGreaterThan(rounds / 100)
    expect(seen.refused).toBeGreaterThan(rounds / 10)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('leave a store that can still be read, and that no gate passes', async () => {
    const random = randomFrom(seed)
    for (let round = 0; round < 25; round += 1) {
      using store = temporaryDirectory()
      const spoiled = (document: object): string =>
        Buffer.from(damaged(JSON.stringify(mutated(document, random)), random)).toString()
      plant(store.path, {
        'benchmarks/ama-memory/manifest.json': spoiled(manifestExample),
        'runs/run-001.json': spoiled(runExample),
        'runs/run-001/cases.jsonl': `${spoiled(caseExample)}\n${spoiled(caseExample)}`,
        'runs/run-001/environment.json': spoiled(environmentExample),
        'shadow/2026-03-06/3f3ec9f5b356c1f2.json': spoiled(shadowExample),
        'baselines/required-main.json': spoiled(baselineExample),
        'runs/always-broken.json': '{',
      })

      const status = await storeStatus(store.path)
      const report = await gateStores({ base: store.path, candidate: store.path, requireCleanTree: true })

      expect(status.runs.total).toBe(2)
      expect(status.runs.invalid).toBeGreaterThan(0)
      expect(report).toMatchObject({ passed: false, exitCode: 3 })
      expect(report.reasons.every(({ line }) => line.length > 0)).toBe(true)
      await gateStores({ base: join(store.path, 'nowhere'), candidate: store.path, bootstrap: true })
    }
  })
})
