import type { ComponentChildren } from 'preact'
import type {
  ApiBelief,
  ApiMatchedForm,
  ApiQuote,
  ApiRelevantBelief,
  RouteAnswer,
} from '../../../../src/http/api/contract.ts'
import { dayOf, moment } from '../../format/time.ts'
import { typeWords } from '../../format/words.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { AgeBadge } from '../../ui/age-badge.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ExplanationTree } from './explanation-tree.tsx'
import { LeftOutView } from './left-out-view.tsx'
import { matchWords, quoteWords, strengthOf } from './reason-words.ts'
import { pointedAt } from './recall-state.ts'
import { ScoreBar } from './score-bar.tsx'
import { StrengthChip } from './strength-chip.tsx'

export type Wish = 'absent' | 'present'
export type OnWish = (belief: ApiBelief, wish: Wish) => void

type ContextViewProps = {
  readonly answer: RouteAnswer<'recall'>
  /** Whether anything was asked at all. */
  readonly isAsked: boolean
  readonly onWish: OnWish
}

/** What the agent gets, in the order in which it gets it, each line once and with its reason. Then what was left out. */
export function ContextView({ answer, isAsked, onWish }: ContextViewProps) {
  const { context, leftOut, quoteDecision, namedAnyway } = answer
  const { prelude, relevant, questions, quotes } = context
  const sure = quotes.filter(({ level }) => level === 'sure')
  const perhaps = quotes.filter(({ level }) => level === 'perhaps')
  const told = new Set(prelude?.beliefIds ?? [])
  const pinned = context.pinned.filter(({ id }) => !told.has(id))
  const best = Math.max(0, ...relevant.map(({ score }) => score))
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
      <Tier title="Always holds here" note="Pinned in these scopes" count={pinned.length}>
        {pinned.map((belief) => (
          <Pinned key={belief.id} belief={belief} matches={matchesOf(belief.id)} onWish={onWish} />
        ))}
      </Tier>
      <Tier
        title="Relevant to this message"
        note="Named by the message, best first"
        count={relevant.length}
        empty={emptyWords(isAsked, isNamed, quotes.length)}
      >
        {relevant.map((one) => (
          <Relevant key={one.belief.id} relevant={one} best={best} onWish={onWish} all={relevant} />
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
      <Tier title="Perhaps relevant" note="Quotes that the agent may ignore" count={perhaps.length}>
        {perhaps.map((quote) => (
          <Quoted key={`${quote.turn}-${quote.text}`} quote={quote} asked={quoteDecision?.asked ?? []} />
        ))}
      </Tier>
      <LeftOutView misses={leftOut} onWish={onWish} />
    </>
  )
}

function emptyWords(isAsked: boolean, isNamed: boolean, quotes: number): string {
  if (!isAsked) return 'Write a message to see which beliefs it brings, and why.'
  if (isNamed) return 'The message names only what is always here.'
  return quotes > 0
    ? 'The message names no belief. A quote of what was said earlier matches it.'
    : 'The message names nothing that is remembered here.'
}

type TierProps = {
  readonly title: string
  readonly note: string
  readonly count: number
  /** What is said when nothing is in it; without it the tier is not shown then. */
  readonly empty?: string
  readonly children: ComponentChildren
}

function Tier({ title, note, count, empty, children }: TierProps) {
  if (count === 0 && empty === undefined) return null
  return (
    <section class="panel tier">
      <header class="tier-head">
        <h2>{title}</h2>
        <span class="soft small">{note}</span>
        <Badge>{count}</Badge>
      </header>
      {count === 0 ? <p class="tier-empty soft">{empty}</p> : <ul>{children}</ul>}
    </section>
  )
}

function Told({ line, id }: { readonly line: string; readonly id: string | null }) {
  return (
    <li class="recalled told">
      <p class="prose" dir="auto">
        {line}
      </p>
      {id === null ? null : (
        <Link class="soft small" href={address('beliefs', id)} aria-label={`See it: ${line}`}>
          See it
        </Link>
      )}
    </li>
  )
}

type RelevantProps = {
  readonly relevant: ApiRelevantBelief
  readonly best: number
  readonly onWish: OnWish
  readonly all: readonly ApiRelevantBelief[]
}

function Relevant({ relevant, best, onWish, all }: RelevantProps) {
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
          <details class="how">
            <summary>Details: score and numbers</summary>
            <ScoreBar relevant={relevant} best={best} />
            <ExplanationTree explanation={explanation} />
          </details>
        </>
      ) : (
        <Reason>Not named itself; it is part of “{relation?.name ?? 'a relation'}”, which was.</Reason>
      )}
    </Pointed>
  )
}

/** While the pointer is on it, the words that named it are shown stronger in the message. */
function Pointed({ id, children }: { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <li
      class="recalled"
      onMouseEnter={() => {
        pointedAt.value = id
      }}
      onMouseLeave={() => {
        pointedAt.value = null
      }}
    >
      {children}
    </li>
  )
}

const Reason = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="reason">
    <Icon name="check" size={14} /> <span>{children}</span>
  </p>
)

const Reasons = ({ matches }: { readonly matches: readonly ApiMatchedForm[] }) => (
  <>
    {matches.map((match, index) => (
      <Reason key={`${match.form}-${index}`}>{matchWords(match)}</Reason>
    ))}
  </>
)

type QuotedProps = { readonly quote: ApiQuote; readonly asked: readonly string[] }

function Quoted({ quote, asked }: QuotedProps) {
  const { text, at, utcOffset, speaker, role, earlier, correctedAt, explanation, session, turn } = quote
  const who = speaker ?? speakers[role]
  return (
    <li class="recalled">
      <div class="recalled-head">
        <span class="recalled-name">
          <bdi>{who}</bdi> said on{' '}
          <time dateTime={at} title={moment(at, utcOffset)}>
            {dayOf(at, utcOffset)}
          </time>
        </span>
        <AgeBadge earlier={earlier} correctedAt={correctedAt} />
        <Link
          class="soft small to-end"
          href={`${address('conversations', session)}?turn=${encodeURIComponent(turn)}`}
          aria-label={`See the conversation of ${dayOf(at, utcOffset)}`}
        >
          See the conversation
        </Link>
      </div>
      <blockquote class="quote prose" dir="auto">
        {text}
      </blockquote>
      <Reason>{quoteWords(quote, asked)}</Reason>
      <details class="how">
        <summary>Details: score and numbers</summary>
        <ExplanationTree explanation={explanation} />
      </details>
    </li>
  )
}

const speakers = { user: 'You', assistant: 'The assistant', tool: 'A tool' } as const

type PinnedProps = { readonly belief: ApiBelief; readonly matches: readonly ApiMatchedForm[]; readonly onWish: OnWish }

function Pinned({ belief, matches, onWish }: PinnedProps) {
  return (
    <Pointed id={belief.id}>
      <Head belief={belief} onWish={onWish} wish="absent" />
      <Words belief={belief} />
      <Reason>It is pinned, so it is here whatever the message says.</Reason>
      <Reasons matches={matches} />
    </Pointed>
  )
}

type HeadProps = {
  readonly belief: ApiBelief
  readonly onWish: OnWish
  readonly wish: Wish
  readonly children?: ComponentChildren
}

export function Head({ belief, onWish, wish, children }: HeadProps) {
  const words = wish === 'absent' ? 'Should not be here' : 'Should be here'
  return (
    <div class="recalled-head">
      <Link class="recalled-name break" href={address('beliefs', belief.id)}>
        <bdi>{belief.name}</bdi>
      </Link>
      {children}
      <span class="soft small break">
        {typeWords[belief.type]} · {belief.scopes.join(', ')}
      </span>
      <Button
        tone="quiet"
        icon={wish === 'absent' ? 'close' : 'plus'}
        class="small wish"
        onClick={() => onWish(belief, wish)}
        aria-label={`${words}: ${belief.name}`}
      >
        {words}
      </Button>
    </div>
  )
}

function Words({ belief }: { readonly belief: ApiBelief }) {
  return (
    <>
      <p class="prose" dir="auto">
        {belief.content}
      </p>
      {belief.why === '' ? null : (
        <p class="prose soft small" dir="auto">
          {belief.why}
        </p>
      )}
    </>
  )
}
