import { useState } from 'preact/hooks'
import type { ApiBelief, ApiRemedy, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask, asRefusal, type Refusal } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { navigate } from '../../navigation/router.tsx'
import { showToast, showUndoToast } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, Button, Icon } from '../../ui/elements.tsx'
import { Dialog, SearchBox } from '../../ui/form.tsx'
import { Loaded, Refused, SkeletonRows } from '../../ui/notice.tsx'
import { stateOf } from '../beliefs/belief-state.ts'
import type { Wish } from './context-view.tsx'
import { chooseScopes } from './recall-state.ts'

type MissingDialogProps = { readonly onClose: () => void; readonly onChoose: (belief: ApiBelief) => void }

/** Finds the belief that should have come. */
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
      <div class="missing-rows">
        <Loaded resource={found} waiting={<SkeletonRows rows={4} label="Searching" />}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="soft">Nothing is remembered under these words. Remember it first, on the page of beliefs.</p>
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

function MissingRow({
  belief,
  onChoose,
}: {
  readonly belief: ApiBelief
  readonly onChoose: (belief: ApiBelief) => void
}) {
  const state = stateOf(belief)
  return (
    <button type="button" class="missing-row" onClick={() => onChoose(belief)}>
      <span class="row">
        <b class="clip" dir="auto">
          {belief.name}
        </b>
        {state === null ? null : <Badge tone={state.tone}>{state.word}</Badge>}
      </span>
      <span class="clip soft small" dir="auto">
        {belief.content}
      </span>
      <span class="clip soft small">{belief.scopes.join(', ')}</span>
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

/** What would make recall do what was wished for. Each was tried out before it is offered. */
export function RemedyDialog({ belief, wish, message, scopes, onClose }: RemedyDialogProps) {
  const [aliases, setAliases] = useState<readonly string[]>([])
  const [typed, setTyped] = useState('')
  const [keepsCase, setKeepsCase] = useState(true)
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const about = { message, scopes: [...scopes], beliefId: belief.id, wish }
  const found = useResource(
    JSON.stringify(aliases),
    (signal) => ask('remedies', { body: { ...about, ...(aliases.length === 0 ? {} : { aliases }) }, signal }),
    { keep: true },
  )
  const act = async (work: () => Promise<void>) => {
    setBusy(true)
    try {
      await work()
      onClose()
    } catch (reason) {
      setError(asRefusal(reason))
      setBusy(false)
    }
  }
  const apply = (remedy: ApiRemedy) =>
    act(async () => {
      if (remedy.change === null) return
      const expectedVersion = found.value?.belief.version ?? belief.version
      const done = await ask('applyRemedy', {
        body: { ...about, change: remedy.change, expectedVersion, capture: keepsCase },
      })
      acknowledgeEvent(done.edited.event)
      showUndoToast(outcomeWords(done), done.edited.event)
    })
  const captureOnly = () =>
    act(async () => {
      const kept = await ask('capture', {
        body: {
          message,
          scopes: [...scopes],
          ...(wish === 'present' ? { expect: [belief.id] } : { reject: [belief.id] }),
        },
      })
      showToast(`Kept as the case ${kept.caseId} of my-cases. It ${kept.passesNow ? 'passes' : 'fails'} today.`)
    })
  return (
    <Dialog title={wish === 'absent' ? 'This should not be here' : 'This is missing'} onClose={onClose} isWide>
      <p class="break">
        <b>{belief.name}</b> <span class="soft">{belief.content}</span>
      </p>
      <Loaded resource={found} waiting={<SkeletonRows rows={3} label="Trying out what would help" />}>
        {({ remedies, isFulfilled, withheld }) => (
          <>
            <ul class="remedies" aria-busy={found.isLoading}>
              {isFulfilled ? <li class="changed-note">Recall does this already.</li> : null}
              {remedies.length === 0 && !isFulfilled ? (
                <li class="soft">No change of this belief would help.</li>
              ) : null}
              {remedies.map((remedy, index) => (
                <RemedyCard
                  key={`${remedy.kind}-${index}`}
                  remedy={remedy}
                  isBusy={isBusy}
                  isFirst={index === 0}
                  onApply={() => void apply(remedy)}
                  onClose={onClose}
                />
              ))}
            </ul>
            {withheld.length === 0 ? null : (
              <details class="small soft">
                <summary>{pluralize(withheld.length, 'way')} would do harm and is not offered</summary>
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
          class="own-words"
          onSubmit={(event) => {
            event.preventDefault()
            const word = typed.trim()
            if (word !== '') setAliases([...aliases, word].slice(-10))
            setTyped('')
          }}
        >
          <div class="field">
            <label for="own-alias">Try another name of your own</label>
            <input
              id="own-alias"
              class="input"
              maxLength={200}
              autocomplete="off"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
          <Button type="submit">Try it</Button>
        </form>
      )}
      <Refused error={error ?? (found.value === null ? null : found.error)} />
      <div class="actions apart">
        <label class="check">
          <input type="checkbox" checked={keepsCase} onChange={(event) => setKeepsCase(event.currentTarget.checked)} />
          Keep this as a regression case in my-cases
        </label>
        <Button isBusy={isBusy} onClick={() => void captureOnly()}>
          Only keep the case
        </Button>
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
        : ` No case was kept: ${captureProblem}`
      : ` Kept as ${captured.caseId}.`
  return `${now}${kept}`
}

type RemedyCardProps = {
  readonly remedy: ApiRemedy
  readonly isBusy: boolean
  readonly isFirst: boolean
  readonly onApply: () => void
  readonly onClose: () => void
}

/** What else it would change: tried on the kept cases and on the last prompts. */
function EffectsNote({ effects }: { readonly effects: NonNullable<ApiRemedy['effects']> }) {
  const { cases, prompts, appearsIn, leaves } = effects
  const triedOn = [
    ...(cases === 0 ? [] : [pluralize(cases, 'kept case')]),
    ...(prompts === 0 ? [] : [`your last ${pluralize(prompts, 'prompt')}`]),
  ].join(' and ')
  if (triedOn === '') return null
  const moved = [
    { words: 'It would also come up in', messages: appearsIn },
    { words: 'It would no longer come up in', messages: leaves },
  ].filter(({ messages }) => messages.length > 0)
  return (
    <div class="small soft effects">
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
              <li key={index} class="clip-two" dir="auto">
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

/** Only what changes nothing else is put forward. */
const isHarmless = ({ achieves, caution, appearing, disappearing, effects }: ApiRemedy): boolean =>
  achieves &&
  caution === null &&
  appearing.length + disappearing.length + (effects?.appearsIn.length ?? 0) + (effects?.leaves.length ?? 0) === 0

/** One way to get what was wished for, and what else it would do. */
export function RemedyCard({ remedy, isBusy, isFirst, onApply, onClose }: RemedyCardProps) {
  const { kind, summary, achieves, caution, appearing, disappearing, change, ask, see, effects } = remedy
  const sideEffects = [
    ...(appearing.length === 0 ? [] : [`${pluralize(appearing.length, 'other belief')} would come too`]),
    ...(disappearing.length === 0 ? [] : [`${pluralize(disappearing.length, 'other belief')} would no longer come`]),
  ]
  return (
    <li class="remedy">
      <div class="remedy-text">
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
        {caution === null ? null : (
          <p class="caution">
            <Icon name="warn" size={14} /> <span>{caution}</span>
          </p>
        )}
      </div>
      {change === null ? null : (
        <Button
          tone={isFirst && isHarmless(remedy) ? 'main' : 'plain'}
          isBusy={isBusy}
          onClick={onApply}
          aria-label={`Apply: ${summary}`}
        >
          Apply
        </Button>
      )}
      {ask?.scopes === undefined ? null : (
        <Button
          onClick={() => {
            chooseScopes([...(ask.scopes ?? [])])
            onClose()
          }}
        >
          Ask there
        </Button>
      )}
      {see === null ? null : (
        <Button onClick={() => navigate(`/beliefs/${encodeURIComponent(see)}`)}>{seeWords[kind] ?? 'See it'}</Button>
      )}
    </li>
  )
}
