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
  const [isBusy, setBusy] = useState(false)
  const decide = async (accepts: boolean) => {
    setBusy(true)
    const params = { id: proposal.id }
    const done = accepts
      ? await makeOrSay('Accepted. It holds from now on.', () => ask('acceptProposal', { params }))
      : await makeOrSay('Rejected. Nothing has changed.', () => ask('rejectProposal', { params }))
    setBusy(false)
    if (done !== null) onDecided?.(accepts ? proposal.id : (target?.id ?? ''))
  }
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
        <Button tone="main" icon="check" isBusy={isBusy} onClick={() => void decide(true)}>
          Accept
        </Button>
        <Button icon="close" isBusy={isBusy} onClick={() => void decide(false)}>
          Reject
        </Button>
        {target === null ? null : (
          <Link class="soft small" href={address('beliefs', target.id)}>
            See what holds now
          </Link>
        )}
      </div>
    </article>
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
