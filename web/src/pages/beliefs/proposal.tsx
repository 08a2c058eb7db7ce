import { useState } from 'preact/hooks'
import type { Belief } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { throughWords, whoWords } from '../../format/words.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { makeOrSay } from '../../state/changes.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/time.tsx'
import { changesBetween } from './revision-changes.ts'

type ProposalProps = {
  readonly proposal: Belief
  readonly target: Belief | null
  readonly onDecided?: (id: string) => void
}

/** What somebody without the authority wants to change, beside what holds now, for a person to decide. */
export function Proposal({ proposal, target, onDecided }: ProposalProps) {
  const differing = fieldsOf(proposal, target)
  return (
    <article class="proposal">
      <p class="soft small">
        {whoWords(proposal.provenance)}
        {throughWords(proposal.provenance)}
        {proposal.provenance.model === null ? '' : ` with ${proposal.provenance.model}`} proposed this{' '}
        <Time at={proposal.createdAt} />.
      </p>
      {differing.map(({ field, before, after }) => (
        <div key={field} class="sides">
          <div class="side-text">
            <h3>{field}: now</h3>
            <p class="prose" dir="auto">
              {before === '' ? <span class="soft">nothing</span> : before}
            </p>
          </div>
          <div class="side-text mine">
            <h3>{field}: proposed</h3>
            <p class="prose" dir="auto">
              {after === '' ? <span class="soft">nothing</span> : after}
            </p>
          </div>
        </div>
      ))}
      <div class="row">
        <Decide
          id={proposal.id}
          accept="Accept"
          accepted="Accepted. It holds from now on."
          onDecided={(isAccepted) => onDecided?.(isAccepted ? proposal.id : (target?.id ?? ''))}
        />
        {target === null ? null : (
          <Link class="soft small" href={address('beliefs', target.id)}>
            See what holds now
          </Link>
        )}
      </div>
    </article>
  )
}

type CandidateProps = { readonly belief: Belief; readonly onRejected: () => void }

/** A statement found in a conversation, which holds only when a person confirms it. */
export function Candidate({ belief, onRejected }: CandidateProps) {
  return (
    <article class="proposal">
      <p>Found in a conversation. It is not recalled until you confirm it.</p>
      <div class="row">
        <Decide
          id={belief.id}
          accept="Confirm"
          accepted="Confirmed. It is your own word now."
          onDecided={(isAccepted) => {
            if (!isAccepted) onRejected()
          }}
        />
      </div>
    </article>
  )
}

type DecideProps = {
  readonly id: string
  readonly accept: string
  readonly accepted: string
  readonly onDecided: (isAccepted: boolean) => void
}

function Decide({ id, accept, accepted, onDecided }: DecideProps) {
  const [isBusy, setBusy] = useState(false)
  const decide = async (isAccepted: boolean) => {
    setBusy(true)
    const params = { id }
    const done = isAccepted
      ? await makeOrSay(accepted, () => ask('acceptProposal', { params }))
      : await makeOrSay('Rejected. Nothing has changed.', () => ask('rejectProposal', { params }))
    setBusy(false)
    if (done !== null) onDecided(isAccepted)
  }
  return (
    <>
      <Button tone="main" icon="check" isBusy={isBusy} onClick={() => void decide(true)}>
        {accept}
      </Button>
      <Button icon="close" isBusy={isBusy} onClick={() => void decide(false)}>
        Reject
      </Button>
    </>
  )
}

/** What differs; when nothing it would replace is left, all it says. The state of being a proposal is no difference. */
function fieldsOf(proposal: Belief, target: Belief | null) {
  if (target === null)
    return [
      { field: 'name', before: '', after: proposal.name },
      { field: 'content', before: '', after: proposal.content },
    ]
  const asIfAccepted = {
    ...proposal,
    status: target.status,
    supersededBy: target.supersededBy,
    reinforcement: target.reinforcement,
  }
  const changes = changesBetween(target, asIfAccepted)
  return changes.length > 0 ? changes : [{ field: 'content', before: target.content, after: proposal.content }]
}
