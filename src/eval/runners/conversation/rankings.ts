import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { readLines } from '../../../files/lines.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { parseJsonAs } from '../../pack/manifest.ts'
import { emptyAnswer, type SystemAnswer } from '../../system/system.ts'
import { idOf, type SuiteConversation } from './suite.ts'

/** The prefix of a system name that means a rankings file. */
const prefix = 'rankings:'

/** The rankings file in a system name; null for any other system. */
export const rankingsFile = (system: string): string | null =>
  system.startsWith(prefix) ? system.slice(prefix.length) : null

export const rankingsSystem = (file: string): string => `${prefix}${file}`

/** A question's or conversation's id for other memories. A published id may reveal a label: `_abs` marks an unanswerable question. */
export const neutralId = (kind: 'q' | 'c', id: string): string =>
  `${kind}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`

const Ids = z.array(z.string().min(1))
const Words = z.string().regex(/\S/u, 'must not be blank')

/** A memory's answer to one question, as a line of a rankings file. Other fields are rejected, because they could be labels. */
const RankingLine = z.strictObject({
  question: z.string().min(1),
  ranking: Ids,
  lengths: z.array(z.int().min(1)).optional(),
  shown: z
    .array(z.strictObject({ turn: z.string().min(1), text: Words, isEarlier: z.boolean().optional() }))
    .optional(),
  standing: Ids.optional(),
})
type RankingLine = z.infer<typeof RankingLine>

/** The line of a rankings file for an answer. */
export const rankingOf = (question: string, { relevant, pinned, quotes }: SystemAnswer): RankingLine => ({
  question: neutralId('q', question),
  ranking: relevant.map(({ id }) => id),
  ...(relevant.some(({ characters }) => characters === undefined)
    ? {}
    : { lengths: relevant.map(({ characters = 0 }) => characters) }),
  ...(quotes === undefined
    ? {}
    : { shown: quotes.map(({ turn, text, isEarlier = false }) => ({ turn, text, ...(isEarlier && { isEarlier }) })) }),
  ...(pinned.length === 0 ? {} : { standing: [...pinned] }),
})

const fieldsHint =
  'A line is {"question", "ranking"} and, if the memory has them, "lengths", "shown" and "standing"; docs/evaluation.md describes them.'
const idsHint =
  'Use the ids of the documents and questions that `credence benchmark export` writes. Ids of the published files are refused, because some of them contain the answer.'

/** Reads a rankings file, and checks every line against the conversation of its question. */
export async function readRankings(file: string, conversations: () => Iterable<SuiteConversation>) {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw invalid(`${file}: no such file.`, 'Give the path of the rankings with --rankings.')
  const lines = new Map<string, { readonly number: number; readonly ranking: RankingLine }>()
  const hash = createHash('sha256')
  for await (const { number, bytes } of readLines(file)) {
    const place = `${file}:${number}`
    if (bytes === null) throw invalid(`${place}: the line is too long.`, 'Give one question per line.')
    hash.update(bytes).update('\n')
    const text = Buffer.from(bytes).toString('utf8').trim()
    if (text === '') continue
    const ranking = parseJsonAs(place, text, RankingLine, fieldsHint)
    const first = lines.get(ranking.question)
    if (first !== undefined)
      throw invalid(`${place}: "${ranking.question}" is already ranked in line ${first.number}.`, 'Remove one line.')
    lines.set(ranking.question, { number, ranking })
  }
  const answers = new Map<string, SystemAnswer>()
  const missing: string[] = []
  const unused = new Map(lines)
  for (const conversation of conversations()) {
    const documents = documentIds(conversation)
    for (const { id } of conversation.questions) {
      const question = neutralId('q', id)
      const line = lines.get(question)
      unused.delete(question)
      if (line === undefined) missing.push(question)
      else {
        const problem = problemOf(line.ranking, documents)
        if (problem !== null) throw invalid(`${file}:${line.number}: ${problem}`, idsHint)
        answers.set(id, answerOf(line.ranking))
      }
    }
  }
  for (const [question, { number }] of unused)
    throw invalid(`${file}:${number}: the suite has no question "${question}".`, idsHint)
  if (missing.length > 0)
    throw invalid(
      `${file}: ${missing.length} of ${missing.length + answers.size} questions have no line, such as "${missing[0]}".`,
      'Give every question a line, because leaving out hard questions would raise the figures. Nothing found is "ranking": [].',
    )
  return { answers, name: rankingsSystem(basename(file)), version: `sha256:${hash.digest('hex')}` }
}

type Documents = { readonly turns: ReadonlySet<string>; readonly sessions: ReadonlySet<string> }

const documentIds = ({ turns }: SuiteConversation): Documents => ({
  turns: new Set(turns.map(idOf)),
  sessions: new Set(turns.map(({ session }) => session)),
})

function problemOf(
  { ranking, lengths, shown = [], standing = [] }: RankingLine,
  { turns, sessions }: Documents,
): string | null {
  const ofSessions = ranking.length > 0 && sessions.has(ranking[0] as string)
  const documents = ofSessions ? sessions : turns
  const kind = ofSessions ? 'sessions' : 'turns'
  if (ranking.length > documents.size)
    return `${ranking.length} ids, but the question has only ${documents.size} ${kind}.`
  const twice = ranking.find((id, place) => ranking.indexOf(id) !== place)
  if (twice !== undefined) return `"${twice}" is in the ranking twice.`
  const unknown =
    ranking.find((id) => !documents.has(id)) ??
    [...standing, ...shown.map(({ turn }) => turn)].find((id) => !turns.has(id))
  if (unknown === undefined)
    return (lengths?.length ?? ranking.length) === ranking.length
      ? null
      : `${lengths?.length} lengths for ${ranking.length} ids.`
  return sessions.has(unknown) || turns.has(unknown)
    ? `"${unknown}" is not one of the ${kind}; a ranking has sessions or turns, not both.`
    : `"${unknown}" is not a document of this question.`
}

const answerOf = ({ ranking, lengths = [], shown, standing = [] }: RankingLine): SystemAnswer => ({
  ...emptyAnswer,
  relevant: ranking.map((id, place) => ({ id, score: null, ...omitUndefined({ characters: lengths[place] }) })),
  pinned: standing,
  ...(shown === undefined
    ? {}
    : { quotes: shown.map(({ turn, text, isEarlier = false }) => ({ turn, text, isEarlier })) }),
})
