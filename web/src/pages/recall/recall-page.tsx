import { useLayoutEffect, useState } from 'preact/hooks'
import type { ApiBelief, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { journalHead } from '../../api/live.ts'
import { counted, milliseconds } from '../../format/numbers.ts'
import { scopes as allScopes } from '../../state/memory-facts.ts'
import { useResource } from '../../state/resource.ts'
import { useSettled } from '../../state/settled.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState, Refused } from '../../ui/notice.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'
import { ContextView, type Wish } from './context-view.tsx'
import { MessageBox } from './message-box.tsx'
import { MissingDialog } from './missing-dialog.tsx'
import { activeScopes, adoptScopes, longestMessage, message } from './recall-state.ts'
import { RemedyDialog } from './remedy-dialog.tsx'
import { ScopeChooser } from './scope-chooser.tsx'

/** What an agent would be given for a message, and why; asked again at every pause of the typing. */
export function RecallPage() {
  useLayoutEffect(adoptScopes, [])
  const asked = useSettled(message.value)
  const scopes = activeScopes.value
  const [wished, setWished] = useState<{ readonly belief: ApiBelief; readonly wish: Wish } | null>(null)
  const [isSearching, setSearching] = useState(false)
  const recalled = useResource(
    JSON.stringify([asked, scopes]),
    async (signal) => ({
      asked,
      answer:
        scopes.length === 0 || asked.length > longestMessage
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
              given === null && text.length > longestMessage ? null : given === null ? (
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
  const beliefs = counted(new Set([...(prelude?.beliefIds ?? []), ...given]).size, 'belief')
  return quotes.length === 0 ? beliefs : `${beliefs} and ${counted(quotes.length, 'quote')}`
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
