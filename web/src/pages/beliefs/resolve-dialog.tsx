import { useState } from 'preact/hooks'
import type { Belief } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import type { Refusal } from '../../api/refusal.ts'
import { make } from '../../state/changes.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Refused } from '../../ui/notice.tsx'

/** Closes an open question, with the decision that settles it if there is one. */
export function ResolveDialog({ question, onClose }: { readonly question: Belief; readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [content, setContent] = useState('')
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const hasDecision = name.trim() !== '' || content.trim() !== ''
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const { error: refusal } = await make('Settled.', () =>
      ask('resolveBelief', { params: { id: question.id }, body: hasDecision ? { by: { name, content } } : {} }),
    )
    setBusy(false)
    setError(refusal)
    if (refusal === null) onClose()
  }
  return (
    <Dialog title="Settle this question" onClose={onClose}>
      <form class="stack" onSubmit={save}>
        <p class="prose soft">{question.content}</p>
        <Field
          label="Name of the decision"
          value={name}
          onInput={setName}
          maxLength={200}
          help="Leave both empty to close the question without one."
        />
        <TextArea label="What was decided" value={content} onInput={setContent} maxLength={20_000} />
        <Refused error={error} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="main" isBusy={isBusy}>
            Settle
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
