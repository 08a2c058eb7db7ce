import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { sawEvent } from '../../api/live.ts'
import { asRefusal, type Refusal } from '../../api/refusal.ts'
import { counted } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { navigate, withQuery } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { say } from '../../state/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Refused } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'

/** A turn, a conversation, or everything that holds some words. */
export type Selection = { readonly turn: string } | { readonly session: string } | { readonly containing: string }

type ForgetTurnsProps = {
  /** Null: the person says by words what is to go. */
  readonly selection: Selection | null
  readonly onClose: () => void
}

/** Erasing cannot be undone, so what would go is shown first. */
export function ForgetTurns({ selection, onClose }: ForgetTurnsProps) {
  const [words, setWords] = useState('')
  const [previewed, setPreviewed] = useState(selection)
  return (
    <Dialog title="Forget what was said" onClose={onClose} isWide>
      {selection === null ? (
        <form
          class="own-words"
          onSubmit={(event) => {
            event.preventDefault()
            if (words.trim() !== '') setPreviewed({ containing: words.trim() })
          }}
        >
          <div class="field">
            <label for="forget-words">Everything that contains these words</label>
            <input
              id="forget-words"
              class="input"
              maxLength={2_000}
              autocomplete="off"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </div>
          <Button type="submit">Preview</Button>
          <p class="help soft small">In conversations and in beliefs, in upper or lower case.</p>
        </form>
      ) : null}
      {previewed === null ? null : <Preview key={JSON.stringify(previewed)} selection={previewed} onClose={onClose} />}
    </Dialog>
  )
}

function Preview({ selection, onClose }: { readonly selection: Selection; readonly onClose: () => void }) {
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const found = useResource('preview', (signal) =>
    ask('forgetTurns', { query: { ...selection, dryRun: true }, signal }),
  )
  const forget = async () => {
    setBusy(true)
    try {
      const done = await ask('forgetTurns', { query: selection })
      sawEvent(done.event)
      say(`Forgotten: ${amount(done)}. Nothing of it is left.`)
      if ('session' in selection) navigate(withQuery({ turn: null }, '/conversations'), { replace: true })
      onClose()
    } catch (reason) {
      setError(asRefusal(reason))
      setBusy(false)
    }
  }
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={3} label="Searching" />}>
      {(preview) => (
        <div class="stack tight">
          <p>
            <b>{amount(preview)}</b> would be erased permanently, from the store, its history and its index.
            {preview.beliefsFromThem.length === 0
              ? ''
              : ` ${counted(preview.beliefsFromThem.length, 'belief')} learned from it would stay.`}
          </p>
          <ul class="preview">
            {(preview.examples ?? []).map(({ id, at, utcOffset, text }) => (
              <li key={id} class="clip-two">
                <span class="soft small">{moment(at, utcOffset)}</span> <span dir="auto">{text}</span>
              </li>
            ))}
            {(preview.beliefExamples ?? []).map(({ id, name, content }) => (
              <li key={id} class="clip-two">
                <span class="soft small">Belief</span> <b dir="auto">{name}</b> <span dir="auto">{content}</span>
              </li>
            ))}
          </ul>
          {hidden(preview) === '' ? null : <p class="soft small">And {hidden(preview)}.</p>}
          <Refused error={error} />
          <div class="actions">
            <Button data-first onClick={onClose}>
              Cancel
            </Button>
            <Button
              tone="danger"
              class="main"
              icon="trash"
              isBusy={isBusy}
              disabled={preview.turns + preview.beliefs === 0}
              onClick={() => void forget()}
            >
              Forget
            </Button>
          </div>
        </div>
      )}
    </Loaded>
  )
}

/** What is not among the examples. */
const hidden = ({ turns, beliefs, examples = [], beliefExamples = [] }: RouteAnswer<'forgetTurns'>): string =>
  [
    ...(turns > examples.length ? [counted(turns - examples.length, 'more turn')] : []),
    ...(beliefs > beliefExamples.length ? [counted(beliefs - beliefExamples.length, 'more belief')] : []),
  ].join(' and ')

const amount = ({ turns, beliefs }: Pick<RouteAnswer<'forgetTurns'>, 'turns' | 'beliefs'>): string =>
  beliefs === 0 ? counted(turns, 'turn') : `${counted(turns, 'turn')} and ${counted(beliefs, 'belief')}`
