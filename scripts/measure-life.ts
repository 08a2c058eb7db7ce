/**
 * Measures search and recall on invented lives: the chats of one person with an assistant, and messages of six kinds that
 * the person sends afterwards. `node scripts/measure-life.ts <folder>…`, each with history.jsonl and questions.json (the
 * README of such a folder describes both). Everything goes through the library, on SQLite; with `--vectors` also by meaning.
 * `--beliefs` also stores the turns with the answers as beliefs, under names that no message has, so that only meaning finds them.
 * `--list KIND` also prints every message of that kind with its result.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type HeardTurn, type Memory, openMemory } from '../src/index.ts'

const kinds = ['told-once', 'changed', 'paraphrase', 'needed-by-task', 'never-told', 'unrelated'] as const
type Kind = (typeof kinds)[number]

type Place = { readonly session: string; readonly index: number }
type Question = {
  readonly id: string
  readonly kind: Kind
  readonly message: string
  /** The turns to be found; of a changed fact only the newest. */
  readonly goldTurns: readonly Place[]
  /** Other turns with the answer, neither required nor wrong. */
  readonly also: readonly Place[]
  /** Outdated turns. */
  readonly earlier: readonly Place[]
}

type Line = Required<Pick<HeardTurn, 'session' | 'role' | 'at' | 'text'>>
const turnOf = ({ session, role, at, text }: Line): HeardTurn => ({ session, role, at, text })

const { values, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'string' },
    vectors: { type: 'boolean', default: false },
    beliefs: { type: 'boolean', default: false },
  },
})
const absent = folders.find((folder) => !existsSync(join(folder, 'history.jsonl')))
if (folders.length === 0 || absent !== undefined) {
  console.error(
    absent === undefined
      ? 'Name the folders of the lives: node scripts/measure-life.ts <folder>…'
      : `There is no history.jsonl in ${absent}. Name folders with history.jsonl and questions.json.`,
  )
  process.exit(2)
}

const keyOf = ({ session, index }: Place): string => `${session}:${index}`
const includesAny = (places: readonly Place[], wanted: readonly Place[]): boolean => {
  const keys = new Set(wanted.map(keyOf))
  return places.some((place) => keys.has(keyOf(place)))
}

/** Whether the newest turn comes before every outdated one. */
function isNewestFirst(ranked: readonly Place[], { goldTurns, earlier }: Question): boolean {
  const [newest, oldest] = [goldTurns, earlier].map((wanted) =>
    ranked.findIndex((place) => wanted.some((one) => keyOf(one) === keyOf(place))),
  ) as [number, number]
  return newest >= 0 && (oldest < 0 || newest < oldest)
}

/** `outdated`: outdated turns without the newest. `wrong`: only turns that have nothing to do with the answer. */
type Shown = 'right' | 'outdated' | 'wrong' | 'silent'

function judge(shown: readonly Place[], { goldTurns, also, earlier }: Question): Shown {
  if (shown.length === 0) return 'silent'
  if (includesAny(shown, goldTurns)) return 'right'
  if (includesAny(shown, earlier)) return 'outdated'
  return includesAny(shown, also) ? 'right' : 'wrong'
}

type Result = {
  readonly question: Question
  /** All quotes, and the sure ones alone. */
  readonly shown: Shown
  readonly sure: Shown
  readonly isFirst: boolean
  readonly isFound: boolean
  readonly isNewestFirst: boolean
  readonly lines: readonly string[]
}

async function measure(memory: Memory, question: Question): Promise<Result> {
  const { quotes, perhaps } = await memory.recall(question.message)
  const said = await Promise.all(
    quotes.map(async (quote) => {
      const { session, index } = await memory.turn(quote.turn)
      const { level, earlier, probability, text } = quote
      return { session, index, level, line: `${earlier ? '(earlier) ' : ''}${probability.toFixed(2)} ${text}` }
    }),
  )
  const shown = [
    ...said,
    ...perhaps.map(({ belief, cosine }) => ({
      ...placeOf(belief.name),
      level: 'perhaps',
      line: `belief ${cosine.toFixed(2)} ${belief.content}`,
    })),
  ]
  const hits = (await memory.search(question.message, { in: 'turns', limit: 10 })).quotes
  return {
    question,
    shown: judge(shown, question),
    sure: judge(
      shown.filter(({ level }) => level === 'sure'),
      question,
    ),
    isFirst: includesAny(hits.slice(0, 1), question.goldTurns),
    isFound: includesAny(hits, question.goldTurns),
    isNewestFirst: isNewestFirst(hits, question),
    lines: shown.map((one) => `${keyOf(one)} ${one.level} ${one.line}`),
  }
}

/** The name of a belief is the place of its turn. */
const placeOf = (name: string): Place => {
  const [session, index] = name.split(':') as [string, string]
  return { session, index: Number(index) }
}

async function rememberAnswers(
  memory: Memory,
  history: readonly string[],
  questions: readonly Question[],
): Promise<void> {
  const sessions = Map.groupBy(
    history.map((line) => JSON.parse(line) as Line),
    ({ session }) => session,
  )
  const places = new Map(questions.flatMap(({ goldTurns }) => goldTurns).map((place) => [keyOf(place), place]))
  for (const [name, { session, index }] of places)
    await memory.remember({ name, content: sessions.get(session)?.[index]?.text.slice(0, 1_000) ?? '' })
}

const root = mkdtempSync(join(tmpdir(), 'credence-life-'))
const results = new Map<string, readonly Result[]>()
try {
  for (const folder of folders) {
    const memory = openMemory({ dir: join(root, String(results.size)), semantic: values.vectors ? 'on' : 'off' })
    const history = readFileSync(join(folder, 'history.jsonl'), 'utf8').trim().split('\n')
    await memory.hear(history.map((line) => turnOf(JSON.parse(line) as Line)))
    const questions = JSON.parse(readFileSync(join(folder, 'questions.json'), 'utf8')) as readonly Question[]
    if (values.beliefs) await rememberAnswers(memory, history, questions)
    await memory.embedTexts()
    const measured: Result[] = []
    for (const question of questions) measured.push(await measure(memory, question))
    results.set(basename(folder), measured)
    await memory.close()
  }
} finally {
  rmSync(root, { recursive: true, force: true })
}

const count = (all: readonly Result[], isCounted: (result: Result) => boolean): number => all.filter(isCounted).length

const all = [...results.values()].flat()
console.log(`Lives: ${[...results.keys()].join(', ')}\n`)
console.log(
  '| kind | messages | search: first | first ten | newest before outdated | recall, sure: right | outdated without newest | only wrong | sure or perhaps: right | outdated without newest | only wrong | silent |',
)
console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
for (const kind of kinds) {
  const some = all.filter(({ question }) => question.kind === kind)
  const needsMemory = some.some(({ question }) => question.goldTurns.length > 0)
  const search = needsMemory ? [count(some, (one) => one.isFirst), count(some, (one) => one.isFound)] : ['', '']
  const order = kind === 'changed' ? count(some, (one) => one.isNewestFirst) : ''
  const recall = (['sure', 'shown'] as const).flatMap((which) => [
    needsMemory ? count(some, (one) => one[which] === 'right') : '',
    count(some, (one) => one[which] === 'outdated'),
    count(some, (one) => one[which] === 'wrong'),
  ])
  const silent = count(some, ({ shown }) => shown === 'silent')
  console.log(`| ${[kind, some.length, ...search, order, ...recall, silent].join(' | ')} |`)
}
for (const { question, ...result } of all.filter(({ question }) => question.kind === values.list)) {
  console.log(
    `\n${question.id} ${result.shown}${result.isNewestFirst ? ', newest first in search' : ''}: ${question.message}`,
  )
  console.log(`  newest ${question.goldTurns.map(keyOf).join(' ')}; outdated ${question.earlier.map(keyOf).join(' ')}`)
  for (const line of result.lines) console.log(`  ${line}`)
}
