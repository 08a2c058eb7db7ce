import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, mergeAliases, nameKey } from '../../beliefs/identity.ts'
import type { BeliefChange } from '../../beliefs/journal.ts'
import { universalScope, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { formKeys } from '../../search/forms.ts'
import { isInformative, searchableWords } from '../../search/searchable-text.ts'
import { parseDraft } from '../change/draft.ts'
import { inherit, newBelief, superseded } from '../change/remember.ts'
import { type Author, change, created, type Ports, revised } from '../change/transaction.ts'
import { datedWords } from './dated-words.ts'
import type { Extraction, Extractor, Finding, Refusal } from './extraction.ts'
import { nameOf, openingOf } from './name-of.ts'
import { findStatements } from './rules.ts'
import { redacted } from './secrets.ts'

export type LearnRequest = {
  readonly user: string
  readonly author: Author
  readonly agent: string | null
  /** The scopes in view; a correction may be about a belief in any of them. */
  readonly view: readonly string[]
  /** Where beliefs about the work are written to. What is about the person goes to `user:universal`. */
  readonly scopes: readonly string[]
  readonly text: string
  /** When it was said, where that is not now. "Tomorrow" is the day after. */
  readonly saidAt?: string
  /** Earlier messages of the same conversation, oldest first. Only a model reads them. */
  readonly earlier?: readonly string[]
  /** Id of the message, kept with every belief that comes of it. */
  readonly sourceId?: string
  /** Says what would be done and changes nothing. */
  readonly dryRun?: boolean
  /** Default: the rules, which need no model. */
  readonly extractor?: Extractor
  readonly signal?: AbortSignal
}

/**
 * `remembered`: new. `reinforced`: it was known. `corrected`: it takes the place of what it names, or of the old value of
 * a slot. `candidate`: listed for review. `confirmed`: a candidate that was said again.
 */
export const learnOutcomes = ['remembered', 'reinforced', 'corrected', 'candidate', 'confirmed'] as const
export type LearnOutcome = (typeof learnOutcomes)[number]

/** A statement that was taken, and what became of it. */
export type Taken = {
  readonly finding: Finding
  readonly outcome: LearnOutcome
  readonly belief: Belief
  readonly replaced: readonly Belief[]
  /** Why it was taken, and where it is kept, in words. */
  readonly because: string
}

export type Learned = { readonly taken: readonly Taken[]; readonly refused: readonly Refusal[] }

/** Everything one message changes, to be committed together or not at all. */
export type LearningPlan = Learned & { readonly changes: readonly BeliefChange[] }

/** Learns from what a person says in a conversation. A message is learned whole, in one commit, or not at all. */
export async function learn(ports: Ports, request: LearnRequest): Promise<Learned> {
  const { text, earlier = [], extractor } = request
  const found =
    extractor === undefined ? findStatements(text) : await extractor.extract({ text, earlier }, request.signal)
  const author = authorOf(request)
  const plan = (at: string) => planLearning(ports, { ...request, author, found, model: extractor?.model ?? null }, at)
  if (request.dryRun === true) return withoutChanges(await plan(ports.now().toISOString()))
  return change<Learned>(
    ports,
    { user: request.user, author, operation: 'learn' },
    async (at) => {
      const planned = await plan(at)
      const result = withoutChanges(planned)
      return planned.changes.length === 0
        ? { kind: 'nothing', result }
        : { kind: 'learn', changes: planned.changes, result: () => result }
    },
    () => Promise.reject(new Error('Learning has no idempotency key to replay.')),
  )
}

const withoutChanges = ({ taken, refused }: LearningPlan): Learned => ({ taken, refused })

/** What a model reads out of a message is the model's word, whoever wrote the message. */
const authorOf = ({ author, extractor }: LearnRequest): Author =>
  extractor?.model === undefined || author.actor === 'tool' ? author : { ...author, actor: 'agent' }

export type PlanRequest = Omit<LearnRequest, 'dryRun' | 'extractor' | 'signal' | 'earlier'> & {
  /** What was found in the message; without it, the rules look for statements. */
  readonly found?: Extraction
  readonly model?: string | null
}

/**
 * Works out what one message changes, and changes nothing. Only a person's own statement becomes an active belief, and
 * nothing is superseded but by an explicit correction that names it or by another value of the same slot.
 */
export async function planLearning(ports: Ports, request: PlanRequest, at: string): Promise<LearningPlan> {
  const { findings, refused } = request.found ?? findStatements(request.text)
  const plan = new Plan(ports, request, at)
  const refusals = [...refused]
  for (const [index, finding] of findings.entries()) {
    const isRepeated = findings.slice(index + 1).some((later) => isSameFinding(finding, later))
    if (isRepeated) continue
    try {
      const refusal = await plan.add(finding)
      if (refusal !== null) refusals.push({ text: redacted(finding.content), span: finding.span, ...refusal })
    } catch (error) {
      // A sentence that cannot be a belief (a control character, nothing to find it by) is left out, and the rest kept.
      if (!(error instanceof MemoryError) || error.code !== 'invalid') throw error
      const { content, span } = finding
      refusals.push({ text: redacted(content), span, reason: 'unreadable', explanation: error.message })
    }
  }
  refusals.sort((one, other) => one.span.start - other.span.start)
  return { changes: plan.changes(), taken: plan.taken, refused: refusals }
}

/** Of two values for a slot in one message the later one counts; the same statement twice counts once. */
const isSameFinding = (one: Finding, other: Finding): boolean =>
  (one.slot !== undefined && one.slot === other.slot) || isSameStatement(one.content, other.content)

type Refused = Pick<Refusal, 'reason' | 'explanation'>

/** The changes of one message, each belief at most once. */
class Plan {
  readonly #ports: Ports
  readonly #request: PlanRequest
  readonly #at: string
  readonly #isPerson: boolean
  readonly #changes = new Map<string, BeliefChange & { readonly after: Belief }>()
  taken: readonly Taken[] = []

  constructor(ports: Ports, request: PlanRequest, at: string) {
    this.#ports = ports
    this.#request = request
    this.#at = at
    this.#isPerson = request.author.actor === 'person'
  }

  changes(): readonly BeliefChange[] {
    return [...this.#changes.values()]
  }

  async add(found: Finding): Promise<Refused | null> {
    const content = await datedWords(found.content, this.#request.saidAt ?? this.#at)
    const finding = { ...found, content }
    if (finding.kind === 'correction') return this.#isPerson ? this.#correct(finding) : null
    const belief = this.#beliefOf(finding)
    const same = await this.#saying(belief)
    if (same !== null) await this.#again(finding, same)
    else if (finding.slot !== undefined && this.#isPerson) await this.#fillSlot(finding, belief)
    else await this.#addNew(finding, belief)
    return null
  }

  #beliefOf(finding: Finding): Belief {
    const { content, type, subtype, about, slot, kind } = finding
    const { user, author, scopes, sourceId = null, model = null } = this.#request
    const isCandidate = !this.#isPerson || kind === 'preference' || finding.isDoubtful === true
    const found = subtype === 'instruction' ? { name: openingOf(content), aliases: [] } : nameOf(content)
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

  /** A current belief or a candidate that says the same and is found by the same name. */
  async #saying(belief: Belief): Promise<Belief | null> {
    const { store } = this.#ports
    const keys = formKeys(belief.name).map(({ key }) => key)
    const ids = [...(await store.everyHolder(belief.user, keys)).values()].flat()
    const isSame = (known: Belief): boolean =>
      (isCurrent(known) || known.candidate) &&
      known.agent === null &&
      known.scopes.some((scope) => belief.scopes.includes(scope)) &&
      isSameStatement(known.content, belief.content)
    const same = (await store.getMany(belief.user, [...new Set(ids)])).filter(isSame)
    return same.find(isCurrent) ?? same[0] ?? null
  }

  async #again(finding: Finding, known: Belief): Promise<void> {
    // What a model finds has no influence on what is known.
    if (!this.#isPerson) return
    const reinforcement = { count: known.reinforcement.count + 1, at: this.#at }
    const settled = { status: 'active', editedByPerson: true, candidate: false } as const
    const revision = revised(known.candidate ? await this.#withFreeName(known) : known, this.#at, {
      reinforcement,
      ...(known.candidate ? settled : {}),
    })
    this.#changes.set(known.id, revision)
    this.#take(finding, known.candidate ? 'confirmed' : 'reinforced', revision.after)
  }

  /** Another value takes the place of the one before. */
  async #fillSlot(finding: Finding, belief: Belief): Promise<void> {
    const held = await this.#ports.store.holders(belief.user, belief.name, belief.scopes)
    this.#changes.set(belief.id, { ...created(belief), after: belief })
    for (const old of held) this.#changes.set(old.id, superseded(old, belief, this.#at))
    this.#take(finding, held.length === 0 ? 'remembered' : 'corrected', belief, held)
  }

  /** Nothing is replaced: where the name is taken the belief gets another. */
  async #addNew(finding: Finding, belief: Belief): Promise<void> {
    const named = belief.candidate ? belief : await this.#withFreeName(belief)
    this.#changes.set(named.id, { ...created(named), after: named })
    this.#take(finding, belief.candidate ? 'candidate' : 'remembered', named)
  }

  async #withFreeName(belief: Belief): Promise<Belief> {
    const planned = new Set(
      [...this.#changes.values()].flatMap(({ after }) => (isCurrent(after) ? [nameKey(after.name)] : [])),
    )
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? belief.name : `${belief.name} (${number})`
      const held = await this.#ports.store.holders(belief.user, name, belief.scopes)
      if (held.length === 0 && !planned.has(nameKey(name)))
        return { ...belief, name, aliases: mergeAliases(name, [belief.name], belief.aliases) }
    }
  }

  /**
   * Replaces the one belief in view that says what the correction takes back and is about the same. What is only a piece
   * of a sentence is never a belief of its own: where it may be meant for a known belief, the person is asked.
   */
  async #correct(finding: Finding): Promise<Refused | null> {
    const { replaces = null } = finding
    const said = tellingWords(finding.content)
    const old = replaces === null ? [] : wordsOf(replaces)
    const alike = (await this.#beliefsWith(old.length > 0 ? old : said)).filter((belief) => {
      const words = wordsOf(belief.content)
      return old.length > 0 ? hasRun(words, old) : said.some((word) => words.includes(word))
    })
    const subject = said.filter((word) => !old.includes(word))
    const meant = alike.filter(({ name, content }) =>
      tellingWords(`${name} ${content}`).some((word) => subject.includes(word)),
    )
    const [target, ...others] = meant
    if (old.length === 0) return isFragment(finding.content) && meant.length > 0 ? unclear(finding, meant) : null
    if (target === undefined) return alike.length > 0 ? unclear(finding, alike) : null
    if (others.length > 0) return unclear(finding, meant)
    const { name, type, subtype, scopes } = target
    const about = scopes.includes(universalScope) ? 'person' : 'work'
    const correcting = this.#beliefOf({ ...finding, type, subtype, about })
    const isOutdated = (form: string): boolean => hasRun(wordsOf(form), old)
    const kept = isOutdated(name) ? await this.#withFreeName(correcting) : { ...correcting, name }
    const heir = inherit(kept, [{ ...target, aliases: target.aliases.filter((form) => !isOutdated(form)) }])
    const belief = { ...heir, aliases: heir.aliases.filter((form) => !isOutdated(form)), scopes }
    const replaced = this.#changes.has(target.id) ? this.#unplan(target) : [target]
    this.#changes.set(belief.id, { ...created(belief), after: belief })
    for (const known of replaced) this.#changes.set(known.id, superseded(known, belief, this.#at))
    this.#take(finding, replaced.length === 0 ? 'remembered' : 'corrected', belief, replaced)
    return null
  }

  /** Takes back what the same message said before. Returns what that had replaced. */
  #unplan({ id }: Belief): readonly Belief[] {
    const replaced = this.taken.find(({ belief }) => belief.id === id)?.replaced ?? []
    this.#changes.delete(id)
    this.taken = this.taken.filter(({ belief }) => belief.id !== id)
    return replaced
  }

  /** Current beliefs in view with these words in their text, those of this message included. */
  async #beliefsWith(words: readonly string[]): Promise<readonly Belief[]> {
    const { user, agent, view, scopes } = this.#request
    if (words.length === 0) return []
    const inView = visibleScopes([...view, ...scopes, universalScope])
    const { store } = this.#ports
    const hits = await store.matchText({ user, agent, scopes: inView, words, includeRetired: false, limit: 50 })
    const ids = hits.map(({ beliefId }) => beliefId)
    const known = await store.getMany(user, ids)
    const changed = [...this.#changes.values()].flatMap(({ after, expectedVersion }) =>
      expectedVersion === 0 ? [after] : [],
    )
    return [...known.filter(({ id }) => !this.#changes.has(id)), ...changed].filter(isCurrent)
  }

  #take(finding: Finding, outcome: LearnOutcome, belief: Belief, replaced: readonly Belief[] = []): void {
    this.taken = [...this.taken, { finding, outcome, belief, replaced, because: becauseOf(finding, outcome, belief) }]
  }
}

const wordsOf = (text: string): readonly string[] => searchableWords(text)
const tellingWords = (text: string): readonly string[] =>
  wordsOf(text).filter((word) => isInformative(word) && !['not', 'no', 'now'].includes(word))

/** Whether words follow each other in a text in this order. */
const hasRun = (words: readonly string[], run: readonly string[]): boolean =>
  ` ${words.join(' ')} `.includes(` ${run.join(' ')} `)

/** More words make a sentence that stands for itself. */
const longestFragment = 8
const isFragment = (content: string): boolean => wordsOf(content).length <= longestFragment

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
}

function becauseOf({ kind, slot }: Finding, outcome: LearnOutcome, { scopes }: Belief): string {
  const place = `Kept in ${scopes.join(' and ')}.`
  switch (outcome) {
    case 'remembered':
      return `${reasons[kind]}. ${place}`
    case 'reinforced':
      return `${reasons[kind]}; it was known already. ${place}`
    case 'corrected':
      return slot === undefined
        ? `${reasons[kind]}. ${place}`
        : `${reasons[kind]}; ${slot} has one value at a time. ${place}`
    case 'confirmed':
      return `${reasons[kind]}, and was said before. ${place}`
    case 'candidate':
      return `${reasons[kind]}; it is not recalled until it is confirmed or said again. ${place}`
  }
}
