import { type Judgement, judgeStatement } from './judge-statement.ts'
import { isPlaceholder } from './meaning.ts'
import { piecesOf } from './pieces.ts'
import { parseQuestion, type Question } from './question.ts'
import { hasShape } from './shapes.ts'
import { type ParsedStatement, type Statement, withPlainPhrases } from './statement.ts'
import type { Thread } from './thread.ts'

/** What was found for one question. */
export type Found = {
  /** What answers it; nothing when it is not known. */
  readonly statements: readonly Statement[]
  /** Parts of the question that nothing answers: "my dentist's address" of "my dentist's name and address". */
  readonly unknown: readonly string[]
  /** Told about the same thing, but not what was asked. */
  readonly related: readonly Statement[]
  /** Of what answers it: what no longer holds in full, since something later gives another value. */
  readonly outdated: readonly Statement[]
  readonly thread: Thread
}

export type Surroundings = {
  /** Whether it goes on with the question before it in the same sentence. */
  readonly goesOn?: boolean
  /** Whether it was put without saying what it is about: "and why?". */
  readonly isShort?: boolean
  readonly parsedStatements: readonly ParsedStatement[]
  /** What the question before was about. */
  readonly thread: Thread | null
  /** Ids of what recall brings up for the question by itself. */
  readonly preferred: ReadonlySet<string>
}

const mostAnswers = 12
/** Further statements belong to an answer that may have several parts when they fit almost as well. */
const nearlyAsGood = 0.25

/** How far back "it" may reach. */
const longestThread = 4

/** Finds what answers a question among what was told. "It" is what was spoken of last, if that gives an answer. */
export function findAnswer(asked: string, around: Surroundings): Found {
  const first = findInThread(asked, around)
  if (around.goesOn === true) return { ...sameAgain(asked, first, around), thread: first.thread }
  let found = first
  let thread = around.thread
  for (let back = 1; found.statements.length === 0 && thread?.before && back < longestThread; back += 1) {
    thread = thread.before
    found = findInThread(asked, { ...around, thread })
  }
  return { ...(found.statements.length > 0 ? found : first), thread: { ...found.thread, before: around.thread } }
}

/** What answered the first half of a sentence may tell the second half too: "and who provides it?". */
function sameAgain(asked: string, found: Found, { thread, isShort = false }: Surroundings): Found {
  const question = parseQuestion(withPlainPhrases(asked))
  const pointsBack = isShort || question.pronoun || /\b(?:are|is|were|was) there\b|\bthat\b/iu.test(asked)
  if (found.statements.length > 0 || thread === null || !pointsBack) return found
  const before = thread.answers.map(({ statement }) => statement)
  const { wants } = question
  if (wants !== null && found.related.some(({ text }) => hasShape(text, wants))) return found
  const telling = wants === null ? [] : before.filter(({ text }) => hasShape(text, wants))
  if (telling.length > 0) return { ...found, statements: telling.slice(0, 1), related: [] }
  return found.related.length > 0 ? found : { ...found, related: before.slice(0, 1) }
}

function findInThread(asked: string, around: Surroundings): Found {
  const question = inThread(parseQuestion(withPlainPhrases(asked)), around.thread)
  const whole = best(question, around)
  const pieces = piecesOf(asked)
  if (pieces.length === 1 || whole.some(({ leans, score }) => leans.length === 0 && score >= 1))
    return foundOf(question, { answers: whole, unknown: [], around })
  const each = pieces.map((piece) => ({ piece, answers: best(parseQuestion(withPlainPhrases(piece)), around) }))
  const known = each.filter(({ answers }) => answers.length > 0)
  if (known.length === 0) return foundOf(question, { answers: whole, unknown: [], around })
  const unknown = each.filter(({ answers }) => answers.length === 0).map(({ piece }) => piece)
  return foundOf(question, { answers: known.flatMap(({ answers }) => answers), unknown, around })
}

/** Everything told about a topic: what speaks of all of it, by name or through a name. */
export function findAbout(topic: string, parsedStatements: readonly ParsedStatement[]): readonly Statement[] {
  const terms = parseQuestion(withPlainPhrases(topic)).terms.filter(({ isOptional }) => !isOptional)
  return parsedStatements
    .filter(({ meanings, kinds, through }) =>
      terms.every(({ meaning }) => meanings.has(meaning) || kinds.has(meaning) || through.has(meaning)),
    )
    .map(({ statement }) => statement)
}

/** A question that says only "when?" or "what does it do?" is about what the one before was about. */
function inThread(question: Question, thread: Thread | null): Question {
  const isOpen = question.terms.every(({ isOptional, meaning }) => isOptional || isPlaceholder(meaning))
  // "When?" points back; "How old am I?" does not.
  const pointsBack = question.pronoun || (question.terms.length === 0 && !question.isAboutSpeaker)
  if (thread === null || thread.terms.length === 0 || !isOpen || !pointsBack) return question
  return { ...question, terms: thread.terms, head: thread.head, wantsSeveral: question.wants === null }
}

function best(question: Question, { parsedStatements, thread, preferred }: Surroundings): readonly Judgement[] {
  if (question.terms.length === 0) return broughtUp(question, parsedStatements, preferred)
  const used = question.pronoun ? thread : null
  const judged = parsedStatements
    .map((parsed) => judgeStatement(question, parsed, used))
    .map((one) => (preferred.has(one.parsed.statement.id) ? { ...one, score: one.score + 0.05 } : one))
  const answering = judged.filter(({ verdict }) => verdict === 'answers')
  const ranked = fittingTo(question, answering, used).toSorted(
    (one, other) => other.score - one.score || other.parsed.statement.order - one.parsed.statement.order,
  )
  const top = ranked[0]
  if (top === undefined) return question.terms === thread?.terms ? ofTheSame(question, judged, thread) : []
  if (!question.wantsSeveral) return [newestOf(top, question, judged)]
  const several = ranked.filter(({ score }) => score >= top.score - nearlyAsGood)
  return [...new Set(several.map((one) => newestOf(one, question, judged)))].slice(0, mostAnswers)
}

/** "How long have I been at it?" is answered by what speaks of the same by name, and says how long. */
function ofTheSame({ wants }: Question, judged: readonly Judgement[], { answers }: Thread): readonly Judgement[] {
  const names = answers.flatMap(({ words }) => words.flatMap(({ isProper, word }) => (isProper ? [word] : [])))
  const found = judged.findLast(
    ({ parsed }) =>
      wants !== null && hasShape(parsed.statement.text, wants) && parsed.words.some(({ word }) => names.includes(word)),
  )
  return found === undefined ? [] : [{ ...found, verdict: 'answers', score: 1 }]
}

/** What was told later holds, when it has the value that is asked for. */
function newestOf(top: Judgement, { wants }: Question, judged: readonly Judgement[]): Judgement {
  const { replacedBy } = top.parsed
  const later = judged.find(({ parsed }) => parsed.statement.id === replacedBy?.id)
  if (later === undefined) return top
  const tells = wants === null ? later.verdict !== 'no' : hasShape(later.parsed.statement.text, wants)
  return tells ? later : top
}

/** A question without a word of its own is answered by what is known by the question itself: "how old am I". */
const broughtUp = (
  { wants }: Question,
  parsedStatements: readonly ParsedStatement[],
  preferred: ReadonlySet<string>,
): readonly Judgement[] =>
  parsedStatements
    .filter(({ statement }) => preferred.has(statement.id) && (wants === null || hasShape(statement.text, wants)))
    .slice(0, 1)
    .map((parsed) => ({ parsed, verdict: 'answers', score: 1, followsThread: false, leans: [] }))

/** "How old is he?" said of nobody in particular is answered by nobody's age. */
function fittingTo(question: Question, answering: readonly Judgement[], thread: Thread | null): readonly Judgement[] {
  if (thread === null) return answering
  const following = answering.filter(({ followsThread }) => followsThread)
  const given = new Set(thread.answers.map(({ statement }) => statement.id))
  const further = following.filter(({ parsed }) => !given.has(parsed.statement.id))
  // "And what is it?" asks for something else than what was just said.
  if (question.wants === null && question.terms === thread.terms && further.length > 0) return further
  const required = question.terms.filter(({ isOptional }) => !isOptional)
  const namesItself =
    required.length > 1 || /^\W*(?:what|which)\s+(?!is|are|was|were|do|does|did|has|have)\p{L}/iu.test(question.text)
  return following.length > 0 || !namesItself ? following : answering
}

function foundOf(
  question: Question,
  {
    answers,
    unknown,
    around,
  }: { readonly answers: readonly Judgement[]; readonly unknown: readonly string[]; readonly around: Surroundings },
): Found {
  const outdated = answers.flatMap(({ parsed }) => (parsed.replacedBy === null ? [] : [parsed]))
  const statements = uniqueStatements([
    ...outdated.flatMap(({ replacedBy }) => (replacedBy === null ? [] : [replacedBy])),
    ...answers.flatMap(({ parsed, leans }) => [lastingOf(parsed), ...leans]),
  ])
  const nearest = answers.length > 0 ? [] : nearestTo(question, around)
  return {
    statements,
    unknown,
    related: uniqueStatements(
      nearest.flatMap(({ replacedBy, statement, lasting }) =>
        replacedBy === null ? [statement] : [replacedBy, { ...statement, text: lasting }],
      ),
    ),
    outdated: [...outdated, ...nearest.filter(({ replacedBy }) => replacedBy !== null)].map(
      ({ statement }) => statement,
    ),
    thread: {
      terms: question.terms,
      head: question.head,
      answers: answers.length > 0 ? answers.map(({ parsed }) => parsed) : nearest,
      before: null,
    },
  }
}

/** The one statement that comes nearest without answering. */
function nearestTo(
  question: Question,
  { parsedStatements, thread, goesOn = false }: Surroundings,
): readonly ParsedStatement[] {
  // When it is not known whom "he" means, whatever is near may be meant.
  const isKnown = goesOn || (thread !== null && thread.answers.length > 0)
  const used = question.pronoun && isKnown ? thread : null
  const judged = parsedStatements.map((parsed) => judgeStatement(question, parsed, used))
  const [nearest] = judged
    .filter(({ verdict, followsThread }) => verdict === 'related' && (used === null || followsThread))
    .sort((one, other) => other.score - one.score || other.parsed.statement.order - one.parsed.statement.order)
  return nearest === undefined ? [] : [newestOf(nearest, question, judged).parsed]
}

const lastingOf = ({ statement, lasting }: ParsedStatement): Statement => ({ ...statement, text: lasting })

const uniqueStatements = (statements: readonly Statement[]): readonly Statement[] => [
  ...new Map(statements.map((statement) => [statement.id, statement])).values(),
]
