import { useRef } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { count } from '../../format/numbers.ts'
import { pieces } from '../../format/pieces.ts'
import { useKeys } from '../../navigation/keys.ts'
import { longestMessage, message, pointedAt } from './recall-state.ts'

type Highlights = RouteAnswer<'recall'>['highlights']

/** The message, with the words that named something marked where they stand. */
export function MessageBox({ highlights }: { readonly highlights: Highlights }) {
  const backdrop = useRef<HTMLDivElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  useKeys({ '/': { does: 'Write a message', act: () => area.current?.focus() } })
  const follow = () => {
    if (backdrop.current !== null && area.current !== null) backdrop.current.scrollTop = area.current.scrollTop
  }
  return (
    <div class="message-box">
      <label class="label" for="message">
        Message
      </label>
      <div class="message-frame">
        <div class="message-back" ref={backdrop} dir="auto" aria-hidden="true">
          {pieces(message.value, highlights).map(({ words, isMarked, start }) =>
            isMarked ? (
              <mark key={start} class={isPointed(highlights, start) ? 'pointed' : undefined}>
                {words}
              </mark>
            ) : (
              words
            ),
          )}
          {'\n'}
        </div>
        <textarea
          id="message"
          class="message-area"
          ref={area}
          dir="auto"
          rows={5}
          spellcheck={false}
          placeholder="Write what you would say to your agent"
          value={message.value}
          onInput={(event) => {
            message.value = event.currentTarget.value
          }}
          onScroll={follow}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            area.current?.blur()
          }}
        />
      </div>
      <TooLong length={message.value.length} />
      <Slips highlights={highlights} />
    </div>
  )
}

/** What is too long is said, never cut. */
function TooLong({ length }: { readonly length: number }) {
  if (length <= longestMessage) return null
  return (
    <p class="refused" role="alert">
      The message has {count(length)} characters; recall takes at most {count(longestMessage)}. Shorten it to the part
      that asks something.
    </p>
  )
}

const isPointed = (highlights: Highlights, start: number): boolean =>
  pointedAt.value !== null &&
  highlights.some((one) => one.start <= start && start < one.end && one.beliefIds.includes(pointedAt.value ?? ''))

/** Words that were taken for others. Not telling would make a match look like magic. */
function Slips({ highlights }: { readonly highlights: Highlights }) {
  const slips = highlights.flatMap(({ start, typo }) => (typo === null ? [] : [{ start, ...typo }]))
  if (slips.length === 0) return null
  return (
    <p class="soft small">
      {slips.map(({ start, written, meant }) => (
        <span key={start} class="slip">
          “{written}” was read as “{meant}”
        </span>
      ))}
    </p>
  )
}
