import { useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { sawEvent } from '../../../api/live.ts'
import { asRefusal } from '../../../api/refusal.ts'
import { count, counted } from '../../../format/numbers.ts'
import { say } from '../../../state/toasts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'

type BulkBarProps = {
  readonly beliefs: readonly ApiBelief[]
  readonly marked: ReadonlySet<string>
  readonly onMark: (marked: ReadonlySet<string>) => void
  readonly onDone: () => void
}

type Change = {
  readonly done: string
  /** Cannot be undone. */
  readonly isFinal?: boolean
  readonly make: (belief: ApiBelief) => Promise<{ readonly event: number | null }>
}

/** One change of many beliefs, each for itself, so that each can be undone for itself. */
export function BulkBar({ beliefs, marked, onMark, onDone }: BulkBarProps) {
  const [open, setOpen] = useState<'scope' | 'alias' | 'forget' | null>(null)
  const [words, setWords] = useState('')
  const [isBusy, setBusy] = useState(false)
  const chosen = beliefs.filter(({ id }) => marked.has(id))
  const run = async ({ done, make, isFinal = false }: Change) => {
    setBusy(true)
    let made = 0
    for (const belief of chosen) {
      try {
        const { event } = await make(belief)
        sawEvent(event)
        made += 1
      } catch (error) {
        say(`${belief.name}: ${asRefusal(error).message}`, { tone: 'failed' })
      }
    }
    setBusy(false)
    setOpen(null)
    setWords('')
    say(`${done}: ${counted(made, 'belief')}.${isFinal ? ' Nothing of them is left.' : ' The journal can undo each.'}`)
    onDone()
  }
  const word = words.trim()
  const scope: Change = {
    done: `Hold in ${word} now`,
    make: ({ id, version }) =>
      ask('editBelief', { params: { id }, body: { scopes: [word], expectedVersion: version } }),
  }
  const alias: Change = {
    done: `Also known as “${word}”`,
    make: ({ id }) => ask('editBelief', { params: { id }, body: { addAliases: [word] } }),
  }
  const forget: Change = {
    done: 'Forgotten',
    isFinal: true,
    make: ({ id, version }) => ask('forgetBelief', { params: { id }, query: { expectedVersion: version } }),
  }
  return (
    <div class="bulk-bar row" role="toolbar" aria-label="Change the selected beliefs">
      <label class="check">
        <input
          type="checkbox"
          checked={chosen.length > 0 && chosen.length === beliefs.length}
          onChange={(event) => onMark(new Set(event.currentTarget.checked ? beliefs.map(({ id }) => id) : []))}
        />
        {count(chosen.length)} selected
      </label>
      <Button class="small" disabled={chosen.length === 0} onClick={() => setOpen('scope')}>
        Move
      </Button>
      <Button class="small" disabled={chosen.length === 0} onClick={() => setOpen('alias')}>
        Alias
      </Button>
      <Button class="small" tone="danger" disabled={chosen.length === 0} onClick={() => setOpen('forget')}>
        Forget
      </Button>
      {open === null ? null : (
        <Dialog title={titles[open](counted(chosen.length, 'belief'))} onClose={() => setOpen(null)}>
          <div class="stack">
            {open === 'forget' ? (
              <p>Their texts are erased from the store, its history and its index. It cannot be undone.</p>
            ) : (
              <Field
                label={open === 'scope' ? 'The scope they are to hold in' : 'Another name for all of them'}
                value={words}
                onInput={setWords}
                maxLength={200}
                placeholder={open === 'scope' ? 'project:name' : ''}
              />
            )}
            <div class="actions">
              <Button data-first={open === 'forget'} onClick={() => setOpen(null)}>
                Cancel
              </Button>
              <Button
                tone={open === 'forget' ? 'danger' : 'main'}
                class={open === 'forget' ? 'main' : ''}
                isBusy={isBusy}
                disabled={open !== 'forget' && word === ''}
                onClick={() => void run({ scope, alias, forget }[open])}
              >
                {open === 'forget' ? 'Forget' : 'Change'}
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </div>
  )
}

const titles = {
  scope: (amount: string) => `Move ${amount}`,
  alias: (amount: string) => `Give ${amount} another name`,
  forget: (amount: string) => `Forget ${amount}?`,
} as const
