// Prints what the rules of learning take from the user turns of public data sets, so that people can judge it:
//   node scripts/learning-sheet.ts <directory with longmemeval, beam and locomo> [how many of each kind]
// The sample is the same in every run. docs/learning.md has the judgements.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { findStatements } from '../src/memory/learn/rules.ts'

type Turn = { readonly id: string; readonly text: string }

const [directory = '', size = '100'] = process.argv.slice(2)
const unzipped = (file: string): string => gunzipSync(readFileSync(join(directory, file))).toString('utf8')

function longMemEval(): readonly Turn[] {
  const file = 'longmemeval/longmemeval_s.dev50.jsonl.gz'
  const questions = unzipped(file)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return questions.flatMap(({ haystack_session_ids: ids, haystack_sessions: sessions }) =>
    sessions.flatMap((session: { role: string; content: string }[], at: number) =>
      session.flatMap(({ role, content }, turn) =>
        role === 'user' ? [{ id: `lme ${ids[at]} ${turn}`, text: content }] : [],
      ),
    ),
  )
}

function beam(): readonly Turn[] {
  const chats = readdirSync(join(directory, 'beam/100K')).sort()
  return chats.flatMap((chat) => {
    const batches = JSON.parse(unzipped(`beam/100K/${chat}/chat.json.gz`))
    const turns = batches.flatMap(({ turns: groups }: { turns: { role: string; id: number; content: string }[][] }) =>
      groups.flat(),
    )
    return turns
      .filter(({ role }: { role: string }) => role === 'user')
      .map(({ id, content }: { id: number; content: string }) => ({
        id: `beam ${chat} ${id}`,
        text: content.replace(/\s*->->\s*[\d,]+\s*$/u, ''),
      }))
  })
}

function locomo(): readonly Turn[] {
  const chats = JSON.parse(unzipped('locomo/locomo.dev3.json.gz'))
  return chats.flatMap(({ sample_id: sample, conversation }: { sample_id: string; conversation: object }) =>
    Object.entries(conversation).flatMap(([name, turns]) =>
      /^session_\d+$/u.test(name) && Array.isArray(turns)
        ? turns.map(({ dia_id: id, text }) => ({ id: `locomo ${sample} ${id}`, text }))
        : [],
    ),
  )
}

if (!existsSync(join(directory, 'longmemeval'))) {
  console.error('Name the directory that holds longmemeval, beam and locomo.')
  process.exit(2)
}

const known = new Set<string>()
const turns = [...longMemEval(), ...beam(), ...locomo()].filter(({ text }) => !known.has(text) && known.add(text))
const takes = turns.flatMap(({ id, text }) => findStatements(text).findings.map((finding) => ({ id, finding, text })))
console.log(`${turns.length} different turns, ${takes.length} takes`)

/** Numbers that look random and are the same in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

for (const [kind, own] of Map.groupBy(takes, ({ finding }) => finding.kind)) {
  const random = randomFrom(11)
  const sample = own
    .map((take) => ({ take, place: random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, Number(size))
  console.log(`\n## ${kind}: ${own.length} takes, ${((own.length / turns.length) * 1_000).toFixed(2)} per 1,000 turns`)
  for (const { take } of sample) {
    const { content, about, slot } = take.finding
    console.log(`${take.id}\t${slot ?? about}\t${content.replace(/\s+/gu, ' ')}`)
  }
}
