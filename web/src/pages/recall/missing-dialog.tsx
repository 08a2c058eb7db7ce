import { useEffect, useState } from 'preact/hooks'
import type { Belief } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { useResource } from '../../state/resource.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'

const typingPauseMs = 160

type MissingDialogProps = { readonly onClose: () => void; readonly onChoose: (belief: Belief) => void }

/** Finds the belief that should have come. */
export function MissingDialog({ onClose, onChoose }: MissingDialogProps) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), typingPauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const found = useResource(
    asked,
    (signal) =>
      ask('listBeliefs', {
        query: { limit: 8, proposals: false, ...(asked.trim() === '' ? {} : { query: asked.trim() }) },
        signal,
      }),
    { keep: true },
  )
  return (
    <Dialog title="Which belief is missing?" onClose={onClose}>
      <div class="field">
        <label for="missing-search">Search everything that is remembered</label>
        <input
          id="missing-search"
          class="input"
          type="search"
          maxLength={2_000}
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      <div class="missing-rows">
        <Loaded resource={found} waiting={<SkeletonRows rows={4} label="Searching" />}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="soft">Nothing is remembered under these words. Remember it first, on the page of beliefs.</p>
            ) : (
              <ul>
                {items.map(({ belief }) => (
                  <li key={belief.id}>
                    <button type="button" class="missing-row" onClick={() => onChoose(belief)}>
                      <b class="clip">{belief.name}</b>
                      <span class="clip soft small">{belief.content}</span>
                      <span class="clip soft small">{belief.scopes.join(', ')}</span>
                    </button>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Dialog>
  )
}
