import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { Link } from '../../../navigation/link.tsx'
import { address } from '../../../navigation/match.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { isOpenToChange } from '../belief-state.ts'

export type Disagreement = { readonly label: string; readonly theirs: string; readonly mine: string }

type ConflictDialogProps = {
  /** What the belief says now; null when it is gone. */
  readonly current: ApiBelief | null
  readonly fields: readonly Disagreement[]
  readonly onTakeTheirs: () => void
  readonly onSaveMine: () => void
  readonly onKeepEditing: () => void
}

/** Somebody else changed the same belief meanwhile. Both texts are shown, and neither is lost until a person decides. */
export function ConflictDialog({ current, fields, onTakeTheirs, onSaveMine, onKeepEditing }: ConflictDialogProps) {
  const mine = fields.map((field) => field.mine).join('\n\n')
  const canSave = current !== null && isOpenToChange(current)
  return (
    <Dialog title="Changed by somebody else" onClose={onKeepEditing} isWide>
      <p>{explanation(current)}</p>
      {fields.map(({ label, theirs, mine: own }) => (
        <div key={label} class="sides">
          <div class="side-text">
            <h3>{label}: theirs</h3>
            <p class="prose" dir="auto">
              {theirs === '' ? <span class="soft">empty</span> : theirs}
            </p>
          </div>
          <div class="side-text mine">
            <h3>{label}: yours, not saved</h3>
            <p class="prose" dir="auto">
              {own === '' ? <span class="soft">empty</span> : own}
            </p>
          </div>
        </div>
      ))}
      <div class="actions">
        <CopyButton text={mine} label="Copy yours" />
        <Button onClick={onKeepEditing}>Keep editing</Button>
        {current?.supersededBy == null ? null : (
          <Link class="button" href={address('beliefs', current.supersededBy)}>
            Go to the new one
          </Link>
        )}
        <Button onClick={onTakeTheirs}>Take theirs</Button>
        {canSave ? (
          <Button tone="main" onClick={onSaveMine}>
            Save mine
          </Button>
        ) : null}
      </div>
    </Dialog>
  )
}

function explanation(current: ApiBelief | null): string {
  if (current === null) return 'The belief was forgotten while you were writing. Your text is still here to copy.'
  if (current.supersededBy !== null)
    return 'The belief was replaced by a newer one while you were writing. Your text is still here to copy.'
  if (!isOpenToChange(current)) return 'The belief can no longer be changed. Your text is still here to copy.'
  return 'The belief was changed in another place while you were writing. Nothing is saved yet: choose which text holds.'
}
