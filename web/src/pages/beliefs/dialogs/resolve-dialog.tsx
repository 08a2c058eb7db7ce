import { useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { make } from '../../../state/changes.ts'
import { Field, TextArea } from '../../../ui/field.tsx'
import { FormDialog } from '../../../ui/form-dialog.tsx'

/** Closes an open question, with the decision that settles it if there is one. */
export function ResolveDialog({ question, onClose }: { readonly question: ApiBelief; readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [content, setContent] = useState('')
  const hasDecision = name.trim() !== '' || content.trim() !== ''
  const save = async () => {
    const { error } = await make('Settled.', () =>
      ask('resolveBelief', { params: { id: question.id }, body: hasDecision ? { by: { name, content } } : {} }),
    )
    if (error === null) onClose()
    return error
  }
  return (
    <FormDialog title="Settle this question" submit="Settle" onClose={onClose} onSubmit={save}>
      <p class="prose soft" dir="auto">
        {question.content}
      </p>
      <Field
        label="Name of the decision"
        value={name}
        onInput={setName}
        maxLength={200}
        help="Leave both empty to close the question without one."
      />
      <TextArea label="What was decided" value={content} onInput={setContent} maxLength={10_000} />
    </FormDialog>
  )
}
