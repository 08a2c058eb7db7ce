import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Refusal } from '../api/refusal.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Refused } from './notice.tsx'

type FormDialogProps = {
  readonly title: string
  /** What the button says that does it. */
  readonly submit: string
  /** Nothing to do yet. */
  readonly isIdle?: boolean
  readonly onClose: () => void
  /** Does it, and closes the dialog itself; what comes back instead is shown. */
  readonly onSubmit: () => Promise<Refusal | null>
  readonly children: ComponentChildren
}

/** A form that stays open, with everything that was written, until what it asks for is done. */
export function FormDialog({ title, submit, isIdle = false, onClose, onSubmit, children }: FormDialogProps) {
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    const refusal = await onSubmit()
    setBusy(false)
    setError(refusal)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={save}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
        }}
      >
        {children}
        <Refused error={error} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="main" isBusy={isBusy} disabled={isIdle}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
