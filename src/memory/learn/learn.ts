import { mayChange } from '../../beliefs/authority.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { correct } from '../correct.ts'
import { type BeliefDraft, limits, parseDraft } from '../draft.ts'
import { newBelief, type Remembered, remember } from '../remember.ts'
import type { Author, Workshop } from '../workshop.ts'
import type { Candidate, Extractor, Refusal } from './candidate.ts'
import { gate, longestStatement } from './gate.ts'
import { keptDetails } from './kept-details.ts'
import { knownBelief, type View } from './known.ts'
import { rulesExtractor } from './rules.ts'
import { bracketed } from './stand-alone.ts'

export type LearnRequest = {
  readonly user: string
  readonly author: Author
  readonly agent: string | null
  /** What is in view; a correction may be about any of it. */
  readonly view: readonly string[]
  /** Where new beliefs are written to. */
  readonly scopes: readonly string[]
  readonly text: string
  /** Earlier messages of the same conversation, oldest first. */
  readonly earlier?: readonly string[]
  /** Id of the message, kept with every belief that comes of it. */
  readonly sourceId?: string
  /** Says what would be done and changes nothing. */
  readonly dryRun?: boolean
  /** Default: the rules, which need no model. */
  readonly extractor?: Extractor
  readonly signal?: AbortSignal
}

/** A statement that was taken in, and what became of it. With `dryRun` the belief is what it would be. */
export type Taken = {
  readonly candidate: Candidate
  readonly outcome: Remembered['outcome']
  readonly belief: Belief
  readonly replaced: readonly Belief[]
  /** One sentence: why it was taken. */
  readonly because: string
}

export type Learned = { readonly taken: readonly Taken[]; readonly refused: readonly Refusal[] }

/**
 * Takes in what a person says in a conversation: finds the statements worth keeping, and remembers or corrects each.
 * Hearing the same message again reinforces what it said and adds nothing.
 */
export async function learn(workshop: Workshop, request: LearnRequest): Promise<Learned> {
  const extractor = request.extractor ?? rulesExtractor
  const { text, earlier = [] } = request
  const { candidates, refused } = gate(await extractor.extract({ text, earlier }, request.signal))
  const taken: Taken[] = []
  const aboutNothing: Refusal[] = []
  for (const candidate of candidates) {
    const one = await takeIn(workshop, { ...request, extractor }, candidate)
    if (one === null) aboutNothing.push(nothingMeant(candidate))
    else taken.push(one)
  }
  return { taken, refused: [...refused, ...aboutNothing].sort((one, other) => one.span.start - other.span.start) }
}

type Task = LearnRequest & { readonly extractor: Extractor }

async function takeIn(workshop: Workshop, task: Task, candidate: Candidate): Promise<Taken | null> {
  const view: View = { user: task.user, agent: task.agent, scopes: [...new Set([...task.view, ...task.scopes])] }
  const meant = await knownBelief(workshop, view, candidate)
  // What somebody likes and what is known about it may have the same name, and are two beliefs.
  const isAnother = meant !== null && candidate.kind === 'statement' && !isOfOneKind(meant, candidate)
  if (isAnother && !isSameStatement(meant.content, candidate.content)) {
    const named = { ...candidate, name: `${candidate.name} (${candidate.type.replace('_', ' ')})` }
    return named.name.length > limits.name ? null : takeIn(workshop, task, named)
  }
  const known = meant
  if (candidate.pronoun !== undefined && known === null) return null
  const content =
    candidate.pronoun === undefined || known === null
      ? candidate.content
      : bracketed(candidate.content, candidate.pronoun, known.name)
  const said = { ...candidate, content }
  const whole = known === null ? said : { ...said, ...after(known, said) }
  const result =
    task.dryRun === true ? foreseen(workshop, task, whole, known) : await written(workshop, task, whole, known)
  return { candidate: said, ...result, because: becauseOf(said, result) }
}

const isOfOneKind = (belief: Belief, { type }: Candidate): boolean => {
  const kind = (one: Belief['type']) => (one === 'relation' ? 'entity' : one)
  return kind(belief.type) === kind(type)
}

type Result = Pick<Taken, 'outcome' | 'belief' | 'replaced'>

async function written(workshop: Workshop, task: Task, candidate: Candidate, known: Belief | null): Promise<Result> {
  const { user, author: asker, sourceId } = task
  const author = authorOf(task.extractor, asker)
  const origin = {
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(task.extractor.model === undefined ? {} : { model: task.extractor.model }),
  }
  if (known !== null && !isSameStatement(known.content, candidate.content)) {
    const name = nameAfter(known, candidate)
    const { content, aliases, why } = candidate
    const { outcome, belief, replaced } = await correct(workshop, {
      user,
      author,
      reference: known.id,
      content,
      aliases: name === known.name ? [candidate.name, ...aliases] : aliases,
      status: statusOf(candidate),
      ...whyAfter(known, why),
      ...(name === known.name ? {} : { name }),
      ...origin,
    })
    return { outcome, belief, replaced }
  }
  const draft = draftOf(candidate, known === null ? task.scopes : known.scopes)
  const { outcome, belief, replaced } = await remember(workshop, {
    user,
    author,
    draft: known === null ? draft : again(draft, known),
    ...origin,
  })
  return { outcome, belief, replaced }
}

/**
 * What stands after a change: the new words, or the old ones with the new value where they say more than that. The words
 * that changed it are given as the reason then, since they are what the person said.
 */
function after(known: Belief, candidate: Candidate): Pick<Candidate, 'content' | 'why'> {
  const { content, why } = candidate
  if (candidate.kind === 'retraction') return { content, why }
  const kept = keptDetails(known.content, content, candidate.replaces)
  if (kept === null || kept.length > longestStatement) return { content, why }
  const isOwn = kept === known.content || kept.startsWith(content)
  return { content: kept, why: isOwn ? why : `${changedBy} "${content}"` }
}

const changedBy = 'Changed by the words:'

/** Words that changed an old statement say nothing about the next one. */
const whyAfter = ({ why: before }: Belief, why: string): { readonly why?: string } =>
  why !== '' || before.startsWith(changedBy) ? { why } : {}

/** What `written` would do. */
function foreseen(workshop: Workshop, task: Task, candidate: Candidate, known: Belief | null): Result {
  const author = authorOf(task.extractor, task.author)
  const provenance = {
    ...author,
    sourceId: task.sourceId ?? null,
    model: task.extractor.model ?? null,
    at: workshop.now().toISOString(),
  }
  const statement = parseDraft(draftOf(candidate, known?.scopes ?? task.scopes))
  const belief = newBelief(workshop, { user: task.user, statement, provenance })
  if (known === null) return { outcome: 'remembered', belief, replaced: [] }
  if (isSameStatement(known.content, candidate.content)) return { outcome: 'reinforced', belief: known, replaced: [] }
  const outcome = mayChange(author.actor, known) ? 'corrected' : 'proposed'
  return { outcome, belief: { ...belief, name: nameAfter(known, candidate) }, replaced: [known] }
}

/** What a model reads out of a message is the model's word, whoever wrote the message. */
const authorOf = ({ model }: Extractor, author: Author): Author =>
  model === undefined ? author : { ...author, actor: author.actor === 'tool' ? 'tool' : 'agent' }

const statusOf = ({ certainty }: Candidate) => (certainty === 'said' ? ('active' as const) : ('inferred' as const))

const draftOf = (candidate: Candidate, scopes: readonly string[]): BeliefDraft => ({
  name: candidate.name,
  content: candidate.content,
  scopes,
  type: candidate.type,
  subtype: candidate.subtype,
  aliases: candidate.aliases,
  status: statusOf(candidate),
  // An open question is shown until it is settled, or never.
  pinned: candidate.type === 'open_question',
  ...(candidate.why === '' ? {} : { why: candidate.why }),
  ...(candidate.participants === undefined ? {} : { participants: candidate.participants }),
  ...(candidate.relation === undefined ? {} : { relation: candidate.relation }),
})

/** Said again it keeps the name and the kind it has. */
const again = ({ participants: _participants, relation: _relation, ...draft }: BeliefDraft, known: Belief) => ({
  ...draft,
  name: known.name,
  type: known.type,
  subtype: known.subtype,
})

/** A corrected belief keeps its name, unless the name itself says what no longer holds. */
function nameAfter(known: Belief, candidate: Candidate): string {
  if (candidate.pronoun !== undefined) return known.name
  const isOutdated = (candidate.replaces ?? []).some((old) => nameKey(known.name).includes(nameKey(old)))
  const isGone = (word: string): boolean => !nameKey(candidate.content).includes(nameKey(word))
  const numbers = known.name.match(/\d[\d.,:]*/gu) ?? []
  const names =
    known.type === 'relation' && candidate.type === 'relation' ? (known.name.match(/\p{Lu}[\p{L}-]+/gu) ?? []) : []
  const isOld = isOutdated || numbers.some(isGone) || (names.length > 0 && names.every(isGone))
  return isOld && candidate.kind === 'correction' ? candidate.name : known.name
}

const becauseOf = ({ kind, foundBy, certainty }: Candidate, { outcome, replaced }: Result): string => {
  const how = certainty === 'said' ? `Said plainly (${foundBy})` : `It follows from what was said (${foundBy})`
  const [old] = replaced
  switch (outcome) {
    case 'remembered':
      return kind === 'statement' ? `${how}, and not known before.` : `${how}; nothing was known that it could replace.`
    case 'reinforced':
      return `${how}; it was known, and has been said again.`
    case 'corrected':
      return `${how}; it takes the place of "${old?.content ?? ''}".`
    case 'proposed':
      return `${how}; a person said otherwise and has to decide.`
  }
}

const nothingMeant = ({ content, span, pronoun }: Candidate): Refusal => ({
  text: content,
  span,
  reason: 'about_nobody',
  explanation: `Nothing tells what "${pronoun}" stands for.`,
})
