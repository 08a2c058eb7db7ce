import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { reporterOf } from '../../../../src/beliefs/turn.ts'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask, asRefusal, journalHead, Refusal } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { clockOf, dayOf, moment } from '../../format/time.ts'
import { address } from '../../navigation/match.ts'
import { goBackTo, Link, navigate, query, withQuery } from '../../navigation/router.tsx'
import { showToast } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge, Button, Icon } from '../../ui/elements.tsx'
import { Dialog } from '../../ui/form.tsx'
import { VirtualPages } from '../../ui/lists.tsx'
import { Loaded, Refused, SkeletonBlock, SkeletonRows } from '../../ui/notice.tsx'

type Page = RouteAnswer<'getConversation'>
export type Turn = Page['items'][number]

/** One conversation as a chat. A turn that the address names is in view and marked. */
export function SessionView({ session }: { readonly session: string }) {
  const wanted = query.value.get('turn')
  const [forgetting, setForgetting] = useState<Selection | null>(null)
  const found = useResource(`${session}\n${wanted ?? ''}`, (signal) => load(session, wanted, signal), {
    freshness: journalHead.value,
  })
  const back = { href: '/conversations', name: 'All conversations' }
  const first = found.value?.opening
  useSubject(first === undefined ? session : dayOf(first.at, first.utcOffset))
  return (
    <article class="detail talk">
      <Button tone="quiet" icon="back" class="back-button" onClick={() => goBackTo(withQuery({}, '/conversations'))}>
        All conversations
      </Button>
      <Loaded
        resource={found}
        waiting={<SkeletonBlock kind="detail" label="Loading the conversation" />}
        elsewhere={back}
      >
        {({ total, opening, startAt }) => (
          <>
            <header class="detail-head talk-head">
              <h2 class="clip-two break" dir="auto">
                {opening.text}
              </h2>
              <Button tone="danger" icon="trash" onClick={() => setForgetting({ session })}>
                Forget this conversation
              </Button>
              <p class="row marks">
                <span class="small">{dayOf(opening.at, opening.utcOffset)}</span>
                <Badge>{pluralize(total, 'turn')}</Badge>
                <Badge>{opening.scope}</Badge>
                <span class="soft small break">
                  {opening.host} · {session}
                </span>
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

/** How long it is, how it begins, and where the wanted turn is in it. */
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

/** The text of a turn. What stands between fences is code. */
const Said = ({ text }: { readonly text: string }) =>
  text.split(/^[ \t]*```[^\n]*$/m).map((part, index) => {
    const words = part.replace(/^(?:[ \t]*\n)+|\s+$/g, '')
    return words === '' ? null : index % 2 === 1 ? (
      <pre key={index} class="said-code">
        {words}
      </pre>
    ) : (
      <p key={index} class="prose lines" dir="auto">
        {words}
      </p>
    )
  })

type BubbleProps = {
  readonly turn: Turn
  /** The day of the conversation, which its head says. */
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
    // Parts around it that come later have another height than their gap. Whoever scrolls is left alone.
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
      <p class="bubble-head">
        <b>{reporterOf(turn) ?? speaker ?? speakers[role]}</b>
        <time dateTime={at} title={moment(at, utcOffset)}>
          {dayOf(at, utcOffset) === day ? clockOf(at, utcOffset) : moment(at, utcOffset)}
        </time>
        {origin === 'document' ? <Badge>pasted</Badge> : null}
        <button
          type="button"
          class="bubble-forget"
          aria-label={`Forget what was said at ${moment(at, utcOffset)}`}
          onClick={() => onForget({ turn: turn.id })}
        >
          <Icon name="trash" size={14} />
        </button>
      </p>
      <Said text={text} />
      {learned.length === 0 ? null : (
        <p class="row small learned">
          {learned.map(({ id, name, candidate }) => (
            <span key={id} class={candidate ? 'row small waits' : 'row small'}>
              <Icon name={candidate ? 'inbox' : 'beliefs'} size={14} />
              {candidate ? 'Waits for your decision:' : 'Became'}
              <Link href={address('beliefs', id)}>
                <bdi>{name}</bdi>
              </Link>
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

/** A turn, a conversation, or everything that holds some words. */
export type Selection = { readonly turn: string } | { readonly session: string } | { readonly containing: string }

type ForgetTurnsProps = {
  /** Null: the person says by words what is to go. */
  readonly selection: Selection | null
  readonly onClose: () => void
}

/** Erasing cannot be undone, so what would go is shown first. */
export function ForgetTurns({ selection, onClose }: ForgetTurnsProps) {
  const [words, setWords] = useState('')
  const [previewed, setPreviewed] = useState(selection)
  return (
    <Dialog title="Forget what was said" onClose={onClose} isWide>
      {selection === null ? (
        <form
          class="own-words"
          onSubmit={(event) => {
            event.preventDefault()
            if (words.trim() !== '') setPreviewed({ containing: words.trim() })
          }}
        >
          <div class="field">
            <label for="forget-words">Everything that contains these words</label>
            <input
              id="forget-words"
              class="input"
              maxLength={2_000}
              autocomplete="off"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </div>
          <Button type="submit">Preview</Button>
          <p class="help soft small">In conversations and in beliefs, in upper or lower case.</p>
        </form>
      ) : null}
      {previewed === null ? null : <Preview key={JSON.stringify(previewed)} selection={previewed} onClose={onClose} />}
    </Dialog>
  )
}

function Preview({ selection, onClose }: { readonly selection: Selection; readonly onClose: () => void }) {
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const found = useResource('preview', (signal) =>
    ask('forgetTurns', { query: { ...selection, dryRun: true }, signal }),
  )
  const forget = async () => {
    setBusy(true)
    try {
      const done = await ask('forgetTurns', { query: selection })
      acknowledgeEvent(done.event)
      showToast(`Forgotten: ${amount(done)}. Nothing of it is left.`)
      if ('session' in selection) navigate(withQuery({ turn: null }, '/conversations'), { replace: true })
      onClose()
    } catch (reason) {
      setError(asRefusal(reason))
      setBusy(false)
    }
  }
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={3} label="Searching" />}>
      {(preview) => (
        <div class="stack tight">
          <p>
            <b>{amount(preview)}</b> would be erased permanently, from the store, its history and its index.
            {preview.beliefsFromThem.length === 0
              ? ''
              : ` ${pluralize(preview.beliefsFromThem.length, 'belief')} learned from it would stay.`}
          </p>
          <ul class="preview">
            {(preview.examples ?? []).map(({ id, at, utcOffset, text }) => (
              <li key={id} class="clip-two">
                <span class="soft small">{moment(at, utcOffset)}</span> <span dir="auto">{text}</span>
              </li>
            ))}
            {(preview.beliefExamples ?? []).map(({ id, name, content }) => (
              <li key={id} class="clip-two">
                <span class="soft small">Belief</span> <b dir="auto">{name}</b> <span dir="auto">{content}</span>
              </li>
            ))}
          </ul>
          {hidden(preview) === '' ? null : <p class="soft small">And {hidden(preview)}.</p>}
          <Refused error={error} />
          <div class="actions">
            <Button data-first onClick={onClose}>
              Cancel
            </Button>
            <Button
              tone="danger"
              class="main"
              icon="trash"
              isBusy={isBusy}
              disabled={preview.turns + preview.beliefs === 0}
              onClick={() => void forget()}
            >
              Forget
            </Button>
          </div>
        </div>
      )}
    </Loaded>
  )
}

/** What is not among the examples. */
const hidden = ({ turns, beliefs, examples = [], beliefExamples = [] }: RouteAnswer<'forgetTurns'>): string =>
  [
    ...(turns > examples.length ? [pluralize(turns - examples.length, 'more turn')] : []),
    ...(beliefs > beliefExamples.length ? [pluralize(beliefs - beliefExamples.length, 'more belief')] : []),
  ].join(' and ')

const amount = ({ turns, beliefs }: Pick<RouteAnswer<'forgetTurns'>, 'turns' | 'beliefs'>): string =>
  beliefs === 0 ? pluralize(turns, 'turn') : `${pluralize(turns, 'turn')} and ${pluralize(beliefs, 'belief')}`
