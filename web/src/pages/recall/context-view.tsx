import type { ComponentChildren } from 'preact'
import type { FeedbackVerdict } from '../../../../src/beliefs/recall-counts.ts'
import type {
  ApiBelief,
  ApiMatchedForm,
  ApiNearMiss,
  ApiPerhapsBelief,
  ApiQuote,
  ApiRelevantBelief,
  RouteAnswer,
} from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { dayOf, moment } from '../../format/time.ts'
import { typeWords } from '../../format/words.ts'
import { useKeys } from '../../navigation/keys.ts'
import { address } from '../../navigation/match.ts'
import { Link } from '../../navigation/router.tsx'
import { showToast, toastRefusal } from '../../state/changes.ts'
import {
  AgeBadge,
  Badge,
  BeliefLink,
  Button,
  Clipped,
  Icon,
  type IconName,
  Prose,
  turnAddress,
} from '../../ui/elements.tsx'
import { Panel } from '../../ui/layout.tsx'
import {
  ExplanationTree,
  matchWords,
  meaningWords,
  quoteWords,
  reasonWords,
  StrengthChip,
  strengthOf,
} from './reasons.tsx'
import { pointedAt } from './recall-state.ts'

export type Wish = 'absent' | 'present'
export type OnWish = (belief: ApiBelief, wish: Wish) => void

type ContextViewProps = {
  readonly answer: RouteAnswer<'recall'>
  /** Whether the message has any text. */
  readonly isAsked: boolean
  readonly onWish: OnWish
}

/** The context in its order, each line once and with its reason; then the beliefs that were left out. */
export function ContextView({ answer, isAsked, onWish }: ContextViewProps) {
  useKeys({
    u: { does: 'Call the recalled line under the pointer useful', onPress: () => giveFeedbackHere('useful') },
    n: { does: 'Call the recalled line under the pointer not useful', onPress: () => giveFeedbackHere('not-useful') },
  })
  const { context, leftOut, quoteDecision, namedAnyway } = answer
  const { prelude, relevant, questions, quotes } = context
  const sure = quotes.filter(({ level }) => level === 'sure')
  const perhapsSaid = quotes.filter(({ level }) => level === 'perhaps')
  const told = new Set(prelude?.beliefIds ?? [])
  const pinned = context.pinned.filter(({ id }) => !told.has(id))
  const matchesOf = (id: string) => namedAnyway.find(({ beliefId }) => beliefId === id)?.matches ?? []
  const isNamed = relevant.length + namedAnyway.length > 0
  return (
    <>
      <Tier
        title="Preferences and standing instructions"
        note="In every context"
        count={prelude?.beliefIds.length ?? 0}
      >
        {(prelude?.text.split('\n') ?? []).map((line, index) => (
          <Told key={`${line}-${index}`} line={line} id={prelude?.beliefIds[index] ?? null} />
        ))}
      </Tier>
      <Tier title="Pinned" note="In every context of these scopes" count={pinned.length}>
        {pinned.map((belief) => (
          <Pinned key={belief.id} belief={belief} matches={matchesOf(belief.id)} onWish={onWish} />
        ))}
      </Tier>
      <Tier
        title="Relevant to this message"
        note="Named by the message, best first"
        count={relevant.length}
        empty={emptyWords(isAsked, isNamed, quotes.length + context.perhaps.length)}
      >
        {relevant.map((one) => (
          <Relevant key={one.belief.id} relevant={one} onWish={onWish} all={relevant} />
        ))}
      </Tier>
      <Tier title="Still open" note="Pinned questions" count={questions.length}>
        {questions.map((belief) => (
          <Pinned key={belief.id} belief={belief} matches={matchesOf(belief.id)} onWish={onWish} />
        ))}
      </Tier>
      <Tier title="Said earlier" note="Quotes, word for word" count={sure.length}>
        {sure.map((quote) => (
          <Quoted key={`${quote.turn}-${quote.text}`} quote={quote} asked={quoteDecision?.asked ?? []} />
        ))}
      </Tier>
      <Tier
        title="Perhaps relevant"
        note="Lines that the agent may ignore"
        count={perhapsSaid.length + context.perhaps.length}
      >
        {perhapsSaid.map((quote) => (
          <Quoted key={`${quote.turn}-${quote.text}`} quote={quote} asked={quoteDecision?.asked ?? []} />
        ))}
        {context.perhaps.map((one) => (
          <Perhaps key={one.belief.id} {...one} onWish={onWish} />
        ))}
      </Tier>
      <LeftOutView misses={leftOut} onWish={onWish} />
    </>
  )
}

function emptyWords(isAsked: boolean, isNamed: boolean, others: number): string {
  if (!isAsked) return 'Write a message to see which beliefs it brings, and why.'
  if (isNamed) return 'The message names only beliefs of every context.'
  return others > 0
    ? 'The message names no belief. The lines below match it.'
    : 'The message names nothing that is remembered here.'
}

type TierProps = {
  readonly title: string
  readonly note: string
  readonly count: number
  /** Shown for an empty tier; without it an empty tier is hidden. */
  readonly empty?: string
  readonly children: ComponentChildren
}

function Tier({ title, note, count, empty, children }: TierProps) {
  if (count === 0 && empty === undefined) return null
  return (
    <Panel title={title} note={note} tools={<Badge>{count}</Badge>}>
      {count === 0 ? <p class="pad soft">{empty}</p> : <ul class="rows">{children}</ul>}
    </Panel>
  )
}

const Told = ({ line, id }: { readonly line: string; readonly id: string | null }) => (
  <li class="row apart">
    <Prose text={line} class="grow" />
    {id === null ? null : (
      <Link class="soft small" href={address('beliefs', id)} aria-label={`See it: ${line}`} text="See it" />
    )}
  </li>
)

type RelevantProps = {
  readonly relevant: ApiRelevantBelief
  readonly onWish: OnWish
  readonly all: readonly ApiRelevantBelief[]
}

function Relevant({ relevant, onWish, all }: RelevantProps) {
  const { belief, through, explanation, matches } = relevant
  const relation = all.find((one) => one.belief.id === through)?.belief
  return (
    <Pointed id={belief.id}>
      <Head belief={belief} onWish={onWish} wish="absent">
        <StrengthChip strength={through === null ? strengthOf(relevant) : 'possible'} />
      </Head>
      <Words belief={belief} />
      {through === null ? (
        <>
          <Reasons matches={matches} />
          <Score explanation={explanation} />
        </>
      ) : (
        <Reason>It is not named itself; it is part of “{relation?.name ?? 'a relation'}”, which was.</Reason>
      )}
      <Feedback id={belief.id} of={belief.name} />
    </Pointed>
  )
}

const Perhaps = ({ belief, cosine, minCosine, onWish }: ApiPerhapsBelief & { readonly onWish: OnWish }) => (
  <Pointed id={belief.id}>
    <Head belief={belief} onWish={onWish} wish="present" />
    <Words belief={belief} />
    <Reason>{meaningWords({ cosine, minCosine })}</Reason>
    <Feedback id={belief.id} of={belief.name} />
  </Pointed>
)

const giveFeedbackHere = (verdict: FeedbackVerdict): void => {
  if (pointedAt.value !== null) void giveFeedback(pointedAt.value, verdict)
}

async function giveFeedback(id: string, verdict: FeedbackVerdict): Promise<void> {
  try {
    const { useful, notUseful } = await ask('giveFeedback', { body: { id, verdict } })
    showToast(`Thank you. In all ${useful} useful, ${notUseful} not useful.`)
  } catch (error) {
    toastRefusal(error)
  }
}

/** Two buttons that count whether a recalled line was useful. */
const Feedback = ({ id, of }: { readonly id: string; readonly of: string }) => (
  <p class="row small">
    {feedbackButtons.map(([verdict, label]) => (
      <Button
        key={verdict}
        tone="quiet"
        class="small"
        onClick={() => giveFeedback(id, verdict)}
        aria-label={`${label}: ${of}`}
        label={label}
      />
    ))}
  </p>
)

const feedbackButtons = [
  ['useful', 'Useful'],
  ['not-useful', 'Not useful'],
] as const satisfies readonly (readonly [FeedbackVerdict, string])[]

const Score = ({ explanation }: Pick<ApiRelevantBelief, 'explanation'>) => (
  <details class="small">
    <summary>Details: score and numbers</summary>
    <ExplanationTree explanation={explanation} />
  </details>
)

/** While the pointer is on it, the words that named it are emphasized in the message. */
const Pointed = ({ id, children }: { readonly id: string; readonly children: ComponentChildren }) => (
  <li
    class="recalled stack tight"
    onMouseEnter={() => {
      pointedAt.value = id
    }}
    onMouseLeave={() => {
      pointedAt.value = null
    }}
    onFocusIn={() => {
      pointedAt.value = id
    }}
  >
    {children}
  </li>
)

const Reason = ({ icon = 'check', children }: { readonly icon?: IconName; readonly children: ComponentChildren }) => (
  <p class="row soft">
    <Icon name={icon} size={14} /> <span class="grow">{children}</span>
  </p>
)

const Reasons = ({ matches }: { readonly matches: readonly ApiMatchedForm[] }) => (
  <>
    {matches.map((match, index) => (
      <Reason key={`${match.form}-${index}`}>{matchWords(match)}</Reason>
    ))}
  </>
)

function Quoted({ quote, asked }: { readonly quote: ApiQuote; readonly asked: readonly string[] }) {
  const { text, at, utcOffset, speaker, role, earlier, correctedAt, explanation, session, turn } = quote
  const who = speaker ?? speakers[role]
  return (
    <Pointed id={turn}>
      <div class="row">
        <b>
          <bdi>{who}</bdi> said on{' '}
          <time dateTime={at} title={moment(at, utcOffset)}>
            {dayOf(at, utcOffset)}
          </time>
        </b>
        <AgeBadge earlier={earlier} correctedAt={correctedAt} />
        <Link
          class="soft small to-end"
          href={turnAddress({ session, id: turn })}
          aria-label={`See the conversation of ${dayOf(at, utcOffset)}`}
          text="See the conversation"
        />
      </div>
      <blockquote class="quote">
        <Prose text={text} />
      </blockquote>
      <Reason>{quoteWords(quote, asked)}</Reason>
      <Score explanation={explanation} />
      <Feedback id={turn} of={text} />
    </Pointed>
  )
}

const speakers = { user: 'You', assistant: 'The assistant', tool: 'A tool' } as const

type PinnedProps = { readonly belief: ApiBelief; readonly matches: readonly ApiMatchedForm[]; readonly onWish: OnWish }

const Pinned = ({ belief, matches, onWish }: PinnedProps) => (
  <Pointed id={belief.id}>
    <Head belief={belief} onWish={onWish} wish="absent" />
    <Words belief={belief} />
    <Reason>It is pinned, so every message gets it.</Reason>
    <Reasons matches={matches} />
  </Pointed>
)

type HeadProps = {
  readonly belief: ApiBelief
  readonly onWish: OnWish
  readonly wish: Wish
  readonly children?: ComponentChildren
}

function Head({ belief, onWish, wish, children }: HeadProps) {
  const words = wish === 'absent' ? 'Should not be here' : 'Should be here'
  return (
    <div class="row">
      <BeliefLink class="recalled-name strong-link break" id={belief.id} name={belief.name} />
      {children}
      <span class="soft small break">
        {typeWords[belief.type]} · {belief.scopes.join(', ')}
      </span>
      <Button
        tone="quiet"
        icon={wish === 'absent' ? 'close' : 'plus'}
        class="small to-end"
        onClick={() => onWish(belief, wish)}
        aria-label={`${words}: ${belief.name}`}
        label={words}
      />
    </div>
  )
}

const Words = ({ belief }: { readonly belief: ApiBelief }) => (
  <>
    <Prose text={belief.content} />
    {belief.why === '' ? null : <Prose text={belief.why} class="soft small" />}
  </>
)

/** Old versions and proposals are never recalled, so no change could help. */
const isPast = ({ reason: { kind } }: ApiNearMiss): boolean =>
  kind === 'superseded' || kind === 'resolved' || kind === 'proposed' || kind === 'candidate'

/** Beliefs that the message mentions but the agent does not get, and why. Old versions are collapsed. */
function LeftOutView({ misses, onWish }: { readonly misses: readonly ApiNearMiss[]; readonly onWish: OnWish }) {
  if (misses.length === 0) return null
  const past = misses.filter(isPast)
  return (
    <Panel
      class="aside"
      title="Left out"
      note="Mentioned, but not given to the agent"
      tools={<Badge>{misses.length}</Badge>}
    >
      <ul class="rows">
        {misses
          .filter((miss) => !isPast(miss))
          .map((miss) => (
            <Miss
              key={miss.belief.id}
              miss={miss}
              head={<Head belief={miss.belief} onWish={onWish} wish="present" />}
            />
          ))}
      </ul>
      {past.length === 0 ? null : (
        <details class="foot">
          <summary>{pluralize(past.length, 'old version or proposal', 'old versions and proposals')}</summary>
          <ul class="rows">
            {past.map((miss) => (
              <Miss
                key={miss.belief.id}
                miss={miss}
                head={<BeliefLink class="strong-link" id={miss.belief.id} name={miss.belief.name} />}
              />
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

const Miss = ({ miss, head }: { readonly miss: ApiNearMiss; readonly head: ComponentChildren }) => (
  <li class="recalled stack tight">
    {head}
    <Clipped text={miss.belief.content} />
    <Reason icon="filter">{reasonWords(miss.reason)}</Reason>
  </li>
)
