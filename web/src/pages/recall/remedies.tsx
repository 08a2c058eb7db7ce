import { useState } from 'preact/hooks'
import type { ApiBelief, ApiRemedy, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { navigate } from '../../navigation/router.tsx'
import { showToast, showUndoToast, useAction } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, Button, Clipped } from '../../ui/elements.tsx'
import { Check, Dialog, Field, SearchBox } from '../../ui/form.tsx'
import { Loaded, Refused, SkeletonRows } from '../../ui/notice.tsx'
import { stateOf } from '../beliefs/belief-state.ts'
import type { Wish } from './context-view.tsx'
import { chooseScopes } from './recall-state.ts'

type MissingDialogProps = { readonly onClose: () => void; readonly onChoose: (belief: ApiBelief) => void }

/** Searches for the belief that is missing from the context. */
export function MissingDialog({ onClose, onChoose }: MissingDialogProps) {
  const [asked, setAsked] = useState('')
  const found = useResource(
    asked,
    (signal) =>
      ask('listBeliefs', {
        query: {
          limit: 8,
          proposals: false,
          candidates: false,
          ...(asked.trim() === '' ? {} : { query: asked.trim() }),
        },
        signal,
      }),
    { keep: true },
  )
  return (
    <Dialog title="Which belief is missing?" onClose={onClose}>
      <SearchBox
        label="Search everything that is remembered"
        placeholder="Search everything that is remembered"
        maxLength={2_000}
        text={asked}
        onChange={setAsked}
      />
      <div class="choices">
        <Loaded resource={found} waiting={<SkeletonRows rows={4} label="Searching" />}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="soft">No belief matches. Create it first, on the page Beliefs.</p>
            ) : (
              <ul aria-busy={found.isLoading}>
                {items.map(({ belief }) => (
                  <li key={belief.id}>
                    <MissingRow belief={belief} onChoose={onChoose} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Dialog>
  )
}

type MissingRowProps = { readonly belief: ApiBelief; readonly onChoose: (belief: ApiBelief) => void }

function MissingRow({ belief, onChoose }: MissingRowProps) {
  const state = stateOf(belief)
  return (
    <button type="button" class="choice belief-link" onClick={() => onChoose(belief)}>
      <span class="belief-name">
        <Clipped text={belief.name} />
        {state === null ? null : <Badge tone={state.tone}>{state.word}</Badge>}
      </span>
      <Clipped text={belief.content} class="small" />
      <span class="belief-meta">{belief.scopes.join(', ')}</span>
    </button>
  )
}

type RemedyDialogProps = {
  readonly belief: ApiBelief
  readonly wish: Wish
  readonly message: string
  readonly scopes: readonly string[]
  readonly onClose: () => void
}

/** Offers changes that would make recall correct. The server has tried out each of them. */
export function RemedyDialog({ belief, wish, message, scopes, onClose }: RemedyDialogProps) {
  const [aliases, setAliases] = useState<readonly string[]>([])
  const [typed, setTyped] = useState('')
  const [keepsCase, setKeepsCase] = useState(true)
  const { error, run } = useAction()
  const about = { message, scopes: [...scopes], beliefId: belief.id, wish }
  const found = useResource(
    JSON.stringify(aliases),
    (signal) => ask('remedies', { body: { ...about, ...(aliases.length === 0 ? {} : { aliases }) }, signal }),
    { keep: true },
  )
  const apply = async (remedy: ApiRemedy) => {
    if (remedy.change === null) return
    const expectedVersion = found.value?.belief.version ?? belief.version
    const body = { ...about, change: remedy.change, expectedVersion, capture: keepsCase }
    const done = await ask('applyRemedy', { body })
    acknowledgeEvent(done.edited.event)
    showUndoToast(outcomeWords(done), done.edited.event)
    onClose()
  }
  const captureOnly = async () => {
    const expected = wish === 'present' ? { expect: [belief.id] } : { reject: [belief.id] }
    const kept = await ask('capture', { body: { message, scopes: [...scopes], ...expected } })
    showToast(`Saved as the case ${kept.caseId} of my-cases. It ${kept.passesNow ? 'passes' : 'fails'} today.`)
    onClose()
  }
  return (
    <Dialog title={wish === 'absent' ? 'This should not be here' : 'This is missing'} onClose={onClose} isWide>
      <p class="break">
        <b>{belief.name}</b> <span class="soft">{belief.content}</span>
      </p>
      <Loaded resource={found} waiting={<SkeletonRows rows={3} label="Trying out changes" />}>
        {({ remedies, isFulfilled, withheld }) => (
          <>
            <ul class="stack tight" aria-busy={found.isLoading}>
              {isFulfilled ? <li class="note">Recall does this already.</li> : null}
              {remedies.length === 0 && !isFulfilled ? (
                <li class="soft">No change to this belief would help.</li>
              ) : null}
              {remedies.map((remedy, index) => (
                <RemedyCard
                  key={`${remedy.kind}-${index}`}
                  remedy={remedy}
                  isFirst={index === 0}
                  onApply={() => run(() => apply(remedy))}
                  onClose={onClose}
                />
              ))}
            </ul>
            {withheld.length === 0 ? null : (
              <details class="small soft">
                <summary>{pluralize(withheld.length, 'change')} not offered because of side effects</summary>
                <ul class="bullets">
                  {withheld.map(({ summary, reason }) => (
                    <li key={summary}>
                      {summary} {reason}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )}
      </Loaded>
      {wish === 'absent' ? null : (
        <form
          class="stack tight"
          onSubmit={(event) => {
            event.preventDefault()
            const word = typed.trim()
            if (word !== '') setAliases([...aliases, word].slice(-10))
            setTyped('')
          }}
        >
          <Field label="Try another name" value={typed} onInput={setTyped} maxLength={200} />
          <p>
            <Button type="submit" disabled={found.isLoading}>
              Try it
            </Button>
          </p>
        </form>
      )}
      <Refused error={error ?? (found.value === null ? null : found.error)} />
      <div class="row apart">
        <Check isChecked={keepsCase} onCheck={setKeepsCase} label="Save this as a regression case in my-cases" />
        {/* Disabled until the list above is complete, because the list moves the button. */}
        <Button onClick={() => run(captureOnly)} label="Only save the case" disabled={found.isLoading} />
      </div>
    </Dialog>
  )
}

function outcomeWords({ isFulfilled, captured, captureProblem, edited }: RouteAnswer<'applyRemedy'>): string {
  const now =
    edited.outcome === 'proposed'
      ? 'Proposed; a person has to accept it.'
      : isFulfilled
        ? 'Done. Recall is correct now.'
        : 'Changed, but recall is not correct yet.'
  const kept =
    captured === null
      ? captureProblem === null
        ? ''
        : ` No case was saved: ${captureProblem}`
      : ` Saved as ${captured.caseId}.`
  return `${now}${kept}`
}

type RemedyCardProps = {
  readonly remedy: ApiRemedy
  readonly isFirst: boolean
  readonly onApply: () => Promise<unknown>
  readonly onClose: () => void
}

/** The effects of a remedy on the saved cases and the latest prompts. */
function EffectsNote({ effects }: { readonly effects: NonNullable<ApiRemedy['effects']> }) {
  const { cases, prompts, appearsIn, leaves } = effects
  const triedOn = [
    ...(cases === 0 ? [] : [pluralize(cases, 'saved case')]),
    ...(prompts === 0 ? [] : [`your last ${pluralize(prompts, 'prompt')}`]),
  ].join(' and ')
  if (triedOn === '') return null
  const moved = [
    { words: 'It would also come up in', messages: appearsIn },
    { words: 'It would no longer come up in', messages: leaves },
  ].filter(({ messages }) => messages.length > 0)
  return (
    <div class="small soft">
      <p>
        Tried on {triedOn}: {moved.length === 0 ? 'nothing else changes.' : ''}
      </p>
      {moved.map(({ words, messages }) => (
        <details key={words}>
          <summary>
            {words} {pluralize(messages.length, 'other prompt')}
          </summary>
          <ul class="bullets">
            {messages.slice(0, 5).map((message, index) => (
              <li key={index} class="clamp" dir="auto">
                {message}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  )
}

const seeWords: Readonly<Partial<Record<ApiRemedy['kind'], string>>> = { correct: 'Correct it', accept: 'Decide on it' }

/** Whether a remedy works and has no side effects. Its button is the primary one only in that case. */
const isHarmless = ({ achieves, caution, appearing, disappearing, effects }: ApiRemedy): boolean =>
  achieves &&
  caution === null &&
  appearing.length + disappearing.length + (effects?.appearsIn.length ?? 0) + (effects?.leaves.length ?? 0) === 0

/** One remedy and its side effects. */
export function RemedyCard({ remedy, isFirst, onApply, onClose }: RemedyCardProps) {
  const { kind, summary, achieves, caution, appearing, disappearing, change, ask, see, effects } = remedy
  const sideEffects = [
    ...(appearing.length === 0 ? [] : [`${pluralize(appearing.length, 'other belief')} would be recalled too`]),
    ...(disappearing.length === 0
      ? []
      : [`${pluralize(disappearing.length, 'other belief')} would no longer be recalled`]),
  ]
  return (
    <li class="remedy box row">
      <div class="grow stack tight">
        <p class="break">{summary}</p>
        <p class="row">
          {change === null && ask === null ? null : achieves ? (
            <Badge tone="good">tried out: it works</Badge>
          ) : (
            <Badge tone="odd">not enough by itself</Badge>
          )}
          {sideEffects.map((effect) => (
            <Badge key={effect} tone="odd">
              {effect}
            </Badge>
          ))}
        </p>
        {effects === null ? null : <EffectsNote effects={effects} />}
        {caution === null ? null : <p class="toned odd small">{caution}</p>}
      </div>
      {change === null ? null : (
        <Button
          tone={isFirst && isHarmless(remedy) ? 'main' : 'plain'}
          onClick={onApply}
          aria-label={`Apply: ${summary}`}
          label="Apply"
        />
      )}
      {ask?.scopes === undefined ? null : (
        <Button
          onClick={() => {
            chooseScopes([...(ask.scopes ?? [])])
            onClose()
          }}
          label="Use these scopes"
        />
      )}
      {see === null ? null : (
        <Button onClick={() => navigate(`/beliefs/${encodeURIComponent(see)}`)}>{seeWords[kind] ?? 'See it'}</Button>
      )}
    </li>
  )
}
