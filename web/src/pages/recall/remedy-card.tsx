import type { Remedy } from '../../../../src/http/api/contract.ts'
import { counted } from '../../format/numbers.ts'
import { navigate } from '../../navigation/router.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { chooseScopes } from './recall-state.ts'

type RemedyCardProps = {
  readonly remedy: Remedy
  readonly isBusy: boolean
  readonly isFirst: boolean
  readonly onApply: () => void
  readonly onClose: () => void
}

const seeWords: Readonly<Partial<Record<Remedy['kind'], string>>> = { correct: 'Correct it', accept: 'Decide on it' }

/** One way to get what was wished for, and what else it would do. */
export function RemedyCard({ remedy, isBusy, isFirst, onApply, onClose }: RemedyCardProps) {
  const { kind, summary, achieves, caution, appearing, disappearing, change, ask, see } = remedy
  const sideEffects = [
    ...(appearing.length === 0 ? [] : [`${counted(appearing.length, 'other belief')} would come too`]),
    ...(disappearing.length === 0 ? [] : [`${counted(disappearing.length, 'other belief')} would no longer come`]),
  ]
  return (
    <li class="remedy">
      <div class="remedy-text">
        <p class="break">{summary}</p>
        <p class="row">
          {change === null && ask === null ? null : achieves ? (
            <Badge tone="good">tried out: it works</Badge>
          ) : (
            <Badge tone="odd">not enough by itself</Badge>
          )}
          {sideEffects.map((effect) => (
            <Badge key={effect} tone="odd">
              {effect}
            </Badge>
          ))}
        </p>
        {caution === null ? null : (
          <p class="caution">
            <Icon name="warn" size={14} /> <span>{caution}</span>
          </p>
        )}
      </div>
      {change === null ? null : (
        <Button
          tone={achieves && isFirst ? 'main' : 'plain'}
          isBusy={isBusy}
          onClick={onApply}
          aria-label={`Apply: ${summary}`}
        >
          Apply
        </Button>
      )}
      {ask?.scopes === undefined ? null : (
        <Button
          onClick={() => {
            chooseScopes([...(ask.scopes ?? [])])
            onClose()
          }}
        >
          Ask there
        </Button>
      )}
      {see === null ? null : (
        <Button onClick={() => navigate(`/beliefs/${encodeURIComponent(see)}`)}>{seeWords[kind] ?? 'See it'}</Button>
      )}
    </li>
  )
}
