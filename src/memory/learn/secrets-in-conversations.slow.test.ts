import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { secretsIn } from './secrets.ts'

/** Public conversations, which are not part of the repository. */
const data = fileURLToPath(new URL('../../../../shared/data/', import.meta.url))
const folders = ['ama-bench', 'beam', 'locomo', 'longmemeval']

const isThere = folders.every((folder) => existsSync(`${data}${folder}`))
if (!isThere)
  process.stderr.write(`skipped: false alarms in real turns, since ${folders.join(', ')} are not in ../shared/data\n`)

/** Every text of a turn in these files: what was said, or what a tool was asked and answered. */
function turnsIn(value: unknown, turns = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const one of value) turnsIn(one, turns)
  else if (value !== null && typeof value === 'object') {
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && /^(?:content|text|action|observation)$/u.test(field)) turns.add(inner)
      else turnsIn(inner, turns)
    }
  }
  return turns
}

it.skipIf(!isThere)('raises at most one false alarm in a thousand real turns', () => {
  const files = folders.flatMap((folder) =>
    readdirSync(`${data}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?:jsonl|chat\.json|dev\d*\.json)\.gz$/u.test(file))
      .map((file) => `${data}${folder}/${file}`),
  )
  const turns = files.flatMap((file) => {
    const text = gunzipSync(readFileSync(file)).toString('utf8')
    const values = file.endsWith('.jsonl.gz') ? text.trimEnd().split('\n') : [text]
    return [...turnsIn(values.map((value) => JSON.parse(value)))]
  })

  const alarms = turns.filter((turn) => secretsIn(turn).length > 0).length

  process.stderr.write(`${alarms} of ${turns.length} turns\n`)
  expect(turns.length).toBeGreaterThan(10_000)
  expect(alarms / turns.length).toBeLessThanOrEqual(0.001)
})
