import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { reporterOf } from '../../../../src/beliefs/turn.ts'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { journalHead } from '../../api/live.ts'
import { Refusal } from '../../api/refusal.ts'
import { counted } from '../../format/numbers.ts'
import { clockOf, dayOf, moment } from '../../format/time.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { goBackTo, query, withQuery } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/subject.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'
import { Windowed } from '../../ui/windowed.tsx'
import { ForgetTurns, type Selection } from './forget-turns.tsx'

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
                <Badge>{counted(total, 'turn')}</Badge>
                <Badge>{opening.scope}</Badge>
                <span class="soft small break">
                  {opening.host} · {session}
                </span>
              </p>
            </header>
            <div class="chat">
              <Windowed
                key={`${session}-${wanted}`}
                total={total}
                freshness={journalHead.value}
                usualHeight={98}
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
              </Windowed>
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
