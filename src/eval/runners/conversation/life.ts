import { existsSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { readObjects } from './data-file.ts'
import {
  allAt,
  anyAt,
  type FoundTurn,
  idOf,
  type Suite,
  type SuiteAnswer,
  type SuiteConversation,
  type SuiteQuestion,
  type SuiteTurn,
  turnId,
} from './suite.ts'

const Line = z.object({
  session: z.string().min(1),
  role: z.enum(['user', 'assistant']),
  at: z.iso.datetime({ offset: true }),
  text: z.string().min(1),
})

const kinds = [
  'told-once',
  'changed',
  'paraphrase',
  'needed-by-task',
  'never-told',
  'unrelated',
  'presupposed',
  'dependent',
] as const
const silentKinds: readonly string[] = ['never-told', 'unrelated']

const Places = z.array(z.object({ session: z.string(), index: z.int().min(0) })).default([])
const Message = z
  .object({
    id: z.string().regex(/^[\w.-]+$/u),
    kind: z.enum(kinds),
    message: z.string().min(1),
    goldTurns: Places,
    also: Places,
    earlier: Places,
    dependent: Places,
  })
  .refine(({ kind, goldTurns }) => silentKinds.includes(kind) === (goldTurns.length === 0), {
    error: `goldTurns must be empty for ${silentKinds.join(' and ')}, and name a turn for every other kind`,
  })
  .refine(({ kind, earlier }) => (kind !== 'changed' && kind !== 'presupposed') || earlier.length > 0, {
    error: 'earlier must name an outdated turn for changed and presupposed',
  })
  .refine(({ kind, dependent }) => (kind === 'dependent') === dependent.length > 0, {
    error: 'dependent must name a turn for dependent, and for no other kind',
  })
type Message = z.infer<typeof Message>

/** The chats of one person with an assistant, and later messages of eight kinds. docs/evaluation.md describes the files. */
export const life: Suite = {
  name: 'life',
  published: null,
  decisive: ['newest', 'corrected', 'marked', 'missed', 'falseFire', 'any@10'],
  read: function* (path) {
    const folders = foldersIn(path)
    for (const folder of folders) yield conversationOf(folder, folders.length > 1 ? `${basename(folder)}-` : '')
  },
  score: (question, { found, shown }) => {
    const { gold, group } = question
    const ranked = found.map(idOf)
    const needsNewest = group === 'changed' || group === 'presupposed'
    return {
      'any@1': anyAt(ranked, gold.turns, 1),
      'any@10': anyAt(ranked, gold.turns, 10),
      'all@5': allAt(ranked, gold.turns, 5),
      'newest-found': needsNewest ? Number(isNewestFirst(found, question)) : null,
      ...(shown !== null && {
        newest: group === 'changed' ? Number(isNewestFirst(shown, question)) : null,
        corrected: group === 'presupposed' ? Number(isNewestFirst(shown, question)) : null,
        marked: group === 'dependent' ? Number(isDependentMarked(shown, question)) : null,
      }),
    }
  },
  failure: ({ group }, { shown }) => [
    shown === null || shown.length === 0
      ? 'Nothing was shown.'
      : `${failed[group] ?? 'Only other turns are shown'}: ${shown.map(({ text }) => `"${text}"`).join(' ')}`,
  ],
}

const failed: Readonly<Record<string, string>> = {
  changed: 'The newest statement is not shown, or not first',
  presupposed: 'The correction is not shown, or not first',
  dependent: 'The change is not shown, and the statement that depends on the old value is not marked',
}

/** Whether the newest turn is included and precedes every outdated turn. */
function isNewestFirst(turns: readonly FoundTurn[], { gold: { turns: newest, earlier } }: SuiteQuestion): boolean {
  const place = turns.findIndex(({ id }) => newest.has(id))
  return place >= 0 && !turns.slice(0, place).some(({ id }) => earlier?.has(id))
}

/** Whether the context shows the change, or marks every statement that depends on the old value as earlier. */
function isDependentMarked(shown: NonNullable<SuiteAnswer['shown']>, { gold }: SuiteQuestion): boolean {
  const dependent = shown.filter(({ id }) => gold.dependent?.has(id))
  return (
    shown.some(({ id }) => gold.turns.has(id)) ||
    (dependent.length > 0 && dependent.every(({ isEarlier }) => isEarlier))
  )
}

const historyName = 'history.jsonl'
const messagesName = 'questions.json'

/** The folder itself if it is a life, else the lives in it. */
function foldersIn(path: string): readonly string[] {
  const isLife = (folder: string): boolean => existsSync(join(folder, historyName))
  if (isLife(path)) return [resolve(path)]
  const found = existsSync(path)
    ? readdirSync(path)
        .map((name) => join(path, name))
        .filter(isLife)
        .sort()
    : []
  if (found.length > 0) return found
  throw invalid(
    `${path}: no ${historyName} in this folder or in a folder in it.`,
    `Give a folder with ${historyName} and ${messagesName}; docs/evaluation.md describes both.`,
  )
}

function conversationOf(folder: string, prefix: string): SuiteConversation {
  const places = new Map<string, string>()
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const turns = [...readObjects(join(folder, historyName), Line)].map(
    ({ session: given, role, at, text }): SuiteTurn => {
      const session = names.get(given) ?? `s${names.size + 1}`
      names.set(given, session)
      const index = counts.get(given) ?? 0
      counts.set(given, index + 1)
      const id = turnId(session, index)
      places.set(turnId(given, index), id)
      return { id, session, index, role, at, text }
    },
  )
  const last = turns.reduce((latest, { at }) => Math.max(latest, Date.parse(at)), 0)
  const askedAt = new Date(last + 86_400_000).toISOString()
  const file = join(folder, messagesName)
  const idsOf = (given: Message['goldTurns'], id: string): ReadonlySet<string> =>
    new Set(
      given.map(({ session, index }) => {
        const turn = places.get(turnId(session, index))
        if (turn === undefined)
          throw invalid(
            `${file}: ${id} names turn ${index} of ${session}, which is not in ${historyName}.`,
            'Turns are counted from 0 in each session.',
          )
        return turn
      }),
    )
  const questions = [...readObjects(file, Message)].map(
    ({ id, kind, message, goldTurns, also, earlier, dependent }): SuiteQuestion => ({
      id: `${prefix}${id}`,
      text: message,
      askedAt,
      group: kind,
      expectsSilence: silentKinds.includes(kind),
      gold: {
        turns: idsOf(goldTurns, id),
        sessions: new Set(goldTurns.map(({ session }) => names.get(session) as string)),
        also: idsOf(also, id),
        earlier: idsOf(earlier, id),
        dependent: idsOf(dependent, id),
      },
    }),
  )
  const repeated = questions.find(({ id }, place) => questions.findIndex((other) => other.id === id) !== place)
  if (repeated !== undefined)
    throw invalid(`${file}: the id ${repeated.id} is used twice.`, 'Give every message an id of its own.')
  return { id: basename(folder), turns, questions }
}
