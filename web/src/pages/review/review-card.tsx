import { moment } from '../../format/time.ts'
import { typeWords } from '../../format/words.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ProposalText } from '../beliefs/detail/proposal.tsx'
import type { ReviewItem } from './review-page.tsx'

const kinds: Readonly<Record<ReviewItem['kind'], { readonly words: string; readonly tone: Tone }>> = {
  statement: { words: 'new statement', tone: 'accent' },
  correction: { words: 'change', tone: 'odd' },
  removal: { words: 'removal', tone: 'bad' },
}

type ReviewCardProps = {
  readonly item: ReviewItem
  readonly isHere: boolean
  readonly isChosen: boolean
  readonly isBusy: boolean
  readonly onChoose: () => void
  readonly onDecide: (isAccepted: boolean) => void
}

export function ReviewCard({ item, isHere, isChosen, isBusy, onChoose, onDecide }: ReviewCardProps) {
  const { kind, belief, target, accepted, reason, turn } = item
  const { words, tone } = kinds[kind]
  return (
    <li class={isHere ? 'panel review-card here' : 'panel review-card'} aria-current={isHere ? 'true' : undefined}>
      <header class="panel-head">
        <input type="checkbox" aria-label={`Select ${belief.name}`} checked={isChosen} onChange={onChoose} />
        <h2 class="break">
          <Link href={address('beliefs', (target ?? belief).id)}>
            <bdi>{(target ?? belief).name}</bdi>
          </Link>
        </h2>
        <Badge tone={tone}>{words}</Badge>
        <span class="soft small">
          {typeWords[belief.type]} · {belief.scopes.join(', ')}
        </span>
      </header>
      <div class="panel-pad stack tight">
        {belief.candidate ? (
          <p class="prose" dir="auto">
            {belief.content}
          </p>
        ) : (
          <ProposalText value={{ proposal: belief, target, accepted }} />
        )}
        {/* Who proposed a change stands above it. */}
        {belief.candidate || belief.provenance.actor === 'person' ? <p class="soft small">{reason}</p> : null}
        {turn === null ? null : turn.text.trim() === belief.content.trim() ? (
          <p class="soft small">
            <SaidWhen turn={turn} />
          </p>
        ) : (
          <blockquote class="quote prose small" dir="auto">
            {clipped(turn.text, belief.content)}
            <span class="soft small block">
              <SaidWhen turn={turn} />
            </span>
          </blockquote>
        )}
        <div class="row">
          <Button tone="main" icon="check" isBusy={isBusy} onClick={() => onDecide(true)}>
            {kind === 'removal' ? 'Remove it' : 'Accept'}
          </Button>
          <Button icon="close" isBusy={isBusy} onClick={() => onDecide(false)}>
            Reject
          </Button>
          <Link class="button" href={address('beliefs', belief.id)}>
            Edit
          </Link>
        </div>
      </div>
    </li>
  )
}

const SaidWhen = ({ turn }: { readonly turn: NonNullable<ReviewItem['turn']> }) => (
  <>
    Said on {moment(turn.at, turn.utcOffset)} ·{' '}
    <Link href={`${address('conversations', turn.session)}?turn=${encodeURIComponent(turn.id)}`}>
      See the conversation
    </Link>
  </>
)

const longest = 400

/** The part of a long message around what was found in it. */
function clipped(text: string, found: string): string {
  if (text.length <= longest) return text
  const at = Math.max(0, text.toLowerCase().indexOf(found.slice(0, 20).toLowerCase()) - 80)
  return `${at === 0 ? '' : '…'}${text.slice(at, at + longest)}…`
}
