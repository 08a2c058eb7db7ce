import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import type { Refusal } from '../../../api/refusal.ts'
import { useKeys } from '../../../navigation/keys.ts'
import { make } from '../../../state/changes.ts'
import { draftOf, dropDraft, keepDraft } from '../../../state/drafts.ts'
import { Button } from '../../../ui/button.tsx'
import { Refused } from '../../../ui/notice.tsx'
import { isOpenToChange } from '../belief-state.ts'
import { ConflictDialog } from '../dialogs/conflict-dialog.tsx'

/** What an agent should do about a belief, to read and to change in place. */
export function WhyEditor({ belief }: { readonly belief: ApiBelief }) {
  const key = `why of ${belief.id}`
  const draft = draftOf(key)
  const begin = () => keepDraft(key, { text: belief.why, baseVersion: belief.version })
  const canEdit = isOpenToChange(belief)
  useKeys(canEdit && draft === null ? { e: { does: 'Edit the why', act: begin } } : {})
  const edit = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useLayoutEffect(() => {
    // The form takes the focus with it when it goes.
    if (wasEditing.current && draft === null && document.activeElement === document.body) edit.current?.focus()
    wasEditing.current = draft !== null
  }, [draft === null])
  if (draft !== null) return <WhyForm belief={belief} draftKey={key} />
  return (
    <section class="detail-part">
      <div class="part-head">
        <h3 class="part-title">Why it matters</h3>
        {canEdit ? (
          <Button ref={edit} tone="quiet" icon="edit" class="small" onClick={begin} title="Edit (e)">
            Edit
          </Button>
        ) : null}
      </div>
      {belief.why === '' ? (
        <p class="soft">Not written yet. Say what an agent should do because of this.</p>
      ) : (
        <p class="prose" dir="auto">
          {belief.why}
        </p>
      )}
    </section>
  )
}

function WhyForm({ belief, draftKey }: { readonly belief: ApiBelief; readonly draftKey: string }) {
  const draft = draftOf(draftKey)
  const [error, setError] = useState<Refusal | null>(null)
  const [conflict, setConflict] = useState<{ readonly current: ApiBelief | null } | null>(null)
  const [isBusy, setBusy] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => area.current?.focus(), [])
  const close = () => dropDraft(draftKey)
  useKeys({ Escape: { does: 'Close', act: close } })
  if (draft === null) return null
  const save = async (expectedVersion: number) => {
    setBusy(true)
    const { error: refusal } = await make('Why changed.', () =>
      ask('editBelief', { params: { id: belief.id }, body: { why: draft.text, expectedVersion } }),
    )
    setBusy(false)
    const isConflict = refusal?.code === 'conflict' || refusal?.status === 404
    setConflict(isConflict ? { current: refusal.current } : null)
    setError(isConflict ? null : refusal)
    if (refusal === null) close()
  }
  return (
    <section class="detail-part">
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault()
          void save(draft.baseVersion)
        }}
      >
        <label class="part-title" for="why-text">
          Why it matters
        </label>
        <textarea
          id="why-text"
          class="area"
          dir="auto"
          ref={area}
          maxLength={4_000}
          value={draft.text}
          onInput={(event) => keepDraft(draftKey, { ...draft, text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            void save(draft.baseVersion)
          }}
        />
        {belief.version > draft.baseVersion ? (
          <p class="changed-note" role="status">
            This belief was changed elsewhere while you are writing. Saving will show both.
          </p>
        ) : null}
        <Refused error={error} />
        <div class="row">
          <Button type="submit" tone="main" isBusy={isBusy}>
            Save
          </Button>
          <Button onClick={close}>Cancel</Button>
          <span class="soft small">What an agent should do about it. Ctrl+Enter saves.</span>
        </div>
      </form>
      {conflict === null ? null : (
        <ConflictDialog
          current={conflict.current}
          fields={[{ label: 'Why', theirs: conflict.current?.why ?? '', mine: draft.text }]}
          onKeepEditing={() => setConflict(null)}
          onTakeTheirs={close}
          onSaveMine={() => void save(conflict.current?.version ?? draft.baseVersion)}
        />
      )}
    </section>
  )
}
