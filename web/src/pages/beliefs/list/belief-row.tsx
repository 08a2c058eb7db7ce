import { counted } from '../../../format/numbers.ts'
import { typeWords } from '../../../format/words.ts'
import { Link } from '../../../navigation/link.tsx'
import { address } from '../../../navigation/match.ts'
import { withQuery } from '../../../navigation/router.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Highlighted } from '../../../ui/highlighted.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Time } from '../../../ui/time.tsx'
import { stateOf } from '../belief-state.ts'
import type { Listed } from './belief-list.ts'

/** One line of the list: what it is called, what it says, where it holds. */
type BeliefRowProps = {
  readonly item: Listed
  readonly isChosen: boolean
  /** Whether it is one of many to be changed at once; null while nothing is being chosen. */
  readonly isMarked: boolean | null
  readonly onMark: () => void
}

export function BeliefRow({ item, isChosen, isMarked, onMark }: BeliefRowProps) {
  const { belief, hit, recalls } = item
  const found = (field: string) => (hit?.highlights ?? []).filter((highlight) => highlight.field === field)
  const state = stateOf(belief)
  return (
    <li class={isMarked === null ? 'belief-row' : 'belief-row marking'} data-id={belief.id}>
      {isMarked === null ? null : (
        <input type="checkbox" aria-label={`Select ${belief.name}`} checked={isMarked} onChange={onMark} />
      )}
      <Link
        class="belief-link"
        href={withQuery({}, address('beliefs', belief.id))}
        aria-current={isChosen ? 'true' : undefined}
      >
        <span class="belief-name">
          <span class="clip" dir="auto">
            <Highlighted text={belief.name} stretches={found('name')} />
          </span>
          {belief.pinned ? (
            <span class="pin-sign" title="Pinned">
              <Icon name="pin" size={14} />
              <span class="unseen">pinned</span>
            </span>
          ) : null}
        </span>
        <span class="belief-line clip" dir="auto">
          <Highlighted text={belief.content} stretches={found('content')} />
        </span>
        <span class="belief-meta">
          <span>{typeWords[belief.type]}</span>
          <span class="clip">{belief.scopes.join(', ')}</span>
          {state === null ? null : <Badge tone={state.tone}>{state.word}</Badge>}
          {hit?.strength === 'exact' ? <Badge tone="accent">exact</Badge> : null}
          {recalls === 0 ? null : <span>{counted(recalls, 'recall')}</span>}
          <span class="belief-time">
            <Time at={belief.updatedAt} />
          </span>
        </span>
      </Link>
    </li>
  )
}
