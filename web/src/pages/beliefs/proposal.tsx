import { useState } from 'preact/hooks'
import type { ApiBelief, ApiProposal as ProposalValue } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { dayOf } from '../../format/time.ts'
import { throughWords, whoWords } from '../../format/words.ts'
import { address } from '../../navigation/match.ts'
import { Link } from '../../navigation/router.tsx'
import { applyChangeOrToast } from '../../state/changes.ts'
import { Button, WordDiff } from '../../ui/elements.tsx'
import { changesBetween } from './belief-state.ts'

/** Why a change waits: who proposed it, and what has happened to its target since. */
export function ProposalText({ value }: { readonly value: ProposalValue }) {
  const { proposal, target } = value
  const isRemoval = proposal.resolvedAt !== null
  return (
    <>
      <p class="soft small">
        {whoWords(proposal.provenance)}
        {throughWords(proposal.provenance)}
        {proposal.provenance.model === null ? '' : ` with ${proposal.provenance.model}`}{' '}
        {isRemoval ? 'proposed to remove this' : 'proposed this'} on {dayOf(proposal.createdAt)}.{' '}
        {target === null ? 'The belief it was made for no longer holds.' : null}
        {target !== null && target.id !== proposal.proposedFor ? (
          <b>The belief was corrected since then. This compares with the current text.</b>
        ) : null}
      </p>
      {isRemoval ? (
        <Change field="to be removed" before={(target ?? proposal).content} after="" />
      ) : (
        differences(value).map(({ field, before, after }) => (
          <Change key={field} field={field} before={before} after={after} />
        ))
      )}
    </>
  )
}

export function Change({
  field,
  before,
  after,
}: {
  readonly field: string
  readonly before: string
  readonly after: string
}) {
  return (
    <div class="side-text">
      <h3>{field}</h3>
      <WordDiff before={before} after={after} />
    </div>
  )
}

/** What accepting would change about what holds now; where nothing holds, all it says. */
function differences({ proposal, target, accepted }: ProposalValue) {
  if (target === null)
    return [
      { field: 'name', before: '', after: proposal.name },
      { field: 'content', before: '', after: proposal.content },
    ]
  const { status, supersededBy, reinforcement, confidence } = target
  const changes = changesBetween(target, { ...accepted, status, supersededBy, reinforcement, confidence })
  return changes.length > 0 ? changes : [{ field: 'content', before: target.content, after: proposal.content }]
}

type ProposalProps = {
  readonly value: ProposalValue
  /** Id of the belief on whose page it is shown. */
  readonly shownOn: string
  readonly onDecided?: (id: string) => void
}

/** What somebody without the authority wants to change, beside what holds now, for a person to decide. */
export function Proposal({ value, shownOn, onDecided }: ProposalProps) {
  const { proposal, target } = value
  const [isBusy, setBusy] = useState(false)
  const decideOn = async (isAccepted: boolean) => {
    setBusy(true)
    const done = await decide(value, isAccepted)
    setBusy(false)
    if (done) onDecided?.(isAccepted ? proposal.id : (target?.id ?? ''))
  }
  return (
    <article class="proposal">
      <ProposalText value={value} />
      <div class="row">
        <Button tone="main" icon="check" isBusy={isBusy} onClick={() => void decideOn(true)}>
          {proposal.resolvedAt === null ? 'Accept' : 'Remove it'}
        </Button>
        <Button icon="close" isBusy={isBusy} onClick={() => void decideOn(false)}>
          Reject
        </Button>
        {target === null || target.id === shownOn ? null : (
          <Link class="soft small" href={address('beliefs', target.id)}>
            See the current belief
          </Link>
        )}
      </div>
    </article>
  )
}

/** Decides on a proposal. False when it was refused. */
export function decide({ proposal, target }: ProposalValue, isAccepted: boolean): Promise<boolean> {
  const over = target !== null && target.id !== proposal.proposedFor ? { over: target.id } : {}
  const accepted =
    proposal.resolvedAt === null ? 'Accepted. It holds from now on.' : 'Removed. It is no longer recalled.'
  return settle(proposal, isAccepted, accepted, over)
}

/** Decides on a candidate. False when it was refused. */
export const decideCandidate = (belief: ApiBelief, isAccepted: boolean): Promise<boolean> =>
  settle(belief, isAccepted, 'Confirmed as your own.')

/** Decides, says so and offers the way back. */
async function settle({ id, name }: ApiBelief, isAccepted: boolean, accepted: string, query = {}): Promise<boolean> {
  const params = { id }
  const done = await applyChangeOrToast<{ readonly event: number }>(
    isAccepted ? accepted : `Rejected “${name}”.`,
    () => (isAccepted ? ask('acceptProposal', { params, query }) : ask('rejectProposal', { params })),
  )
  return done !== null
}

const sourceWords = ({ provenance }: ApiBelief): string =>
  provenance.origin === 'file'
    ? 'Written in MEMORY.md'
    : provenance.actor === 'person' || provenance.model !== null
      ? 'Found in a conversation'
      : `${whoWords(provenance)} wants it remembered`

type CandidateProps = { readonly belief: ApiBelief; readonly onRejected: () => void }

/** A statement of an agent, a conversation or MEMORY.md, which holds only when a person confirms it. */
export function Candidate({ belief, onRejected }: CandidateProps) {
  const [isBusy, setBusy] = useState(false)
  const decideOn = async (isAccepted: boolean) => {
    setBusy(true)
    const done = await decideCandidate(belief, isAccepted)
    setBusy(false)
    if (done && !isAccepted) onRejected()
  }
  return (
    <article class="proposal">
      <p>{sourceWords(belief)}. It is not recalled until you confirm it.</p>
      <div class="row">
        <Button tone="main" icon="check" isBusy={isBusy} onClick={() => void decideOn(true)}>
          Confirm
        </Button>
        <Button icon="close" isBusy={isBusy} onClick={() => void decideOn(false)}>
          Reject
        </Button>
      </div>
    </article>
  )
}
