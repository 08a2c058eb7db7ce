import { useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { counted } from '../../../format/numbers.ts'
import { dayOf } from '../../../format/time.ts'
import { useResource } from '../../../state/resource.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { forgetSoon } from './forgetting.ts'

/** Max messages shown before the count of the others. */
const maxShown = 3

type ForgetDialogProps = { readonly belief: ApiBelief; readonly chainLength: number; readonly onClose: () => void }

/** Erasing cannot be undone, so it is asked for, and what it means is said. */
export function ForgetDialog({ belief, chainLength, onClose }: ForgetDialogProps) {
  const [isWhole, setWhole] = useState(false)
  const [keepsTurns, setKeepsTurns] = useState(false)
  const { value: preview } = useResource(`forget ${belief.id} ${isWhole}`, () =>
    ask('previewForget', { params: { id: belief.id }, query: isWhole ? { wholeChain: true } : {} }),
  )
  const turns = preview?.turns ?? []
  return (
    <Dialog title="Forget this belief?" onClose={onClose}>
      <p class="break">
        Every text of <b>{belief.name}</b> is erased from the store, its history and its search index. The journal keeps
        only that something was forgotten, when and by whom. It cannot be undone.
      </p>
      {chainLength > 1 ? (
        <label class="check">
          <input type="checkbox" checked={isWhole} onChange={(event) => setWhole(event.currentTarget.checked)} />
          Also its earlier and later versions ({counted(chainLength - 1, 'more belief')})
        </label>
      ) : null}
      {turns.length > 0 ? (
        <>
          <p>{counted(turns.length, 'message')} with the same statement will be erased too:</p>
          <ul class="small">
            {turns.slice(0, maxShown).map((turn) => (
              <li key={turn.id} class="clip-four" dir="auto">
                {dayOf(turn.at, turn.utcOffset)}: {turn.text}
              </li>
            ))}
            {turns.length > maxShown ? <li>and {turns.length - maxShown} more</li> : null}
          </ul>
          <label class="check">
            <input
              type="checkbox"
              checked={keepsTurns}
              onChange={(event) => setKeepsTurns(event.currentTarget.checked)}
            />
            Keep these messages
          </label>
        </>
      ) : null}
      <div class="actions">
        {/* What cannot be taken back is not one Enter away. */}
        <Button data-first onClick={onClose}>
          Cancel
        </Button>
        <Button
          tone="danger"
          class="main"
          icon="trash"
          onClick={() => {
            forgetSoon(belief, { wholeChain: isWhole, keepTurns: keepsTurns })
            onClose()
          }}
        >
          Forget
        </Button>
      </div>
    </Dialog>
  )
}
