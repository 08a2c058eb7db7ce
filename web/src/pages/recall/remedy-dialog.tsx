import { useState } from 'preact/hooks'
import type { ApiBelief, ApiRemedy, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { sawEvent } from '../../api/live.ts'
import { asRefusal, type Refusal } from '../../api/refusal.ts'
import { counted } from '../../format/numbers.ts'
import { sayWithUndo } from '../../state/changes.ts'
import { useResource } from '../../state/resource.ts'
import { say } from '../../state/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Refused } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import type { Wish } from './context-view.tsx'
import { RemedyCard } from './remedy-card.tsx'

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
      sawEvent(done.edited.event)
      sayWithUndo(outcomeWords(done), done.edited.event)
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
      say(`Kept as the case ${kept.caseId} of my-cases. It ${kept.passesNow ? 'passes' : 'fails'} today.`)
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
                <summary>{counted(withheld.length, 'way')} would do harm and is not offered</summary>
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
