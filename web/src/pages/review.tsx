import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { ask, journalHead } from '../api/client.ts'
import { count, pluralize } from '../format/numbers.ts'
import { typeWords } from '../format/words.ts'
import { useKeys } from '../navigation/keys.ts'
import { address } from '../navigation/match.ts'
import { Link, navigate } from '../navigation/router.tsx'
import { showToast, toastRefusal } from '../state/changes.ts'
import { useResource } from '../state/resource.ts'
import { Badge, BeliefLink, Button, Prose, SaidOn, type Tone } from '../ui/elements.tsx'
import { Check } from '../ui/form.tsx'
import { PageHead } from '../ui/layout.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../ui/notice.tsx'
import { askDecision, Decision, decide, ProposalText } from './beliefs/proposal.tsx'

type ReviewItem = RouteAnswer<'review'>['items'][number]

/** All decisions that wait for a person. They are made one by one with the keyboard, or several at once. */
export function ReviewPage() {
  const found = useResource('review', (signal) => ask('review', { query: { limit: 200 }, signal }), {
    freshness: journalHead.value,
  })
  return (
    <>
      <PageHead title="Review">
        Changes proposed by agents or by edits of MEMORY.md, each compared with the current belief, and new statements
        from agents and conversations. Agents do not see them until you accept them.
      </PageHead>
      <Loaded resource={found} waiting={<SkeletonRows rows={5} label="Loading the review list" />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <div class="panel">
              <EmptyState icon="check" title="Nothing is waiting for you">
                If an agent or an edit of MEMORY.md would change something you said, the change waits here for your
                decision.
              </EmptyState>
            </div>
          ) : (
            <Inbox items={items} total={total} />
          )
        }
      </Loaded>
    </>
  )
}

function Inbox({ items, total }: { readonly items: readonly ReviewItem[]; readonly total: number }) {
  const [at, setAt] = useState(0)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const here = Math.min(at, items.length - 1)
  const current = items[here]
  const decideHere = (isAccepted: boolean) =>
    current === undefined ? null : decide({ proposal: current.belief, target: current.target }, isAccepted)
  const decideAll = async (isAccepted: boolean) => {
    const wanted = items.filter(({ belief }) => chosen.has(belief.id))
    let done = 0
    for (const { belief: proposal, target } of wanted) {
      try {
        await askDecision({ proposal, target }, isAccepted)
        done += 1
      } catch (error) {
        toastRefusal(error, `${proposal.name}: `)
      }
    }
    setChosen(new Set())
    showToast(
      `${pluralize(done, 'decision')} made${done < wanted.length ? `, ${count(wanted.length - done)} refused` : ''}.`,
    )
  }
  const step = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, here + by))
    setAt(next)
    document.querySelectorAll<HTMLElement>('.review-card')[next]?.scrollIntoView({ block: 'nearest' })
  }
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  useKeys({
    j: { does: 'Next', onPress: () => step(1) },
    k: { does: 'Previous', onPress: () => step(-1) },
    x: {
      does: 'Select, to decide on several at once',
      onPress: () => current !== undefined && toggle(current.belief.id),
    },
    a: { does: 'Accept', onPress: () => decideHere(true) },
    r: { does: 'Reject', onPress: () => decideHere(false) },
    e: {
      does: 'Open the belief to edit it',
      onPress: () => current !== undefined && navigate(address('beliefs', current.belief.id)),
    },
  })
  return (
    <div class="stack">
      <div class="row sticky">
        <Check
          isChecked={chosen.size === items.length}
          onCheck={(isChecked) => setChosen(new Set(isChecked ? items.map(({ belief }) => belief.id) : []))}
          label="Select all"
        />
        <span class="soft small" role="status">
          {chosen.size > 0 ? `${count(chosen.size)} selected` : `${count(total)} waiting`}
        </span>
        <Button icon="check" disabled={chosen.size === 0} onClick={() => decideAll(true)} label="Accept selected" />
        <Button icon="close" disabled={chosen.size === 0} onClick={() => decideAll(false)} label="Reject selected" />
        <span class="soft small to-end wide-only">
          <kbd>j</kbd> <kbd>k</kbd> move · <kbd>a</kbd> accept · <kbd>r</kbd> reject · <kbd>e</kbd> edit · <kbd>x</kbd>{' '}
          select
        </span>
      </div>
      <ul class="stack">
        {items.map((item, index) => (
          <ReviewCard
            key={item.belief.id}
            item={item}
            isHere={index === here}
            isChosen={chosen.has(item.belief.id)}
            onChoose={() => toggle(item.belief.id)}
          />
        ))}
      </ul>
      {items.length < total ? (
        <p class="soft small">
          The first {count(items.length)} of {count(total)}. <Link href="/beliefs?show=proposals">See all</Link>
        </p>
      ) : null}
    </div>
  )
}

const kinds: Readonly<Record<ReviewItem['kind'], { readonly words: string; readonly tone: Tone }>> = {
  statement: { words: 'new statement', tone: 'accent' },
  correction: { words: 'change', tone: 'odd' },
  removal: { words: 'removal', tone: 'bad' },
}

type ReviewCardProps = {
  readonly item: ReviewItem
  readonly isHere: boolean
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function ReviewCard({ item, isHere, isChosen, onChoose }: ReviewCardProps) {
  const { kind, belief, target, accepted, reason, turn } = item
  const { words, tone } = kinds[kind]
  const { id, name } = target ?? belief
  return (
    <li class={isHere ? 'panel review-card here' : 'panel review-card'} aria-current={isHere ? 'true' : undefined}>
      <header class="panel-head">
        <input type="checkbox" aria-label={`Select ${belief.name}`} checked={isChosen} onChange={onChoose} />
        <h2 class="break">
          <BeliefLink id={id} name={name} />
        </h2>
        <Badge tone={tone}>{words}</Badge>
        <span class="soft small">
          {typeWords[belief.type]} · {belief.scopes.join(', ')}
        </span>
      </header>
      <div class="pad stack tight">
        {belief.candidate ? (
          <Prose text={belief.content} />
        ) : (
          <ProposalText value={{ proposal: belief, target, accepted }} />
        )}
        {/* The author of a proposed change is shown above it. */}
        {belief.candidate || belief.provenance.actor === 'person' ? <p class="soft small">{reason}</p> : null}
        {turn === null ? null : turn.text.trim() === belief.content.trim() ? (
          <SaidOn turn={turn} />
        ) : (
          <blockquote class="quote">
            <Prose text={clipAround(turn.text, belief.content)} class="small" />
            <SaidOn turn={turn} />
          </blockquote>
        )}
        <Decision accept={kind === 'removal' ? 'Remove it' : 'Accept'} value={{ proposal: belief, target }}>
          <Link class="button" href={address('beliefs', belief.id)} text="Edit" />
        </Decision>
      </div>
    </li>
  )
}

const maxQuoteLength = 400

/** The part of a long message around the statement. */
function clipAround(text: string, found: string): string {
  if (text.length <= maxQuoteLength) return text
  const at = Math.max(0, text.toLowerCase().indexOf(found.slice(0, 20).toLowerCase()) - 80)
  return `${at === 0 ? '' : '…'}${text.slice(at, at + maxQuoteLength)}…`
}
