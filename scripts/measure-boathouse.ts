/**
 * Measures search and push on a history of eight people, an assistant and its tools (`boathouse/`). Its author wrote it
 * before reading the ranking code. `node scripts/measure-boathouse.ts [--vectors] [--misses]`.
 *
 * A line of the history is `Name: text`; `A:` is the assistant, `T: action | result` a step of a tool. `s07.2` is the
 * second line of session s07. For an update only the newest turn is right; for `none` and `other`, no turn is.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TurnRole } from '../src/beliefs/turn.ts'
import { openTurnSystem } from '../src/eval/runners/conversation/turn-systems.ts'
import { openMemory } from '../src/index.ts'

const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(`boathouse/${name}.txt`, import.meta.url), 'utf8')
    .trim()
    .split('\n')

function readHistory() {
  let session = { name: '', start: 0, length: 0 }
  return linesOf('history').flatMap((line) => {
    const [, name, start] = /^# (\w+) (\S+)$/u.exec(line) ?? []
    if (name !== undefined) session = { name, start: Date.parse(`${start}:00Z`), length: 0 }
    const [, who, said = ''] = /^(\w+): (.*)$/u.exec(line) ?? []
    if (who === undefined) return []
    const at = new Date(session.start + session.length * 60_000).toISOString()
    session.length += 1
    const place = { id: `${session.name}.${session.length}`, session: session.name, index: session.length - 1, at }
    const role: TurnRole = who === 'A' ? 'assistant' : who === 'T' ? 'tool' : 'user'
    const speaker = role === 'user' ? { speaker: who } : {}
    return [{ ...place, ...speaker, role, text: role === 'tool' ? said.replace(' | ', '\n\n') : said }]
  })
}

const questions = linesOf('questions').map((line) => {
  const [kind = '', text = '', ids = ''] = line.split(' | ').map((part) => part.replace(/\s*\|$/u, ''))
  return { kind, text, evidence: new Set(ids.split(' ').filter((id) => id !== '')) }
})

const turns = readHistory()
const isVectors = process.argv.includes('--vectors')
const directory = mkdtempSync(join(tmpdir(), 'credence-boathouse-'))
const memory = openMemory({ dir: directory, semantic: isVectors ? 'on' : 'off' })
await memory.hear(
  turns.map(({ id: _id, index: _index, ...turn }) => turn),
  { learn: 'nothing' },
)
if (isVectors) await memory.embedTexts()
const unused = () => Promise.reject(new Error('Plain BM25 opens nothing.'))
const plain = await openTurnSystem('bm25-turns', { open: unused, openEmbedder: unused, version: '' })
const user = 'person'
const scope = 'project:boathouse'
await plain.hear(turns.map((turn) => ({ ...turn, user, scope })))

type Counts = Record<'questions' | 'first' | 'in 5' | 'in 10' | 'bm25 first' | 'bm25 in 10' | 'fires' | 'shown', number>
const none: Counts = {
  questions: 0,
  first: 0,
  'in 5': 0,
  'in 10': 0,
  'bm25 first': 0,
  'bm25 in 10': 0,
  fires: 0,
  shown: 0,
}
const table = new Map<string, Counts>()
const idOf = ({ session, index }: { readonly session: string; readonly index: number }): string =>
  `${session}.${index + 1}`
for (const { kind, text, evidence } of questions) {
  const found = (await memory.search(text, { in: 'turns', limit: 10 })).quotes.map(idOf)
  const answer = await plain.recall({ user, scopes: [scope], message: text, budget: {}, recall: {} })
  const others = answer.relevant.slice(0, 10).map(({ id }) => id)
  const shown = await Promise.all(
    (await memory.recall(text)).quotes.map(async ({ turn }) => idOf(await memory.turn(turn))),
  )
  const isEvidence = (id: string): boolean => evidence.has(id)
  const rank = found.findIndex(isEvidence)
  const count = table.get(kind) ?? { ...none }
  table.set(kind, count)
  count.questions += 1
  count.first += Number(rank === 0)
  count['in 5'] += Number(rank >= 0 && rank < 5)
  count['in 10'] += Number(rank >= 0)
  count['bm25 first'] += Number(isEvidence(others[0] ?? ''))
  count['bm25 in 10'] += Number(others.some(isEvidence))
  count.fires += Number(shown.length > 0)
  count.shown += Number(shown.some(isEvidence))
  if (process.argv.includes('--misses') && evidence.size > 0 && rank !== 0)
    console.log(`${kind}: ${text} Place ${rank + 1 || 'none'}; first is ${found[0]}.`)
}
console.table(Object.fromEntries(table))
await memory.close()
rmSync(directory, { recursive: true })
