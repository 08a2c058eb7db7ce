import { useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { useKeys } from '../../../navigation/keys.ts'
import { makeOrSay } from '../../../state/changes.ts'
import { Button } from '../../../ui/button.tsx'
import { isOpenToChange, isUnconfirmed } from '../belief-state.ts'
import { CorrectDialog } from '../dialogs/correct-dialog.tsx'
import { ForgetDialog } from '../dialogs/forget-dialog.tsx'
import { ResolveDialog } from '../dialogs/resolve-dialog.tsx'

type Open = 'correct' | 'forget' | 'resolve' | null

/** What can be done with a belief. One that is retired can only be forgotten. */
export function BeliefActions({ belief, chainLength }: { readonly belief: ApiBelief; readonly chainLength: number }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const isOpen = isOpenToChange(belief)
  const canConfirm = isOpen && isUnconfirmed(belief)
  const params = { id: belief.id }
  const pin = () =>
    void makeOrSay(belief.pinned ? 'Unpinned.' : 'Pinned. It is recalled in its scope whatever the message says.', () =>
      ask('editBelief', { params, body: { pinned: !belief.pinned } }),
    )
  const confirm = () => void makeOrSay('Confirmed as your own.', () => ask('confirmBelief', { params }))
  const correct = () => setOpen('correct')
  const forget = () => setOpen('forget')
  useKeys({
    ...(isOpen
      ? {
          p: { does: belief.pinned ? 'Unpin' : 'Pin', act: pin },
          c: { does: 'Correct', act: correct },
          ...(canConfirm ? { y: { does: 'Confirm', act: confirm } } : {}),
          a: { does: 'Add an alias', act: () => document.querySelector<HTMLElement>('[data-chip=alias]')?.focus() },
        }
      : {}),
    f: { does: 'Forget', act: forget },
  })
  return (
    <fieldset class="row detail-actions" aria-label="Actions">
      {isOpen ? (
        <>
          <Button icon="pin" onClick={pin} aria-pressed={belief.pinned} title="Pin (p)">
            {belief.pinned ? 'Pinned' : 'Pin'}
          </Button>
          <Button icon="edit" onClick={correct} title="Correct (c)">
            Correct
          </Button>
          {canConfirm ? (
            <Button icon="check" onClick={confirm} title="Confirm it as your own (y)">
              Confirm
            </Button>
          ) : null}
          {belief.type === 'open_question' ? (
            <Button icon="question" onClick={() => setOpen('resolve')}>
              Settle
            </Button>
          ) : null}
        </>
      ) : null}
      <Button tone="danger" icon="trash" onClick={forget} title="Forget (f)">
        Forget
      </Button>
      {open === 'correct' ? <CorrectDialog belief={belief} onClose={close} /> : null}
      {open === 'forget' ? <ForgetDialog belief={belief} chainLength={chainLength} onClose={close} /> : null}
      {open === 'resolve' ? <ResolveDialog question={belief} onClose={close} /> : null}
    </fieldset>
  )
}
