import { useState } from 'preact/hooks'
import { undo } from '../state/changes.ts'
import { Button } from './button.tsx'

/** Takes one change back. What was undone, forgotten or only heard has no way back, and no button. */
export function UndoButton({
  event,
}: {
  readonly event: { readonly number: number; readonly kind: string; readonly undoneBy: number | null }
}) {
  const [isBusy, setBusy] = useState(false)
  if (event.undoneBy !== null || event.kind === 'forget' || event.kind === 'hear') return null
  const takeBack = async () => {
    setBusy(true)
    await undo(event.number)
    setBusy(false)
  }
  return (
    <Button
      tone="quiet"
      icon="undo"
      class="small"
      isBusy={isBusy}
      onClick={() => void takeBack()}
      aria-label={`Undo change ${event.number}`}
    >
      Undo
    </Button>
  )
}
