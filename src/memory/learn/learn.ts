import type { ParsedResult } from 'chrono-node/en'
import { authorityOf, type Belief, isCurrent, outranks } from '../../beliefs/belief.ts'
import { isSameStatement, mergeAliases, nameKey } from '../../beliefs/identity.ts'
import type { BeliefChange } from '../../beliefs/journal.ts'
import { universalScope, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { offsetIn, parseTime } from '../../local-time.ts'
import { yieldToEventLoop } from '../../next-turn.ts'
import { analyse } from '../../search/analyse.ts'
import { formKeys } from '../../search/forms.ts'
import { informativeWords, searchableWords } from '../../search/searchable-text.ts'
import { singular } from '../../search/singular.ts'
import { forEachInSlices } from '../../search/slices.ts'
import { filterAliases } from '../change/aliases.ts'
import { hasRoomForMessages, maxForBelief } from '../change/authority.ts'
import { parseDraft } from '../change/draft.ts'
import { isOtherValue } from '../change/other-value.ts'
import { inherit, newBelief, supersedeBelief } from '../change/remember.ts'
import { findRestatements } from '../change/restatement.ts'
import { change, createChange, reviseChange } from '../change/transaction.ts'
import { freeName } from '../find-belief.ts'
import type { Author, Ports } from '../ports.ts'
import { hasFormOf, isDeliberate } from './deliberate.ts'
import type { Extraction, Extractor, Finding, Refusal } from './extraction.ts'
import { openingOf, statementNameOf } from './name-of.ts'
import { findStatements } from './rules.ts'
import { redactSecrets } from './secrets.ts'

export type LearnRequest = {
  readonly user: string
  readonly author: Author
  readonly agent: string | null
  /** The scopes in view. A correction may be about a belief in any of them. */
  readonly view: readonly string[]
  /** The scopes that beliefs about the work are written to. Beliefs about the person go to `user:universal`. */
  readonly scopes: readonly string[]
  readonly text: string
  /** When it was said. Default: now. Dates such as "tomorrow" are relative to this time. */
  readonly saidAt?: string
  /** Earlier messages of the same conversation, oldest first. Only a model reads them. */
  readonly earlier?: readonly string[]
  /** Id of the message, stored with every belief learned from it. */
  readonly sourceId?: string
  /** Returns the result without writing anything. */
  readonly dryRun?: boolean
  /** Default: the rules, which need no model. */
  readonly extractor?: Extractor
  readonly signal?: AbortSignal
}

/**
 * `remembered`: new. `reinforced`: known already. `corrected`: replaces the belief that it names, or the old value of a slot.
 * `candidate`: waits for review. `confirmed`: repeats a candidate.
 */
export const learnOutcomes = ['remembered', 'reinforced', 'corrected', 'candidate', 'confirmed'] as const
export type LearnOutcome = (typeof learnOutcomes)[number]

/** A statement that was learned, and the outcome. */
export type LearnedStatement = {
  readonly finding: Finding
  readonly outcome: LearnOutcome
  readonly belief: Belief
  readonly replaced: readonly Belief[]
  /** One sentence with the reason and the scope. */
  readonly because: string
}

export type LearnResult = { readonly taken: readonly LearnedStatement[]; readonly refused: readonly Refusal[] }

/** All changes of one message, which are committed together or not at all. */
export type LearningPlan = LearnResult & { readonly changes: readonly BeliefChange[] }

/** Learns from a message of a person: all of it in one commit, or nothing. */
export async function learn(ports: Ports, request: LearnRequest): Promise<LearnResult> {
  const { user, text, earlier = [], extractor } = request
  const found =
    extractor === undefined ? findStatements(text) : await extractor.extract({ text, earlier }, request.signal)
  const model = extractor?.model ?? null
  // A model's findings have the model as their author, not the person who wrote the message.
  const author: Author =
    model === null || request.author.actor === 'tool' ? request.author : { ...request.author, actor: 'model' }
  return change<LearnResult>(ports, { user, author, operation: 'learn' }, async (at) => {
    const { changes, ...learned } = await planLearning(ports, { ...request, author, found, model }, at)
    if (request.dryRun === true || changes.length === 0) return { kind: 'nothing', result: learned }
    return { kind: 'learn', changes, result: () => learned }
  })
}

export type PlanRequest = Omit<LearnRequest, 'dryRun' | 'extractor' | 'signal' | 'earlier'> & {
  /** The statements of the message. Default: those found by the rules. */
  readonly found?: Extraction
  readonly model?: string | null
}

/**
 * Plans the changes of one message, without writing. Active beliefs come only from a person's message that consists of nothing
 * but the request; statements of any other message become candidates and proposals. A belief is superseded only by an explicit
 * correction that names it, or by a new value of the same slot.
 */
export async function planLearning(ports: Ports, request: PlanRequest, at: string): Promise<LearningPlan> {
  const { findings, refused, statements = [] } = request.found ?? findStatements(request.text)
  const plan = new Plan(ports, request, { at, isDeliberate: isDeliberate(request.text, findings) })
  const refusals = [...refused]
  await forEachInSlices(findings.entries(), async ([index, finding]) => {
    if (findings.slice(index + 1).some((later) => isSameFinding(finding, later))) return
    const refusal = await plan.add(finding).catch(asRefusal)
    if (refusal !== null) refusals.push({ text: redactSecrets(finding.content), span: finding.span, ...refusal })
  })
  await forEachInSlices(statements, (statement) => plan.addOtherValue(statement))
  refusals.sort((a, b) => a.span.start - b.span.start)
  return { changes: [...plan.changes.values()], taken: plan.taken, refused: refusals }
}

/** Whether only the later of two findings counts, because they give values of the same slot or make the same statement. */
const isSameFinding = (a: Finding, b: Finding): boolean =>
  (a.slot !== undefined && a.slot === b.slot) || isSameStatement(a.content, b.content)

type Refused = Pick<Refusal, 'reason' | 'explanation'>

const tooMany: Refused = {
  reason: 'too_many',
  explanation: 'Too many statements of the last hour wait for the person.',
}

/** Turns the error of a sentence that cannot become a belief, for example because of a control character, into a refusal. */
function asRefusal(error: unknown): Refused {
  if (!(error instanceof MemoryError) || error.code !== 'invalid') throw error
  return { reason: 'unreadable', explanation: error.message }
}

/** The changes of one message, at most one per belief. */
class Plan {
  readonly #ports: Ports
  readonly #request: PlanRequest
  readonly #at: string
  readonly #isPerson: boolean
  /** Whether statements become beliefs without a review. */
  readonly #isConfirmed: boolean
  readonly changes = new Map<string, BeliefChange & { readonly after: Belief }>()
  taken: readonly LearnedStatement[] = []

  constructor(ports: Ports, request: PlanRequest, message: { readonly at: string; readonly isDeliberate: boolean }) {
    this.#ports = ports
    this.#request = request
    this.#at = message.at
    this.#isPerson = request.author.actor === 'person'
    this.#isConfirmed = this.#isPerson && message.isDeliberate
  }

  async add(found: Finding): Promise<Refused | null> {
    const content = await datedWords(found.content, this.#request.saidAt ?? this.#at)
    const finding = { ...found, content }
    if (finding.kind === 'correction') return this.#isPerson ? this.#correct(finding) : null
    // A request may also name the old value. If exactly one belief has that value, it is replaced; otherwise the statement is added.
    if (finding.replaces !== undefined && this.#isPerson) {
      await this.#correct(finding)
      if (this.taken.some((one) => one.finding === finding)) return null
    }
    const drafted = this.#beliefOf(finding)
    const { aliases } = await filterAliases(this.#ports, this.#request.author, drafted)
    const belief = { ...drafted, aliases }
    const known = await this.#sameStatements(belief)
    const own = known.find((one) => isCurrent(one) && !outranks(this.#request.author, one))
    const foreign = own === undefined ? known.filter((one) => isCurrent(one)) : []
    const same = own ?? known.find((one) => one.candidate) ?? foreign[0]
    const isSlot = finding.slot !== undefined && this.#isPerson
    const holders = isSlot ? await this.#ports.store.holders(belief.user, belief.name, belief.scopes) : []
    const [holder] = holders
    // If the person asks to remember another author's statement, the person's belief replaces that author's.
    if (foreign.length > 0 && this.#isPerson && !belief.candidate)
      this.#put(finding, await this.#withFreeName(belief, known), known)
    else if (same !== undefined) await this.#sayAgain(finding, same)
    // A new value of a slot replaces the old one. Names seldom change, so a new name replaces the old one only if the person asks to
    // remember it. Every other statement is added.
    else if (holder !== undefined && (belief.candidate || (finding.slot === 'my name' && finding.isAsked !== true)))
      return this.#propose(finding, holder)
    else if (belief.candidate && !(await this.#hasRoom())) return tooMany
    else if (isSlot) this.#put(finding, belief, holders)
    else await this.#addBeside(finding, belief)
    return null
  }

  /** If a plain statement of the person gives a different value than a belief, proposes it as a correction of that belief. */
  async addOtherValue(statement: Finding): Promise<void> {
    if (!this.#isPerson) return
    const { content } = statement
    const saidAt = this.#request.saidAt ?? this.#at
    const said = { name: statementNameOf(content).name, content }
    const isCorrected = (belief: Belief): boolean =>
      authorityOf(belief) === 'person' &&
      belief.provenance.at <= saidAt &&
      belief.type !== 'open_question' &&
      belief.subtype !== 'instruction' &&
      isOtherValue(belief, said) &&
      saysMostOf(content, belief.content)
    const words = informativeWords(content)
    const stored = (await this.#beliefsWith(words)).filter(({ id }) => !this.changes.has(id))
    const likeness = (belief: Belief): number =>
      [...new Set(informativeWords(belief.content))].filter((word) => words.includes(word)).length
    const [target] = stored.filter(isCorrected).sort((a, b) => likeness(b) - likeness(a))
    if (target !== undefined) await this.#propose({ ...statement, content: await datedWords(content, saidAt) }, target)
  }

  /** Whether another item may wait for review. Old messages come from an import that the person asked for, so the limit does not apply to them. */
  async #hasRoom(): Promise<boolean> {
    const { user, saidAt = this.#at } = this.#request
    const isOld = Date.parse(this.#at) - Date.parse(saidAt) > 3_600_000
    const planned = [...this.changes.values()].filter(({ after }) => after.candidate || after.proposedFor !== null)
    return isOld || hasRoomForMessages(this.#ports, { user, at: this.#at, planned: planned.length })
  }

  /** Adds a statement. The person's words replace an agent's words for the same statement. */
  async #addBeside(finding: Finding, belief: Belief): Promise<void> {
    if (belief.candidate) return this.#put(finding, belief, [])
    const { user, scopes, content } = belief
    const restated = this.#isPerson ? await findRestatements(this.#ports, { user, scopes, content, by: 'agent' }) : []
    const known = restated.filter(({ id }) => !this.changes.has(id))
    // The restated beliefs are replaced, so that an agent's additions to them, such as aliases, do not become the person's.
    this.#put(finding, await this.#withFreeName(belief, known), known)
  }

  #put(finding: Finding, belief: Belief, replaced: readonly Belief[]): void {
    this.changes.set(belief.id, createChange(belief))
    for (const old of replaced) this.changes.set(old.id, supersedeBelief(old, belief, this.#at))
    const outcome = belief.candidate ? 'candidate' : replaced.length === 0 ? 'remembered' : 'corrected'
    this.#take(finding, outcome, belief, replaced)
  }

  #beliefOf(finding: Finding): Belief {
    const { content, type, subtype, about, slot, kind } = finding
    const { user, author, scopes, sourceId = null, model = null } = this.#request
    const isCandidate = !this.#isConfirmed || kind === 'preference'
    const found = subtype === 'instruction' ? { name: openingOf(content), aliases: [] } : statementNameOf(content)
    const statement = parseDraft({
      name: slot ?? finding.name ?? found.name,
      aliases: slot === undefined ? (finding.aliases ?? found.aliases) : [],
      content,
      scopes: about === 'person' ? [universalScope] : scopes,
      type,
      subtype,
      status: isCandidate ? 'inferred' : 'active',
    })
    const provenance = { ...author, sourceId, model, at: this.#at }
    const belief = newBelief(this.#ports, { user, statement, provenance })
    return { ...belief, candidate: isCandidate, editedByPerson: belief.editedByPerson && !isCandidate }
  }

  /** Current beliefs and candidates that make the same statement, and have the name of `belief` as a name or alias. */
  async #sameStatements(belief: Belief): Promise<readonly Belief[]> {
    const { store } = this.#ports
    const keys = formKeys(belief.name).map(({ key }) => key)
    const ids = [...(await store.everyHolder(belief.user, keys)).values()].flat()
    const isSame = (known: Belief): boolean =>
      // Excludes candidates of other authors: they may apply to all scopes, so the statement must not confirm them.
      (isCurrent(known) || (known.candidate && known.provenance.actor === this.#request.author.actor)) &&
      known.agent === null &&
      known.scopes.some((scope) => belief.scopes.includes(scope)) &&
      isSameStatement(known.content, belief.content)
    return (await store.getMany(belief.user, [...new Set(ids)])).filter(isSame)
  }

  async #sayAgain(finding: Finding, known: Belief): Promise<void> {
    // A model's findings do not change known beliefs, and pasting a text twice does not confirm it.
    if (!this.#isPerson || (known.candidate && !this.#isConfirmed)) return
    const reinforcement = { count: known.reinforcement.count + 1, at: this.#at }
    const revision = known.candidate
      ? reviseChange(await this.#withFreeName(known), this.#at, {
          reinforcement,
          status: 'active',
          editedByPerson: true,
          candidate: false,
        })
      : reviseChange(known, this.#at, { reinforcement })
    this.changes.set(known.id, revision)
    this.#take(finding, known.candidate ? 'confirmed' : 'reinforced', revision.after, [])
  }

  /** The belief under a name that no other belief has, apart from the beliefs that it replaces. */
  async #withFreeName(belief: Belief, replaced: readonly Belief[] = []): Promise<Belief> {
    if (replaced.some((old) => isCurrent(old) && nameKey(old.name) === nameKey(belief.name))) return belief
    const planned = [...this.changes.values()].map(({ after }) => after).filter(isCurrent)
    const isPlanned = (name: string): boolean => planned.some((one) => nameKey(one.name) === nameKey(name))
    const name = await freeName(this.#ports, belief, isPlanned)
    return { ...belief, name, aliases: mergeAliases(name, [belief.name], belief.aliases) }
  }

  /**
   * Replaces the one visible belief that contains the old words and shares a subject with the correction. A sentence fragment
   * never becomes a separate belief: if it may correct a known belief, it is refused with a question.
   */
  async #correct(finding: Finding): Promise<Refused | null> {
    const { replaces = null } = finding
    const said = informativeWords(finding.content)
    const old = replaces === null ? [] : searchableWords(replaces)
    const alike = (await this.#beliefsWith(old.length > 0 ? old : said, old.length)).filter((belief) => {
      const words = searchableWords(belief.content)
      return old.length > 0 ? hasRun(words, old) : said.some((word) => words.includes(word))
    })
    const subject = said.filter((word) => !old.includes(word))
    const about = alike.filter(({ name, content }) =>
      informativeWords(`${name} ${content}`).some((word) => subject.includes(word)),
    )
    // The person's own statements come first. Otherwise an agent could make the target ambiguous by repeating the old value.
    const own = about.filter((belief) => authorityOf(belief) === 'person')
    const meant = own.length > 0 ? own : about
    const [target, ...others] = meant
    const isRequest = finding.kind === 'request'
    if (isRequest && (old.length === 0 || target === undefined || others.length > 0)) return null
    if (old.length === 0) {
      const [again, ...more] = meant.filter(({ content }) => saysMostOf(finding.content, content))
      if (again !== undefined && more.length === 0) return this.#propose(finding, again)
      return isFragment(finding.content) && meant.length > 0 ? unclear(finding, meant) : null
    }
    if (target === undefined) return alike.length > 0 ? unclear(finding, alike) : null
    if (others.length > 0) return unclear(finding, meant)
    const lost = informativeWords(target.content).filter((word) => !said.includes(word) && !old.includes(word))
    const isSure = this.#isConfirmed && lost.length <= maxLost && hasSubjectOf(finding, target)
    // A candidate at this point is from the same message and not stored yet, so it is replaced directly.
    if (!target.candidate && !isSure) return isRequest ? null : this.#propose(finding, target)
    const { name, type, subtype, scopes } = target
    const whose = scopes.includes(universalScope) ? 'person' : 'work'
    const correcting = this.#beliefOf({ ...finding, type, subtype, about: whose })
    const isOutdated = (form: string): boolean => hasRun(searchableWords(form), old)
    if (outranks(this.#request.author, target)) {
      this.#put(finding, await this.#withFreeName(correcting, [target]), [target])
      return null
    }
    const kept = isOutdated(name) ? await this.#withFreeName(correcting) : { ...correcting, name }
    const heir = inherit(kept, [{ ...target, aliases: target.aliases.filter((form) => !isOutdated(form)) }])
    const belief = { ...heir, aliases: heir.aliases.filter((form) => !isOutdated(form)), scopes }
    this.#put(finding, belief, this.changes.has(target.id) ? this.#unplan(target) : [target])
    return null
  }

  /** Plans a correction that waits for a person. */
  async #propose(finding: Finding, target: Belief): Promise<Refused | null> {
    const { name, aliases, type, subtype, scopes } = target
    const about = scopes.includes(universalScope) ? 'person' : 'work'
    const correcting = this.#beliefOf({ ...finding, type, subtype, about })
    const fields = outranks(this.#request.author, target)
      ? await this.#withFreeName(correcting, [target])
      : { ...correcting, name, aliases, scopes }
    const belief = { ...fields, candidate: false, proposedFor: target.id }
    const waiting = await this.#ports.store.proposalsFor(belief.user, target.id)
    const isKnown = waiting.some(({ content }) => isSameStatement(content, belief.content))
    const ownWaiting = waiting.filter(({ provenance }) => provenance.actor === this.#request.author.actor)
    if (isKnown || ownWaiting.length >= maxForBelief) return null
    if (!(await this.#hasRoom())) return tooMany
    this.changes.set(belief.id, createChange(belief))
    this.#take(finding, 'candidate', belief, [])
    return null
  }

  /** Removes a planned belief of this message. Returns the beliefs that it would have replaced. */
  #unplan({ id }: Belief): readonly Belief[] {
    const replaced = this.taken.find(({ belief }) => belief.id === id)?.replaced ?? []
    this.changes.delete(id)
    this.taken = this.taken.filter(({ belief }) => belief.id !== id)
    return replaced
  }

  /** Current beliefs in view that contain these words, including the beliefs planned for this message. */
  async #beliefsWith(words: readonly string[], atLeast = 0): Promise<readonly Belief[]> {
    const { user, agent, view, scopes } = this.#request
    if (words.length === 0) return []
    const inView = visibleScopes([...view, ...scopes, universalScope])
    const { store } = this.#ports
    // All beliefs that contain at least `atLeast` of the words are read, because an agent's notes must not hide the person's.
    const limits = atLeast > 0 ? { atLeast, limit: maxWithAllWords } : { limit: maxWithSomeWords }
    const hits = await store.matchText({ user, agent, scopes: inView, words, includeRetired: false, ...limits })
    const ids = hits.map(({ beliefId }) => beliefId).filter((id) => !this.changes.has(id))
    const added = [...this.changes.values()].filter(({ expectedVersion }) => expectedVersion === 0)
    const planned = added.map(({ after }) => after).filter((one) => isCurrent(one) || one.candidate)
    return [...(await store.getMany(user, ids)).filter(isCurrent), ...planned]
  }

  #take(finding: Finding, outcome: LearnOutcome, belief: Belief, replaced: readonly Belief[]): void {
    this.taken = [...this.taken, { finding, outcome, belief, replaced, because: becauseOf(finding, outcome, belief) }]
  }
}

/** Max beliefs to compare with a statement if only those with all the words count. An agent would need two days to store more. */
const maxWithAllWords = 10_000
/** Max beliefs to compare with a statement if a belief need not contain all of its words. */
const maxWithSomeWords = 50

/** Whether the words contain the run, in this order and without gaps. */
const hasRun = (words: readonly string[], run: readonly string[]): boolean =>
  ` ${words.join(' ')} `.includes(` ${run.join(' ')} `)

/** Whether a sentence repeats most words of another. Numbers that the sentence lacks are ignored, because most are values that changed. */
function saysMostOf(sentence: string, content: string): boolean {
  const words = searchableWords(sentence)
  const known = [...new Set(searchableWords(content))].filter((word) => words.includes(word) || !/\d/u.test(word))
  const shared = known.filter((word) => words.includes(word))
  return shared.length * 2 > known.length && informativeWords(shared.join(' ')).length >= 2
}

/**
 * Whether a correction has exactly the subject of the belief: its words are the belief's, except for one new value,
 * which follows the subject and has the form of the old one.
 */
function hasSubjectOf({ lead, replaces }: Finding, { name, content }: Belief): boolean {
  const known = new Set(searchableWords(`${name} ${content}`))
  const words = searchableWords(lead?.text ?? '')
  const isNew = (word: string): boolean => !known.has(word) && !besideSubject.includes(word)
  const start = words.findIndex(isNew)
  if (start < 0 || lead?.hasValue !== true) return start < 0
  const oldValue = wordsThat((word) => !words.includes(word), replaces ?? '')
  return (
    informativeWords(words.slice(0, start).join(' ')).length > 0 &&
    hasFormOf(wordsThat(isNew, lead.text), oldValue) &&
    !/[,;:()–—]\s|\s[-–—(]/u.test(lead.text)
  )
}

const wordsThat = (isMeant: (word: string) => boolean, text: string): string =>
  analyse(text)
    .filter(({ word }) => isMeant(singular(word)))
    .map(({ start, end }) => text.slice(start, end))
    .join(' ')

const besideSubject = searchableWords('the a an my our we i has have is was been now just')

/** Max informative words of a belief that a correction may omit. If it omits more, the belief also states something else. */
const maxLost = 2

/** Max words of a fragment; a longer text is a whole sentence. */
const maxFragmentLength = 8
const isFragment = (content: string): boolean => searchableWords(content).length <= maxFragmentLength

const unclear = ({ content }: Finding, [known, ...others]: readonly Belief[]): Refused => ({
  reason: 'unclear_correction',
  explanation:
    others.length === 0
      ? `Does "${content}" correct "${known?.content}"? Say the whole sentence, or run \`credence correct ${known?.id}\`.`
      : `"${content}" may correct any of ${others.length + 1} beliefs. Say which, in a whole sentence.`,
})

const reasons: Readonly<Record<Finding['kind'], string>> = {
  request: 'The person asked to remember it',
  instruction: 'It is a standing instruction',
  identity: 'It says who the person is',
  preference: 'It is a stated preference',
  correction: 'It names what it corrects',
  model: 'A model found it in the message',
  statement: 'It gives another value of a belief',
}

function becauseOf({ kind, slot }: Finding, outcome: LearnOutcome, { proposedFor }: Belief): string {
  if (proposedFor !== null) return 'It may correct a belief, which stays current until you accept the correction.'
  const more: Readonly<Record<LearnOutcome, string>> = {
    remembered: '',
    reinforced: '; it was known already',
    corrected: slot === undefined ? '' : `; ${slot} has one value at a time`,
    confirmed: ', and was said before',
    candidate: '; it is not recalled until you accept it, or say it again in a separate message',
  }
  return `${reasons[kind]}${more[outcome]}.`
}

/**
 * The date parser. Loaded only when there is something to learn, which is seldom. Loading it and compiling its patterns take
 * longer than everything else, so each happens in a separate turn of the event loop.
 */
let dateParser: Promise<typeof import('chrono-node/en')> | undefined
const loadDateParser = async () => {
  const parser = await import('chrono-node/en')
  await yieldToEventLoop()
  parser.parse('today')
  await yieldToEventLoop()
  return parser
}

/**
 * The sentence with a date after every relative date: "tomorrow [2026-05-04]". Days begin according to the UTC offset of `at`, or
 * if it has none, in the time zone of the process.
 */
export async function datedWords(text: string, at: string): Promise<string> {
  dateParser ??= loadDateParser()
  const { parse } = await dateParser
  const timezone = offsetIn(at)
  const said = { instant: new Date(parseTime('since', at)), ...(timezone === null ? {} : { timezone }) }
  const parsed = (forwardDate: boolean) => parse(text, said, { forwardDate })
  // Parsed in both directions: "this Friday" is the next one, but "last Friday" is in the past.
  const past = new Map(parsed(false).map((one) => [one.index, one]))
  let dated = ''
  let from = 0
  for (const coming of parsed(true)) {
    const isPast = /\b(?:last|past|previous|ago|yesterday)\b/iu.test(coming.text)
    const { index, text: words, start } = (isPast ? past.get(coming.index) : undefined) ?? coming
    const date = dateOf(start)
    const end = index + words.length
    // "From now on", "the week", "2 weeks" and "on Fridays" mean no single day. A full date needs no addition.
    const isLength = /^\d+\s(?:minute|hour|day|week|month|year)s?$/iu.test(words)
    const isNoDay = /^now$|^the\s\p{L}|\d{4}/iu.test(words) || /^s\b/iu.test(text.slice(end)) || isLength
    const isRepeated = /\b(?:every|each|any|most)\s{1,4}$/iu.test(text.slice(Math.max(0, index - 10), index))
    // "The window is Tuesday 14:00" may mean every week. A wrong date is worse than no date.
    const isAnyWeek =
      start.isCertain('weekday') &&
      !start.isCertain('day') &&
      !/\b(?:last|past|previous|this|next|coming)\b/iu.test(words)
    // "My birthday is on 3 May" means every year.
    const isAnyYear = start.isCertain('day') && start.isCertain('month') && !start.isCertain('year')
    if (date === null || isNoDay || isRepeated || isAnyWeek || isAnyYear) continue
    dated += `${text.slice(from, end)} [${date}]`
    from = end
  }
  return dated + text.slice(from)
}

/** The day, or the month if no day is given; null for a time of day or a moment such as "a second". */
function dateOf(start: ParsedResult['start']): string | null {
  if (start.isCertain('millisecond')) return null
  const part = (name: 'day' | 'month' | 'year', length: number): string =>
    String(start.get(name) ?? 0).padStart(length, '0')
  const month = `${part('year', 4)}-${part('month', 2)}`
  if (start.isCertain('day') || start.isCertain('weekday')) return `${month}-${part('day', 2)}`
  return start.isCertain('month') ? month : null
}
