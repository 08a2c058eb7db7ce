import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { reporterOf } from '../../../../src/beliefs/turn.ts'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask, journalHead, Refusal } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { clockOf, dateTimeText, dayOf } from '../../format/time.ts'
import { goBackTo, navigate, query, withQuery } from '../../navigation/router.tsx'
import { showToast } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge, BeliefLink, Button, Icon, Prose } from '../../ui/elements.tsx'
import { Field, FormDialog } from '../../ui/form.tsx'
import { VirtualPages } from '../../ui/lists.tsx'
import { Loaded, Refused, SkeletonRows } from '../../ui/notice.tsx'

type Page = RouteAnswer<'getConversation'>
export type Turn = Page['items'][number]

/** One conversation as a chat. Marks the turn in the address and scrolls to it. */
export function SessionView({ session }: { readonly session: string }) {
  const wanted = query.value.get('turn')
  const [forgetting, setForgetting] = useState<Selection | null>(null)
  const found = useResource(`${session}\n${wanted ?? ''}`, (signal) => load(session, wanted, signal), {
    freshness: journalHead.value,
  })
  const close = () => goBackTo(withQuery({}, '/conversations'))
  const back = { href: '/conversations', name: 'All conversations' }
  const first = found.value?.opening
  useSubject(first === undefined ? session : dayOf(first.at, first.utcOffset))
  return (
    <article class="detail wide">
      <Button tone="quiet" icon="back" class="back-button" onClick={close} label="All conversations" />
      <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Loading the conversation" />} elsewhere={back}>
        {({ total, opening, startAt }) => (
          <>
            <header class="stack tight">
              <h2 class="big clamp" dir="auto">
                {opening.text}
              </h2>
              <p class="row">
                <span class="small">{dayOf(opening.at, opening.utcOffset)}</span>
                <Badge>{pluralize(total, 'turn')}</Badge>
                <Badge>{opening.scope}</Badge>
                <span class="soft small break">
                  {opening.host} · {session}
                </span>
              </p>
              <p>
                <Button
                  tone="danger"
                  icon="trash"
                  onClick={() => setForgetting({ session })}
                  label="Forget this conversation"
                />
              </p>
            </header>
            <div class="chat">
              <VirtualPages
                key={`${session}-${wanted}`}
                total={total}
                freshness={journalHead.value}
                defaultHeight={98}
                startAt={startAt}
                load={(offset, limit, signal) =>
                  ask('getConversation', { params: { session }, query: { offset, limit }, signal })
                }
              >
                {({ items, learned }: Page) =>
                  items.map((turn) => (
                    <Bubble
                      key={turn.id}
                      turn={turn}
                      day={dayOf(opening.at, opening.utcOffset)}
                      isHere={turn.id === wanted}
                      learned={learned[turn.id] ?? []}
                      onForget={setForgetting}
                    />
                  ))
                }
              </VirtualPages>
            </div>
          </>
        )}
      </Loaded>
      {forgetting === null ? null : <ForgetTurns selection={forgetting} onClose={() => setForgetting(null)} />}
    </article>
  )
}

/** Loads the length of the conversation, its first turn, and the index of the wanted turn. */
async function load(session: string, wanted: string | null, signal: AbortSignal) {
  const [turn, first] = await Promise.all([
    wanted === null ? null : ask('getTurn', { params: { id: wanted }, signal }).catch(() => null),
    ask('getConversation', { params: { session }, query: { limit: 1 }, signal }),
  ])
  const [opening] = first.items
  if (opening === undefined)
    throw new Refusal({ status: 404, code: 'not_found', message: `There is no conversation “${session}”.` })
  return { total: first.total, opening, startAt: turn?.turn.index ?? 0 }
}

export const speakers = { user: 'You', assistant: 'Assistant', tool: 'Tool' } as const

/** The text of a turn, with fenced code blocks formatted as code. */
const Said = ({ text }: { readonly text: string }) =>
  text.split(/^[ \t]*```[^\n]*$/m).map((part, index) => {
    const words = part.replace(/^(?:[ \t]*\n)+|\s+$/g, '')
    return words === '' ? null : index % 2 === 1 ? (
      <pre key={index} class="box code">
        {words}
      </pre>
    ) : (
      <Prose key={index} text={words} />
    )
  })

type BubbleProps = {
  readonly turn: Turn
  /** The day of the conversation. A turn on this day shows only its time. */
  readonly day: string
  readonly isHere: boolean
  readonly learned: Page['learned'][string]
  readonly onForget: (selection: Selection) => void
}

function Bubble({ turn, day, isHere, learned, onForget }: BubbleProps) {
  const { role, speaker, at, utcOffset, text, origin } = turn
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const here = element.current
    if (!isHere || here === null) return
    const centre = () => here.scrollIntoView({ block: 'center' })
    centre()
    // Centres the turn again when pages around it load and change their height, until the person scrolls.
    const observer = new ResizeObserver(centre)
    for (const around of [here.parentElement, here.closest('.chat')]) if (around !== null) observer.observe(around)
    const stop = () => observer.disconnect()
    const signs = ['wheel', 'touchmove', 'keydown', 'mousedown'] as const
    for (const sign of signs) window.addEventListener(sign, stop, { passive: true })
    return () => {
      stop()
      for (const sign of signs) window.removeEventListener(sign, stop)
    }
  }, [isHere])
  return (
    <div class={isHere ? `bubble ${role} here` : `bubble ${role}`} ref={element}>
      <p class="row soft small">
        <b>{reporterOf(turn) ?? speaker ?? speakers[role]}</b>
        <time dateTime={at} title={dateTimeText(at, utcOffset)}>
          {dayOf(at, utcOffset) === day ? clockOf(at, utcOffset) : dateTimeText(at, utcOffset)}
        </time>
        {origin === 'document' ? <Badge>pasted</Badge> : null}
        <Button
          tone="quiet"
          icon="trash"
          class="small to-end"
          aria-label={`Forget the message of ${dateTimeText(at, utcOffset)}`}
          onClick={() => onForget({ turn: turn.id })}
        />
      </p>
      <Said text={text} />
      {learned.length === 0 ? null : (
        <p class="row small">
          {learned.map(({ id, name, candidate }) => (
            <span key={id} class={candidate ? 'row toned odd' : 'row toned good'}>
              <Icon name={candidate ? 'inbox' : 'beliefs'} size={14} />
              {candidate ? 'Waits for your decision:' : 'Became'}
              <BeliefLink id={id} name={name} />
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

/** A turn, a conversation, or all turns and beliefs that contain a text. */
type Selection = { readonly turn: string } | { readonly session: string } | { readonly containing: string }

type ForgetTurnsProps = {
  /** Null if the person types the text. */
  readonly selection: Selection | null
  readonly onClose: () => void
}

/** Erasing cannot be undone, so this dialog shows the texts first. */
export function ForgetTurns({ selection, onClose }: ForgetTurnsProps) {
  const [words, setWords] = useState('')
  const [previewed, setPreviewed] = useState(selection)
  const found = useResource(JSON.stringify(previewed), async (signal) =>
    previewed === null ? null : ask('forgetTurns', { query: { ...previewed, dryRun: true }, signal }),
  )
  const preview = found.value
  const forget = async () => {
    if (previewed === null) return null
    const done = await ask('forgetTurns', { query: previewed })
    acknowledgeEvent(done.event)
    showToast(`Forgotten: ${amountText(done)}. The texts are erased.`)
    if ('session' in previewed) navigate(withQuery({ turn: null }, '/conversations'), { replace: true })
    onClose()
    return null
  }
  return (
    <FormDialog
      title="Forget messages"
      submit="Forget"
      isDangerous
      isWide
      isIdle={preview === null || preview.turns + preview.beliefs === 0}
      onClose={onClose}
      onSubmit={forget}
    >
      {selection === null ? (
        <>
          <Field
            label="Everything that contains these words"
            value={words}
            onInput={setWords}
            maxLength={2_000}
            help="In conversations and in beliefs, in upper or lower case."
          />
          <p>
            <Button
              type="submit"
              onClick={() => setPreviewed({ containing: words.trim() })}
              disabled={words.trim() === ''}
              label="Preview"
            />
          </p>
        </>
      ) : null}
      <Refused error={found.error} />
      {preview === null ? null : (
        <>
          <p>
            <b>{amountText(preview)}</b> would be erased permanently, from the store, its history and its index.
            {preview.beliefsFromThem.length === 0
              ? ''
              : ` ${pluralize(preview.beliefsFromThem.length, 'belief')} learned from it would stay.`}
          </p>
          <ul class="preview scroll stack tight">
            {(preview.examples ?? []).map(({ id, at, utcOffset, text }) => (
              <li key={id} class="clamp">
                <span class="soft small">{dateTimeText(at, utcOffset)}</span> <span dir="auto">{text}</span>
              </li>
            ))}
            {(preview.beliefExamples ?? []).map(({ id, name, content }) => (
              <li key={id} class="clamp">
                <span class="soft small">Belief</span> <b dir="auto">{name}</b> <span dir="auto">{content}</span>
              </li>
            ))}
          </ul>
          {hiddenText(preview) === '' ? null : <p class="soft small">And {hiddenText(preview)}.</p>}
        </>
      )}
    </FormDialog>
  )
}

/** The number of turns and beliefs that are not shown as examples. */
const hiddenText = ({ turns, beliefs, examples = [], beliefExamples = [] }: RouteAnswer<'forgetTurns'>): string =>
  [
    ...(turns > examples.length ? [pluralize(turns - examples.length, 'more turn')] : []),
    ...(beliefs > beliefExamples.length ? [pluralize(beliefs - beliefExamples.length, 'more belief')] : []),
  ].join(' and ')

const amountText = ({ turns, beliefs }: Pick<RouteAnswer<'forgetTurns'>, 'turns' | 'beliefs'>): string =>
  beliefs === 0 ? pluralize(turns, 'turn') : `${pluralize(turns, 'turn')} and ${pluralize(beliefs, 'belief')}`
