// Prints the statements that are learned from the user turns of public data sets, so that people can judge them:
// node scripts/learning-sheet.ts <directory with longmemeval, beam and locomo> [how many of each kind]
// Each conversation is learned into a separate memory, in order. The sample is the same in every run. docs/learning.md
// contains the judgements.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type LearnedStatement, learn } from '../src/memory/learn/learn.ts'
import { inMemory } from '../src/store/sqlite/database.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'

type Turn = { readonly id: string; readonly text: string; readonly at: string }
type Chat = readonly Turn[]

const [directory = '', size = '100'] = process.argv.slice(2)
if (!existsSync(join(directory, 'longmemeval'))) {
  console.error('Name the directory that contains longmemeval, beam and locomo.')
  process.exit(2)
}
const unzipped = (file: string): string => gunzipSync(readFileSync(join(directory, file))).toString('utf8')
const timeOf = (written: string): string => {
  const time = new Date(`${written.replace(/ \(\w+\)/u, '').replaceAll('/', '-')}Z`)
  return Number.isNaN(time.getTime()) ? '2024-01-01T00:00:00.000Z' : time.toISOString()
}

function longMemEval(): readonly Chat[] {
  const lines = unzipped('longmemeval/longmemeval_s.dev50.jsonl.gz').split('\n').filter(Boolean)
  return lines.map((line) => {
    const { haystack_session_ids: ids, haystack_sessions: sessions, haystack_dates: dates } = JSON.parse(line)
    return sessions.flatMap((session: { role: string; content: string }[], index: number) =>
      session.flatMap(({ role, content }, turn) =>
        role === 'user' ? [{ id: `lme ${ids[index]} ${turn}`, text: content, at: timeOf(dates[index]) }] : [],
      ),
    )
  })
}

function beam(): readonly Chat[] {
  type Message = { readonly role: string; readonly id: number; readonly content: string }
  return readdirSync(join(directory, 'beam/100K'))
    .sort()
    .map((chat) => {
      const batches: { turns: Message[][] }[] = JSON.parse(unzipped(`beam/100K/${chat}/chat.json.gz`))
      return batches
        .flatMap(({ turns }) => turns.flat())
        .filter(({ role }) => role === 'user')
        .map(({ id, content }) => {
          const text = content.replace(/\s*->->\s*[\d,]+\s*$/u, '')
          return { id: `beam ${chat} ${id}`, text, at: timeOf('') }
        })
    })
}

function locomo(): readonly Chat[] {
  type Conversation = Readonly<Record<string, unknown>>
  const chats: { sample_id: string; conversation: Conversation }[] = JSON.parse(unzipped('locomo/locomo.dev3.json.gz'))
  return chats.flatMap(({ sample_id: sample, conversation }) => {
    const turns = Object.entries(conversation).flatMap(([name, session]) =>
      /^session_\d+$/u.test(name) ? (session as { speaker: string; dia_id: string; text: string }[]) : [],
    )
    return [...Map.groupBy(turns, ({ speaker }) => speaker).values()].map((own) =>
      own.map(({ dia_id: id, text }) => ({ id: `locomo ${sample} ${id}`, text, at: timeOf('') })),
    )
  })
}

async function takesFrom(chat: Chat): Promise<readonly (LearnedStatement & { readonly id: string })[]> {
  let beliefs = 0
  const newId = (): string => {
    beliefs += 1
    return `b-${beliefs}`
  }
  const ports = { store: openSqliteStore({ file: inMemory, random: randomBytes }), now: () => new Date(0), newId }
  const place = { user: 'person', agent: null, view: ['project:here'], scopes: ['project:here'] } as const
  const author = { actor: 'person', origin: 'sheet' } as const
  const takes: (LearnedStatement & { readonly id: string })[] = []
  for (const { id, text, at } of chat) {
    const { taken } = await learn(ports, { ...place, author, text, saidAt: at })
    takes.push(...taken.map((one) => ({ ...one, id })))
  }
  return takes
}

/** Pseudo-random numbers, the same in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const chats = [...longMemEval(), ...beam(), ...locomo()]
const turns = new Set(chats.flatMap((chat) => chat.map(({ text }) => text))).size
const takes = new Map<string, LearnedStatement & { readonly id: string }>()
for (const chat of chats) for (const take of await takesFrom(chat)) takes.set(`${take.id} ${take.belief.content}`, take)
console.log(`${turns} different turns, ${takes.size} takes`)
for (const [kind, own] of Map.groupBy(takes.values(), ({ finding }) => finding.kind)) {
  const random = randomFrom(11)
  const sample = own
    .map((take) => ({ take, place: random() }))
    .sort((a, b) => a.place - b.place)
    .slice(0, Number(size))
  console.log(`\n## ${kind}: ${own.length} takes, ${((own.length / turns) * 1_000).toFixed(2)} per 1,000 turns`)
  for (const { take } of sample) {
    const { belief, outcome, replaced, id } = take
    const old = replaced.map(({ content }) => ` INSTEAD OF ${content}`).join('')
    console.log([id, outcome, belief.scopes.join(' '), belief.name, `${belief.content}${old}`].join('\t'))
  }
}
