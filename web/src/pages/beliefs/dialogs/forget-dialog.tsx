import { useState } from 'preact/hooks'
import type { Belief } from '../../../../../src/http/api/contract.ts'
import { counted } from '../../../format/numbers.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { forgetSoon } from './forgetting.ts'

type ForgetDialogProps = { readonly belief: Belief; readonly chainLength: number; readonly onClose: () => void }

/** Erasing cannot be undone, so it is asked for, and what it means is said. */
export function ForgetDialog({ belief, chainLength, onClose }: ForgetDialogProps) {
  const [isWhole, setWhole] = useState(false)
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
            forgetSoon(belief, isWhole)
            onClose()
          }}
        >
          Forget
        </Button>
      </div>
    </Dialog>
  )
}
