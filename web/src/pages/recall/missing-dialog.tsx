import { useState } from 'preact/hooks'
import type { ApiBelief } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { useResource } from '../../state/resource.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SearchBox } from '../../ui/search-box.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { stateOf } from '../beliefs/belief-state.ts'

type MissingDialogProps = { readonly onClose: () => void; readonly onChoose: (belief: ApiBelief) => void }

/** Finds the belief that should have come. */
export function MissingDialog({ onClose, onChoose }: MissingDialogProps) {
  const [asked, setAsked] = useState('')
  const found = useResource(
    asked,
    (signal) =>
      ask('listBeliefs', {
        query: {
          limit: 8,
          proposals: false,
          candidates: false,
          ...(asked.trim() === '' ? {} : { query: asked.trim() }),
        },
        signal,
      }),
    { keep: true },
  )
  return (
    <Dialog title="Which belief is missing?" onClose={onClose}>
      <SearchBox
        label="Search everything that is remembered"
        placeholder="Search everything that is remembered"
        maxLength={2_000}
        text={asked}
        onChange={setAsked}
      />
      <div class="missing-rows">
        <Loaded resource={found} waiting={<SkeletonRows rows={4} label="Searching" />}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="soft">Nothing is remembered under these words. Remember it first, on the page of beliefs.</p>
            ) : (
              <ul aria-busy={found.isLoading}>
                {items.map(({ belief }) => (
                  <li key={belief.id}>
                    <MissingRow belief={belief} onChoose={onChoose} />
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

function MissingRow({
  belief,
  onChoose,
}: {
  readonly belief: ApiBelief
  readonly onChoose: (belief: ApiBelief) => void
}) {
  const state = stateOf(belief)
  return (
    <button type="button" class="missing-row" onClick={() => onChoose(belief)}>
      <span class="row">
        <b class="clip" dir="auto">
          {belief.name}
        </b>
        {state === null ? null : <Badge tone={state.tone}>{state.word}</Badge>}
      </span>
      <span class="clip soft small" dir="auto">
        {belief.content}
      </span>
      <span class="clip soft small">{belief.scopes.join(', ')}</span>
    </button>
  )
}
