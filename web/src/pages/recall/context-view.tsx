import type { ComponentChildren } from 'preact'
import type { Answer, Belief, NearMiss, Quote, RelevantBelief } from '../../../../src/http/api/contract.ts'
import { figure } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { typeWords } from '../../format/words.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ExplanationTree } from './explanation-tree.tsx'
import { quoteWords, reasonWords } from './reason-words.ts'
import { pointedAt } from './recall-state.ts'
import { ScoreBar } from './score-bar.tsx'

export type Wish = 'absent' | 'present'
export type OnWish = (belief: Belief, wish: Wish) => void

type ContextViewProps = {
  readonly answer: Answer<'recall'>
  /** Whether anything was asked at all. */
  readonly isAsked: boolean
  readonly onWish: OnWish
}

/** What the message itself brings about comes first: what was named, and what was named in vain. Then what is always there. */
export function ContextView({ answer, isAsked, onWish }: ContextViewProps) {
  const { context, leftOut, quoteDecision } = answer
  const { prelude, pinned, relevant, questions, quotes } = context
  const best = Math.max(0, ...relevant.map(({ score }) => score))
  return (
    <>
      <Tier
        title="Relevant to this message"
        note="Named by the message, best first"
        count={relevant.length}
        empty={
          isAsked
            ? 'The message names nothing that is remembered here.'
            : 'Write a message to see which beliefs it brings, and why.'
        }
      >
        {relevant.map((one) => (
          <Relevant key={one.belief.id} relevant={one} best={best} onWish={onWish} all={relevant} />
        ))}
      </Tier>
      <Tier title="Said earlier" note="Quotes, word for word" count={quotes.length}>
        {quotes.map((quote) => (
          <Quoted key={quote.turn} quote={quote} asked={quoteDecision?.asked ?? []} />
        ))}
      </Tier>
      <Tier title="Left out" note="Mentioned, but not given to the agent" count={leftOut.length} isAside>
        {byUse(leftOut).map((miss) => (
          <LeftOut key={miss.belief.id} miss={miss} onWish={onWish} />
        ))}
      </Tier>
      <Tier title="Always here" note="Pinned in these scopes" count={pinned.length}>
        {pinned.map((belief) => (
          <Plain key={belief.id} belief={belief} onWish={onWish} />
        ))}
      </Tier>
      <Tier title="Still open" note="Pinned questions" count={questions.length}>
        {questions.map((belief) => (
          <Plain key={belief.id} belief={belief} onWish={onWish} />
        ))}
      </Tier>
      <Tier
        title="About the person"
        note="Told in every context"
        count={prelude === null ? 0 : prelude.beliefIds.length}
      >
        {prelude === null ? null : (
          <li class="recalled">
            <p class="prose lines">{prelude.text}</p>
          </li>
        )}
      </Tier>
    </>
  )
}

type TierProps = {
  readonly title: string
  readonly note: string
  readonly count: number
  readonly isAside?: boolean
  /** What is said when nothing is in it; without it the tier is not shown then. */
  readonly empty?: string
  readonly children: ComponentChildren
}

function Tier({ title, note, count, isAside = false, empty, children }: TierProps) {
  if (count === 0 && empty === undefined) return null
  return (
    <section class={isAside ? 'panel tier aside' : 'panel tier'}>
      <header class="tier-head">
        <h2>{title}</h2>
        <span class="soft small">{note}</span>
        <Badge>{count}</Badge>
      </header>
      {count === 0 ? <p class="tier-empty soft">{empty}</p> : <ul>{children}</ul>}
    </section>
  )
}

type RelevantProps = {
  readonly relevant: RelevantBelief
  readonly best: number
  readonly onWish: OnWish
  readonly all: readonly RelevantBelief[]
}

function Relevant({ relevant, best, onWish, all }: RelevantProps) {
  const { belief, through, explanation } = relevant
  const relation = all.find((one) => one.belief.id === through)?.belief
  return (
    <li
      class="recalled"
      onMouseEnter={() => {
        pointedAt.value = belief.id
      }}
      onMouseLeave={() => {
        pointedAt.value = null
      }}
    >
      <Head belief={belief} onWish={onWish} wish="absent" />
      <Words belief={belief} />
      {through === null ? (
        <>
          <ScoreBar relevant={relevant} best={best} />
          <details class="how">
            <summary>How the score was reached</summary>
            <ExplanationTree explanation={explanation} />
          </details>
        </>
      ) : (
        <p class="soft small">Not named itself; it is part of “{relation?.name ?? through}”, which was.</p>
      )}
    </li>
  )
}

function Quoted({ quote, asked }: { readonly quote: Quote; readonly asked: readonly string[] }) {
  const { text, at, speaker, role, earlier, explanation } = quote
  return (
    <li class="recalled">
      <p class="row">
        <bdi>{speaker ?? speakers[role]}</bdi>
        <time class="soft small" dateTime={at}>
          {moment(at)}
        </time>
        {earlier ? <Badge>earlier</Badge> : null}
      </p>
      <blockquote class="prose" dir="auto">
        {text}
      </blockquote>
      <p class="reason">
        <Icon name="recall" /> <span>{quoteWords(quote, asked)}</span>
      </p>
      <details class="how">
        <summary>How the score was reached</summary>
        <ExplanationTree explanation={explanation} />
      </details>
    </li>
  )
}

const speakers = { user: 'You', assistant: 'The assistant', tool: 'A tool' } as const

function Plain({ belief, onWish }: { readonly belief: Belief; readonly onWish: OnWish }) {
  return (
    <li class="recalled">
      <Head belief={belief} onWish={onWish} wish="absent" />
      <Words belief={belief} />
    </li>
  )
}

/** Reasons about which nothing needs to be done. */
const settled: readonly NearMiss['reason']['kind'][] = ['superseded', 'resolved', 'pinned-already']

const byUse = (misses: readonly NearMiss[]): readonly NearMiss[] =>
  misses.toSorted(
    (one, other) => Number(settled.includes(one.reason.kind)) - Number(settled.includes(other.reason.kind)),
  )

function LeftOut({ miss, onWish }: { readonly miss: NearMiss; readonly onWish: OnWish }) {
  const { belief, reason, score } = miss
  return (
    <li class="recalled">
      <Head belief={belief} onWish={onWish} wish="present" />
      <p class="clip" dir="auto">
        {belief.content}
      </p>
      <p class="reason">
        <Icon name="filter" /> <span>{reasonWords(reason)}</span>
        {score === null ? null : <span class="soft small number">score {figure(score)}</span>}
      </p>
    </li>
  )
}

function Head({ belief, onWish, wish }: { readonly belief: Belief; readonly onWish: OnWish; readonly wish: Wish }) {
  const words = wish === 'absent' ? 'Should not be here' : 'Should be here'
  return (
    <div class="recalled-head">
      <Link class="recalled-name break" href={address('beliefs', belief.id)}>
        <bdi>{belief.name}</bdi>
      </Link>
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

function Words({ belief }: { readonly belief: Belief }) {
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
