import type { ComponentChildren, JSX, TargetedMouseEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { TextRange } from '../format/text.ts'
import { cutAtRanges, wordParts } from '../format/text.ts'
import { dateTimeText, dayOf, relativeTime } from '../format/time.ts'
import { address } from '../navigation/match.ts'
import { Link } from '../navigation/router.tsx'
import { showToast, undo } from '../state/changes.ts'
import { tick } from '../state/window.ts'

/** SVG paths of the icons, in a view box of 16 × 16. */
const shapes = {
  beliefs: 'M3 4.5h10M3 8h10M3 11.5h6',
  recall: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14',
  evaluation: 'M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V5.5',
  journal: 'M8 4.5V8l2.5 1.5M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z',
  pin: 'M9.8 2.2 13.8 6.2M10.4 2.8 7.2 6 4 6.6 9.4 12 10 8.8 13.2 5.6M6.6 9.4 2.4 13.6',
  edit: 'M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2L3 13ZM9.4 4.4l2.2 2.2',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5 6.5 12 13 4.5',
  plus: 'M8 3v10M3 8h10',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  forward: 'M6.5 3.5 11 8l-4.5 4.5',
  copy: 'M5.5 5.5V3.2c0-.4.3-.7.7-.7h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7h-2.3M3.2 5.5h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7H3.2a.7.7 0 0 1-.7-.7V6.2c0-.4.3-.7.7-.7Z',
  warn: 'M8 6v3.2M8 11.4v.1M7.1 2.9 1.9 12a1 1 0 0 0 .9 1.5h10.4a1 1 0 0 0 .9-1.5L8.9 2.9a1 1 0 0 0-1.8 0Z',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z',
  system: 'M2.5 3.5h11v7h-11zM6 13.5h4M8 10.5v3',
  keys: 'M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.5 7h.1M5.5 9.3h5',
  sync: 'M13 8a5 5 0 0 1-9 3M3 8a5 5 0 0 1 9-3M12 2v3H9M4 14v-3h3',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  question: 'M6 6.2a2 2 0 1 1 3 1.7c-.7.4-1 .8-1 1.5M8 11.5v.1M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z',
  home: 'M2.5 7.5 8 2.8l5.5 4.7M4 6.5v6.7h3V9.8h2v3.4h3V6.5',
  chat: 'M2.5 3.5h11v7h-6l-3 2.7v-2.7h-2zM5 6h6M5 8.2h4',
  inbox: 'M2.5 9 4.5 3h7l2 6v4h-11zM2.5 9h3.2l.8 1.7h3L10.300 9h3.200',
  status: 'M2.500 3.500h11v3.600h-11zM2.500 9h11v3.600h-11zM5 5.300h.100M5 10.800h.100',
  people:
    'M6 7.500a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600ZM1.800 13.200a4.200 4.200 0 0 1 8.400 0M10.800 7.300a2 2 0 1 0 0-4M12 9.600a3.800 3.800 0 0 1 2.200 3.400',
  more: 'M3.500 8h.100M8 8h.100M12.500 8h.100',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
} as const

export type IconName = keyof typeof shapes

/** A decorative icon next to a label; hidden from screen readers. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg class="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
    <path d={shapes[name]} />
  </svg>
)

export type Tone = 'plain' | 'good' | 'bad' | 'odd' | 'accent'

type BadgeProps = { readonly tone?: Tone; readonly title?: string; readonly children: ComponentChildren }

export const Badge = ({ tone = 'plain', title, children }: BadgeProps) => (
  <span class={`badge ${tone}`} title={title}>
    {children}
  </span>
)

/** Marks a quote that is outdated. */
export function AgeBadge({ earlier, correctedAt }: { readonly earlier: boolean; readonly correctedAt: string | null }) {
  if (correctedAt !== null) return <Badge>corrected on {dayOf(correctedAt)}</Badge>
  return earlier ? <Badge title="A newer message about the same topic is listed first.">earlier</Badge> : null
}

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon' | 'size' | 'onClick'> & {
  readonly onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => unknown
  readonly tone?: 'plain' | 'main' | 'danger' | 'quiet'
  readonly icon?: IconName
  readonly isBusy?: boolean
  /** The text; use children for other content. */
  readonly label?: string
  readonly children?: ComponentChildren
}

/**
 * A button that is busy while the promise of its last click is pending, or if `isBusy` is set. A busy button keeps its size and
 * can have the focus, but ignores clicks.
 */
export function Button({
  tone = 'plain',
  icon,
  isBusy: isToldBusy = false,
  label,
  children = label,
  onClick,
  class: extra,
  ...rest
}: ButtonProps) {
  const [pending, setPending] = useState<unknown>(null)
  const isBusy = isToldBusy || pending !== null
  const press = (event: TargetedMouseEvent<HTMLButtonElement>) => {
    if (isBusy) return event.preventDefault()
    const work = onClick?.(event)
    if (!(work instanceof Promise)) return
    setPending(work)
    work.finally(() => setPending(null))
  }
  return (
    <button
      type="button"
      {...rest}
      class={`button ${tone} ${children === undefined ? 'only-icon' : ''} ${extra ?? ''}`}
      aria-busy={isBusy}
      aria-disabled={isBusy || rest.disabled === true ? 'true' : undefined}
      onClick={press}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  )
}

/** Copies a text to the clipboard and confirms it on the button. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 2_000)
    } catch {
      showToast('The browser did not allow copying. Select the text and copy it by hand.', { tone: 'failed' })
    }
  }
  return (
    <Button icon={isCopied ? 'check' : 'copy'} onClick={copy} disabled={text === ''}>
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  )
}

type UndoableEvent = { readonly number: number; readonly kind: string; readonly undoneBy: number | null }

/** Undoes one change. Shows nothing for changes that were undone, and for events of the kinds `forget` and `hear`. */
export function UndoButton({ event }: { readonly event: UndoableEvent }) {
  if (event.undoneBy !== null || event.kind === 'forget' || event.kind === 'hear') return null
  const label = `Undo change ${event.number}`
  return <Button tone="quiet" class="small" onClick={() => undo(event.number)} aria-label={label} label="Undo" />
}

/** A relative time that is kept up to date. The exact time is in the title and in `datetime`. */
export function Time({ at }: { readonly at: string }) {
  tick.value
  return (
    <time dateTime={at} title={dateTimeText(at)}>
      {relativeTime(at)}
    </time>
  )
}

type TextProps = { readonly text: string; readonly class?: string }

/** A stored text with its line breaks, left to right or right to left. */
export const Prose = ({ text, class: extra = '' }: TextProps) => (
  <p class={`prose ${extra}`} dir="auto">
    {text}
  </p>
)

/** A stored text on one line. */
export const Clipped = ({ text, class: extra = '' }: TextProps) => (
  <span class={`clip ${extra}`} dir="auto">
    {text}
  </span>
)

export const BeliefLink = ({ id, name, class: extra }: { id: string; name: string; class?: string }) => (
  <Link class={extra ?? ''} href={address('beliefs', id)}>
    <bdi>{name}</bdi>
  </Link>
)

export const turnAddress = ({ session, id }: { readonly session: string; readonly id: string }): string =>
  `${address('conversations', session)}?turn=${encodeURIComponent(id)}`

type SaidTurn = {
  readonly session: string
  readonly id: string
  readonly at: string
  readonly utcOffset: number | null
}

/** The date of a message, with a link to its conversation. */
export const SaidOn = ({ turn }: { readonly turn: SaidTurn }) => (
  <p class="soft small">
    Said on {dateTimeText(turn.at, turn.utcOffset)} · <Link href={turnAddress(turn)}>See the conversation</Link>
  </p>
)

/** A text with some ranges marked. */
export const Highlighted = ({ text, ranges }: { readonly text: string; readonly ranges: readonly TextRange[] }) => (
  <>
    {cutAtRanges(text, ranges).map(({ words, isMarked, start }) =>
      isMarked ? <mark key={start}>{words}</mark> : words,
    )}
  </>
)

/** Two versions of a text merged into one, with the removed and the added words marked. */
export const WordDiff = ({ before, after }: { readonly before: string; readonly after: string }) => (
  <p class="word-diff" dir="auto">
    {wordParts(before, after).map(({ value, added, removed }, index) => {
      if (!added && !removed) return value
      const Changed = removed ? 'del' : 'ins'
      return (
        <Changed key={index}>
          <span class="unseen">{removed ? 'removed: ' : 'added: '}</span>
          {value}
        </Changed>
      )
    })}
  </p>
)
