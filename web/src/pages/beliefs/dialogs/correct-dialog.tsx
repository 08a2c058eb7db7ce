import { useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { address } from '../../../navigation/match.ts'
import { navigate, withQuery } from '../../../navigation/router.ts'
import { make } from '../../../state/changes.ts'
import { Field, TextArea } from '../../../ui/field.tsx'
import { FormDialog } from '../../../ui/form-dialog.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'

/** Replaces a belief by a newer one. What was written survives whatever happens to the belief meanwhile. */
export function CorrectDialog({ belief, onClose }: { readonly belief: ApiBelief; readonly onClose: () => void }) {
  // What the person saw when they began is what they correct, not what has come since.
  const [seen, setSeen] = useState(belief)
  const [content, setContent] = useState(belief.content)
  const [name, setName] = useState(belief.name)
  const [conflict, setConflict] = useState<{ readonly current: ApiBelief | null } | null>(null)
  const isSame = content.trim() === seen.content && name.trim() === seen.name
  const save = async (expectedVersion: number) => {
    const { result, error: refusal } = await make(
      ({ outcome }) => (outcome === 'proposed' ? 'Proposed.' : 'Corrected. The old one is in the history.'),
      () =>
        ask('correctBelief', {
          params: { id: belief.id },
          body: { content, expectedVersion, ...(name.trim() === seen.name ? {} : { name }) },
        }),
    )
    const isConflict =
      refusal?.code === 'conflict' && refusal.current !== null && hasMoved(refusal.current, expectedVersion)
    setConflict(isConflict ? { current: refusal.current } : null)
    if (result === null) return isConflict ? null : refusal
    onClose()
    navigate(withQuery({}, address('beliefs', result.belief.id)), { replace: true })
    return null
  }
  if (conflict !== null)
    return (
      <ConflictDialog
        current={conflict.current}
        fields={[
          { label: 'Content', theirs: conflict.current?.content ?? '', mine: content },
          ...(name.trim() === seen.name ? [] : [{ label: 'Name', theirs: conflict.current?.name ?? '', mine: name }]),
        ]}
        onKeepEditing={() => {
          if (conflict.current !== null) setSeen(conflict.current)
          setConflict(null)
        }}
        onTakeTheirs={onClose}
        onSaveMine={() => void save(conflict.current?.version ?? seen.version)}
      />
    )
  return (
    <FormDialog
      title="Correct this belief"
      submit="Replace"
      isIdle={isSame}
      onClose={onClose}
      onSubmit={() => save(seen.version)}
    >
      <p class="soft">Your text replaces it. The old statement stays in the history and is never recalled.</p>
      <TextArea label="What is true now" value={content} onInput={setContent} maxLength={10_000} isRequired />
      <Field
        label="Name"
        value={name}
        onInput={setName}
        maxLength={200}
        help="Another name keeps the old one as an alias."
        isRequired
      />
    </FormDialog>
  )
}

const hasMoved = (current: ApiBelief, expectedVersion: number): boolean =>
  current.version !== expectedVersion || current.supersededBy !== null
