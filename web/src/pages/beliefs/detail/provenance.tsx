import type { ComponentChildren } from 'preact'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { counted, percent } from '../../../format/numbers.ts'
import { throughWords, whoWords } from '../../../format/words.ts'
import { Time } from '../../../ui/time.tsx'

/** Where a belief came from and how sure it is. */
export function Provenance({ belief }: { readonly belief: ApiBelief }) {
  const { provenance, reinforcement } = belief
  return (
    <dl class="facts">
      <Fact name="Said by">
        {whoWords(provenance)}
        {throughWords(provenance)}, <Time at={provenance.at} />
        {provenance.model === null ? '' : `, derived by ${provenance.model}`}
      </Fact>
      <Fact name="Said again">
        {reinforcement.count === 0 ? 'not yet' : `${counted(reinforcement.count, 'time')}, last `}
        {reinforcement.count === 0 ? null : <Time at={reinforcement.at} />}
      </Fact>
      <Fact name="Confidence">{percent(belief.confidence)}</Fact>
      {belief.editedByPerson ? (
        <Fact name="Authority">a person has said or edited it, so agents can only propose changes</Fact>
      ) : null}
      {belief.agent === null ? null : <Fact name="Only for">the agent {belief.agent}</Fact>}
      {belief.expertise === null ? null : (
        <Fact name="Expertise">
          {belief.expertise.domain}, {belief.expertise.depth}
        </Fact>
      )}
      <Fact name="Id">
        <code>{belief.id}</code>, version {belief.version}
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="break">{children}</dd>
    </div>
  )
}
