import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { findSecrets } from './secrets.ts'

/** Public conversations, which are not part of the repository. */
const data = fileURLToPath(new URL('../../../../shared/data/', import.meta.url))
const folders = ['ama-bench', 'beam', 'life', 'locomo', 'longmemeval']

const isThere = folders.every((folder) => existsSync(`${data}${folder}`))
if (!isThere)
  process.stderr.write(`skipped: false alarms in real turns, since ${folders.join(', ')} are not in ../shared/data\n`)

type Turns = { readonly people: Set<string>; readonly others: Set<string> }

/** Every text of a turn in these files: messages, tool calls and tool results. */
function addTurns(value: unknown, turns: Turns, speaker = ''): void {
  if (Array.isArray(value)) for (const one of value) addTurns(one, turns, speaker)
  else if (value !== null && typeof value === 'object') {
    const own = 'role' in value ? String(value.role) : 'speaker' in value ? 'user' : speaker
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && /^(?:content|text|action|observation)$/u.test(field))
        (own === 'user' ? turns.people : turns.others).add(inner)
      else addTurns(inner, turns, own)
    }
  }
}

it.skipIf(!isThere)(
  'has at most one false alarm in 5,000 real turns of people, and one in 500 of agents and tools',
  () => {
    const files = folders.flatMap((folder) =>
      readdirSync(`${data}${folder}`, { recursive: true, encoding: 'utf8' })
        .filter((file) => /(?:jsonl|chat\.json|dev\d*\.json)\.gz$|history\.jsonl$/u.test(file))
        .map((file) => `${data}${folder}/${file}`),
    )
    const turns: Turns = { people: new Set(), others: new Set() }
    for (const file of files) {
      const bytes = readFileSync(file)
      const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
      for (const json of file.includes('.jsonl') ? text.trimEnd().split('\n') : [text])
        addTurns(JSON.parse(json), turns)
    }

    const alarms = (texts: ReadonlySet<string>): number =>
      [...texts].filter((text) => findSecrets(text).length > 0).length
    const ofPeople = alarms(turns.people)
    const ofOthers = alarms(turns.others)

    process.stderr.write(
      `people: ${ofPeople} of ${turns.people.size}; agents and tools: ${ofOthers} of ${turns.others.size}\n`,
    )
    expect(turns.people.size).toBeGreaterThan(10_000)
    expect(ofPeople / turns.people.size).toBeLessThanOrEqual(1 / 5_000)
    expect(ofOthers / turns.others.size).toBeLessThanOrEqual(1 / 500)
  },
)
