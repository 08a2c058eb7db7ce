import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApiBelief, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, journalHead } from '../../api/client.ts'
import { count, milliseconds, pluralize } from '../../format/numbers.ts'
import { cutAtRanges } from '../../format/text.ts'
import { useKeys } from '../../navigation/keys.ts'
import { scopes as allScopes, scopes } from '../../state/facts.ts'
import { useDebounced, useResource } from '../../state/resource.ts'
import { Button, CopyButton } from '../../ui/elements.tsx'
import { EmptyState, Loaded, Refused, SkeletonBlock } from '../../ui/notice.tsx'
import { ContextView, type Wish } from './context-view.tsx'
import {
  activeScopes,
  adoptScopes,
  chooseScopes,
  chosenScopes,
  maxMessageLength,
  message,
  pointedAt,
  toggleScope,
} from './recall-state.ts'
import { MissingDialog, RemedyDialog } from './remedies.tsx'

/** What an agent would be given for a message, and why; asked again at every pause of the typing. */
export function RecallPage() {
  useLayoutEffect(adoptScopes, [])
  const asked = useDebounced(message.value)
  const scopes = activeScopes.value
  const [wished, setWished] = useState<{ readonly belief: ApiBelief; readonly wish: Wish } | null>(null)
  const [isSearching, setSearching] = useState(false)
  const recalled = useResource(
    JSON.stringify([asked, scopes]),
    async (signal) => ({
      asked,
      answer:
        scopes.length === 0 || asked.length > maxMessageLength
          ? null
          : await ask('recall', { body: { message: asked, scopes: [...scopes] }, signal }),
    }),
    { freshness: journalHead.value, keep: true },
  )
  const answer = recalled.value?.answer ?? null
  // Marks of an earlier text would stand under the wrong words.
  const highlights = answer !== null && recalled.value?.asked === message.value ? answer.highlights : []
  return (
    <>
      <header class="page-head">
        <h1>Recall</h1>
        <p>What an agent would be given for a message, why each belief is there, and why others are not.</p>
      </header>
      <div class="recall">
        <div class="stack recall-ask">
          <div class="panel panel-pad stack">
            <MessageBox highlights={highlights} />
            {/* Only when the scopes are known, so that nothing moves when they come. */}
            {allScopes.value === null ? null : (
              <>
                <ScopeChooser />
                <div class="row apart">
                  <span class="soft small number" role="status">
                    {answer === null ? ' ' : `${countWords(answer.context)} in ${milliseconds(answer.durationMs)}`}
                  </span>
                  <Button icon="plus" onClick={() => setSearching(true)} disabled={answer === null}>
                    Something is missing
                  </Button>
                </div>
              </>
            )}
            <Refused error={recalled.value === null ? null : recalled.error} />
          </div>
          {answer === null ? null : <RenderedBlock text={answer.rendered} />}
        </div>
        <div class="stack recall-answer" aria-busy={recalled.isLoading}>
          <Loaded resource={recalled} waiting={<SkeletonBlock kind="cards" label="Recalling" />}>
            {({ asked: text, answer: given }) =>
              given === null && text.length > maxMessageLength ? null : given === null ? (
                <div class="panel">
                  <EmptyState icon="filter" title="No scope is in view">
                    Choose at least one scope. Nothing outside the scopes in view is ever recalled.
                  </EmptyState>
                </div>
              ) : (
                <ContextView
                  answer={given}
                  isAsked={text.trim() !== ''}
                  onWish={(belief, wish) => setWished({ belief, wish })}
                />
              )
            }
          </Loaded>
        </div>
      </div>
      {isSearching ? (
        <MissingDialog
          onClose={() => setSearching(false)}
          onChoose={(belief) => {
            setSearching(false)
            setWished({ belief, wish: 'present' })
          }}
        />
      ) : null}
      {wished === null ? null : (
        <RemedyDialog {...wished} message={asked} scopes={scopes} onClose={() => setWished(null)} />
      )}
    </>
  )
}

/** Counts every belief once that the block below has a line of. */
function countWords({ prelude, pinned, relevant, questions, quotes }: RouteAnswer<'recall'>['context']): string {
  const given = [...pinned, ...relevant.map(({ belief }) => belief), ...questions].map(({ id }) => id)
  const beliefs = pluralize(new Set([...(prelude?.beliefIds ?? []), ...given]).size, 'belief')
  return quotes.length === 0 ? beliefs : `${beliefs} and ${pluralize(quotes.length, 'quote')}`
}

function RenderedBlock({ text }: { readonly text: string }) {
  return (
    <section class="panel">
      <header class="panel-head">
        <h2>As the agent reads it</h2>
        <CopyButton text={text} label="Copy" />
      </header>
      {text === '' ? (
        <p class="panel-pad soft">Nothing is added to the prompt.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <pre class="rendered" tabIndex={0}>
          {text}
        </pre>
      )}
    </section>
  )
}

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
          {cutAtRanges(message.value, highlights).map(({ words, isMarked, start }) =>
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
  if (length <= maxMessageLength) return null
  return (
    <p class="refused" role="alert">
      The message has {count(length)} characters; recall takes at most {count(maxMessageLength)}. Shorten it to the part
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

/** More are found by typing. */
const maxShown = 12

/** Where the agent works: which scopes are in view. Their ancestors are too. */
export function ScopeChooser() {
  const [typed, setTyped] = useState('')
  const known = scopes.value?.items ?? []
  const active = activeScopes.value
  const others = active
    .filter((scope) => !known.some((one) => one.scope === scope))
    .map((scope) => ({ scope, beliefs: 0 }))
  const sorted = [...others, ...known].sort(
    (one, other) =>
      Number(active.includes(other.scope)) - Number(active.includes(one.scope)) || other.beliefs - one.beliefs,
  )
  const add = (event: Event) => {
    event.preventDefault()
    const scope = typed.trim()
    if (scope !== '' && !active.includes(scope)) toggleScope(scope)
    setTyped('')
  }
  return (
    <fieldset class="scopes">
      <legend class="label">Scopes in view</legend>
      <div class="chips">
        {sorted.slice(0, Math.max(maxShown, active.length)).map(({ scope, beliefs }) => (
          <button
            key={scope}
            type="button"
            class="scope-chip"
            aria-pressed={active.includes(scope)}
            onClick={() => toggleScope(scope)}
          >
            {scope} <span class="number soft">{count(beliefs)}</span>
          </button>
        ))}
        <form class="chip-form" onSubmit={add}>
          <input
            class="input"
            aria-label="Another scope"
            placeholder="Another scope"
            list="recall-scopes"
            maxLength={200}
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" icon="plus" class="small" aria-label="Add scope" />
        </form>
        <datalist id="recall-scopes">
          {known.map(({ scope }) => (
            <option key={scope} value={scope} />
          ))}
        </datalist>
        {chosenScopes.value === null ? null : (
          <Button tone="quiet" class="small" onClick={() => chooseScopes(null)}>
            Reset
          </Button>
        )}
      </div>
    </fieldset>
  )
}
