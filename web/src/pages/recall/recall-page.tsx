import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApiBelief, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { count, milliseconds, pluralize } from '../../format/numbers.ts'
import { useKeys } from '../../navigation/keys.ts'
import { scopes as allScopes } from '../../state/facts.ts'
import { Button, CopyButton, Highlighted } from '../../ui/elements.tsx'
import { ChipForm } from '../../ui/form.tsx'
import { PageHead, Panel } from '../../ui/layout.tsx'
import { EmptyState, Loaded, Refused, SkeletonRows } from '../../ui/notice.tsx'
import { ContextView, type Wish } from './context-view.tsx'
import {
  activeScopes,
  adoptScopes,
  chooseScopes,
  chosenScopes,
  maxMessageLength,
  message,
  toggleScope,
  useRecall,
} from './recall-state.ts'
import { MissingDialog, RemedyDialog } from './remedies.tsx'

/** The context that an agent would get for a message, with reasons. Updated at every pause in typing. */
export function RecallPage() {
  useLayoutEffect(adoptScopes, [])
  const scopes = activeScopes.value
  const [wished, setWished] = useState<{ readonly belief: ApiBelief; readonly wish: Wish } | null>(null)
  const [isSearching, setSearching] = useState(false)
  const recalled = useRecall(scopes)
  const answer = recalled.value?.answer ?? null
  // Highlights of an earlier text are left out, because they would mark the wrong words.
  const highlights = answer !== null && recalled.value?.asked === message.value ? answer.highlights : []
  return (
    <>
      <PageHead title="Recall">
        The context that an agent would get for a message: why each belief is in it, and why others are not.
      </PageHead>
      <div class="split turned">
        <div class="stack">
          <div class="panel pad stack">
            <MessageBox highlights={highlights} />
            {/* Shown together once the scopes are known, so that nothing moves. */}
            {allScopes.value === null ? null : (
              <>
                <ScopeChooser />
                <div class="row apart">
                  <span class="soft small number" role="status">
                    {answer === null ? ' ' : `${countWords(answer.context)} in ${milliseconds(answer.durationMs)}`}
                  </span>
                  <Button
                    icon="plus"
                    onClick={() => setSearching(true)}
                    disabled={answer === null}
                    label="Something is missing"
                  />
                </div>
              </>
            )}
            <Refused error={recalled.value === null ? null : recalled.error} />
          </div>
          {answer === null ? null : (
            <Panel title="As the agent reads it" tools={<CopyButton text={answer.rendered} />}>
              {answer.rendered === '' ? (
                <p class="pad soft">Nothing is added to the prompt.</p>
              ) : (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard.
                <pre class="rendered" tabIndex={0}>
                  {answer.rendered}
                </pre>
              )}
            </Panel>
          )}
        </div>
        <div class="stack" aria-busy={recalled.isLoading}>
          <Loaded resource={recalled} waiting={<SkeletonRows rows={7} label="Recalling" />}>
            {({ asked: text, answer: given }) =>
              given !== null ? (
                <ContextView
                  answer={given}
                  isAsked={text.trim() !== ''}
                  onWish={(belief, wish) => setWished({ belief, wish })}
                />
              ) : text.length > maxMessageLength ? null : (
                <Panel>
                  <EmptyState
                    icon="filter"
                    title="No scope is in view"
                    text="Choose at least one scope. Beliefs of other scopes are never recalled."
                  />
                </Panel>
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
        <RemedyDialog
          {...wished}
          message={recalled.value?.asked ?? ''}
          scopes={scopes}
          onClose={() => setWished(null)}
        />
      )}
    </>
  )
}

/** Counts every belief of the context once. */
function countWords(context: RouteAnswer<'recall'>['context']): string {
  const { prelude, pinned, relevant, questions, quotes, perhaps } = context
  const given = [...pinned, ...[...relevant, ...perhaps].map(({ belief }) => belief), ...questions].map(({ id }) => id)
  const beliefs = pluralize(new Set([...(prelude?.beliefIds ?? []), ...given]).size, 'belief')
  return quotes.length === 0 ? beliefs : `${beliefs} and ${pluralize(quotes.length, 'quote')}`
}

type Highlights = RouteAnswer<'recall'>['highlights']

/** The message, with the matched words marked. */
function MessageBox({ highlights }: { readonly highlights: Highlights }) {
  const backdrop = useRef<HTMLDivElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  useKeys({ '/': { does: 'Write a message', onPress: () => area.current?.focus() } })
  const { length } = message.value
  const typos = highlights.flatMap(({ typo }) => (typo === null ? [] : [typo]))
  return (
    <div class="stack tight">
      <label class="label" for="message">
        Message
      </label>
      <div class="message-frame">
        <div class="message-back" ref={backdrop} dir="auto" aria-hidden="true">
          <Highlighted text={message.value} ranges={highlights} />
          {'\n'}
        </div>
        <textarea
          id="message"
          class="area"
          ref={area}
          dir="auto"
          rows={5}
          spellcheck={false}
          placeholder="Write a message to your agent"
          value={message.value}
          onInput={(event) => {
            message.value = event.currentTarget.value
          }}
          onScroll={(event) => backdrop.current?.scrollTo(0, event.currentTarget.scrollTop)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            area.current?.blur()
          }}
        />
      </div>
      {length <= maxMessageLength ? null : (
        <p class="note bad" role="alert">
          The message has {count(length)} characters; recall takes at most {count(maxMessageLength)}. Shorten it to the
          part that asks something.
        </p>
      )}
      {typos.map(({ written, meant }) => (
        <p key={written} class="soft small">
          “{written}” was read as “{meant}”
        </p>
      ))}
    </div>
  )
}

/** Max scopes shown as buttons; others are entered in the field. */
const maxShown = 12

/** Chooses the scopes in view. Their ancestors are in view too. */
function ScopeChooser() {
  const known = allScopes.value?.items ?? []
  const active = activeScopes.value
  const others = active
    .filter((scope) => !known.some((one) => one.scope === scope))
    .map((scope) => ({ scope, beliefs: 0 }))
  const sorted = [...others, ...known].sort(
    (a, b) => Number(active.includes(b.scope)) - Number(active.includes(a.scope)) || b.beliefs - a.beliefs,
  )
  const add = (scope: string): boolean => {
    if (!active.includes(scope)) toggleScope(scope)
    return true
  }
  return (
    <fieldset class="stack tight">
      <legend class="label">Scopes in view</legend>
      <div class="row">
        {sorted.slice(0, Math.max(maxShown, active.length)).map(({ scope, beliefs }) => (
          <button
            key={scope}
            type="button"
            class="chip"
            aria-pressed={active.includes(scope)}
            onClick={() => toggleScope(scope)}
          >
            {scope} <span class="number soft">{count(beliefs)}</span>
          </button>
        ))}
        <ChipForm
          label="Another scope"
          placeholder="Another scope"
          suggestions={known.map(({ scope }) => scope)}
          onAdd={add}
        />
        {chosenScopes.value === null ? null : (
          <Button tone="quiet" class="small" onClick={() => chooseScopes(null)} label="Reset" />
        )}
      </div>
    </fieldset>
  )
}
