import type { ApiRemedy } from '../../../../src/http/api/contract.ts'
import { counted } from '../../format/numbers.ts'
import { navigate } from '../../navigation/router.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { chooseScopes } from './recall-state.ts'

type RemedyCardProps = {
  readonly remedy: ApiRemedy
  readonly isBusy: boolean
  readonly isFirst: boolean
  readonly onApply: () => void
  readonly onClose: () => void
}

/** What else it would change: tried on the kept cases and on the last prompts. */
function EffectsNote({ effects }: { readonly effects: NonNullable<ApiRemedy['effects']> }) {
  const { cases, prompts, appearsIn, leaves } = effects
  const triedOn = [
    ...(cases === 0 ? [] : [counted(cases, 'kept case')]),
    ...(prompts === 0 ? [] : [`your last ${counted(prompts, 'prompt')}`]),
  ].join(' and ')
  if (triedOn === '') return null
  const moved = [
    { words: 'It would also come up in', messages: appearsIn },
    { words: 'It would no longer come up in', messages: leaves },
  ].filter(({ messages }) => messages.length > 0)
  return (
    <div class="small soft effects">
      <p>
        Tried on {triedOn}: {moved.length === 0 ? 'nothing else changes.' : ''}
      </p>
      {moved.map(({ words, messages }) => (
        <details key={words}>
          <summary>
            {words} {counted(messages.length, 'other prompt')}
          </summary>
          <ul class="bullets">
            {messages.slice(0, 5).map((message, index) => (
              <li key={index} class="clip-two" dir="auto">
                {message}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  )
}

const seeWords: Readonly<Partial<Record<ApiRemedy['kind'], string>>> = { correct: 'Correct it', accept: 'Decide on it' }

/** Only what changes nothing else is put forward. */
const isHarmless = ({ achieves, caution, appearing, disappearing, effects }: ApiRemedy): boolean =>
  achieves &&
  caution === null &&
  appearing.length + disappearing.length + (effects?.appearsIn.length ?? 0) + (effects?.leaves.length ?? 0) === 0

/** One way to get what was wished for, and what else it would do. */
export function RemedyCard({ remedy, isBusy, isFirst, onApply, onClose }: RemedyCardProps) {
  const { kind, summary, achieves, caution, appearing, disappearing, change, ask, see, effects } = remedy
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
        {effects === null ? null : <EffectsNote effects={effects} />}
        {caution === null ? null : (
          <p class="caution">
            <Icon name="warn" size={14} /> <span>{caution}</span>
          </p>
        )}
      </div>
      {change === null ? null : (
        <Button
          tone={isFirst && isHarmless(remedy) ? 'main' : 'plain'}
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
