import type { ComponentChildren } from 'preact'
import type { FeedbackVerdict } from '../../../../src/beliefs/recall-counts.ts'
import type { ApiBelief, ApiNearMiss, ApiQuote, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { dateTimeText, dayOf } from '../../format/time.ts'
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
import { type ContextLine, contextLines, type TierName, tiers } from './context-lines.ts'
import { ExplanationTree, reasonWords, StrengthChip } from './reasons.tsx'

export type Wish = 'absent' | 'present'
export type OnWish = (belief: ApiBelief, wish: Wish) => void

type ContextViewProps = {
  readonly answer: RouteAnswer<'recall'>
  /** Whether the message has any text. */
  readonly isAsked: boolean
  readonly onWish: OnWish
}

/** The lines of the context with their reasons, followed by the beliefs that were left out. */
export function ContextView({ answer, isAsked, onWish }: ContextViewProps) {
  useKeys({ u: feedbackKey('useful'), n: feedbackKey('not-useful') })
  const lines = contextLines(answer)
  // The cast is safe: `tiers` has only these keys.
  const names = Object.keys(tiers) as TierName[]
  return (
    <>
      {names.map((name) => {
        const own = lines.filter(({ tier }) => tier === name)
        const { title, note } = tiers[name]
        if (own.length === 0 && name !== 'relevant') return null
        return (
          <Panel key={name} title={title} note={note} tools={<Badge>{own.length}</Badge>}>
            {own.length === 0 ? (
              <p class="pad soft">{emptyWords(isAsked, lines)}</p>
            ) : (
              <ul class="rows">
                {own.map((line, index) => (
                  <Line key={`${line.id}-${index}`} line={line} onWish={onWish} />
                ))}
              </ul>
            )}
          </Panel>
        )
      })}
      <LeftOutView misses={answer.leftOut} onWish={onWish} />
    </>
  )
}

function emptyWords(isAsked: boolean, lines: readonly ContextLine[]): string {
  if (!isAsked) return 'Write a message to see which beliefs are recalled, and why.'
  const named = lines.filter(({ isNamed }) => isNamed)
  if (named.some(({ tier }) => tier === 'pinned' || tier === 'questions'))
    return 'The message names only beliefs that are in every context.'
  return named.length > 0
    ? 'The message names no belief. The lines below match it.'
    : 'The message names no belief in these scopes.'
}

type LineProps = { readonly line: ContextLine; readonly onWish: OnWish }

function Line({ line: { id, tier, text, of, reasons, isNamed, strength, explanation }, onWish }: LineProps) {
  if (of === null)
    return (
      <li class="row apart">
        <Prose text={text} class="grow" />
        {id === text ? null : (
          <Link class="soft small" href={address('beliefs', id)} aria-label={`See it: ${text}`} text="See it" />
        )}
      </li>
    )
  return (
    <li class="recalled stack tight">
      {'quote' in of ? (
        <Quoted quote={of.quote} />
      ) : (
        <>
          <Head belief={of.belief} onWish={onWish} wish={tier === 'perhaps' ? 'present' : 'absent'}>
            {strength === undefined ? null : <StrengthChip strength={strength} />}
          </Head>
          <Prose text={of.belief.content} />
          {of.belief.why === '' ? null : <Prose text={of.belief.why} class="soft small" />}
        </>
      )}
      {reasons.map((reason) => (
        <Reason key={reason}>{reason}</Reason>
      ))}
      {explanation === undefined ? null : (
        <details class="small">
          <summary>Details: score and numbers</summary>
          <ExplanationTree explanation={explanation} />
        </details>
      )}
      {isNamed && tier !== 'pinned' && tier !== 'questions' ? <Feedback id={id} of={text} /> : null}
    </li>
  )
}

async function giveFeedback(id: string, verdict: FeedbackVerdict): Promise<void> {
  try {
    const { useful, notUseful } = await ask('giveFeedback', { body: { id, verdict } })
    showToast(`Thank you. In total: ${useful} useful, ${notUseful} not useful.`)
  } catch (error) {
    toastRefusal(error)
  }
}

/** Two buttons that count whether a recalled line was useful. */
const Feedback = ({ id, of }: { readonly id: string; readonly of: string }) => (
  <p class="row small">
    {(['useful', 'not-useful'] as const).map((verdict) => (
      <Button
        key={verdict}
        tone="quiet"
        class="small"
        onClick={() => giveFeedback(id, verdict)}
        aria-label={`${feedbackLabels[verdict]}: ${of}`}
        label={feedbackLabels[verdict]}
        data-feedback={verdict}
      />
    ))}
  </p>
)

const feedbackLabels = { useful: 'Useful', 'not-useful': 'Not useful' } as const

const feedbackKey = (verdict: FeedbackVerdict) => ({
  does: `${feedbackLabels[verdict]}: the line under the pointer`,
  onPress: () =>
    document.querySelector<HTMLElement>(`.recalled:is(:hover, :focus-within) [data-feedback=${verdict}]`)?.click(),
})

const Reason = ({ icon = 'check', children }: { readonly icon?: IconName; readonly children: ComponentChildren }) => (
  <p class="row soft">
    <Icon name={icon} size={14} /> <span class="grow">{children}</span>
  </p>
)

function Quoted({ quote }: { readonly quote: ApiQuote }) {
  const { text, at, utcOffset, speaker, role, earlier, correctedAt, session, turn } = quote
  return (
    <>
      <div class="row">
        <b>
          <bdi>{speaker ?? speakers[role]}</bdi> said on{' '}
          <time dateTime={at} title={dateTimeText(at, utcOffset)}>
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
    </>
  )
}

const speakers = { user: 'You', assistant: 'The assistant', tool: 'A tool' } as const

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

/** Whether a belief is an old version or a proposal. These are never recalled, so no remedy is offered. */
const isPast = ({ reason: { kind } }: ApiNearMiss): boolean =>
  kind === 'superseded' || kind === 'resolved' || kind === 'proposed' || kind === 'candidate'

/** Beliefs that the message mentions but that are not in the context, with reasons. Old versions are collapsed. */
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
