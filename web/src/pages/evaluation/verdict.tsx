import type { ListedCase, ListedPack, ListedRun } from '../../../../src/http/api/contract.ts'
import { count } from '../../format/numbers.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

const caseTones: Readonly<Record<ListedCase['verdict'], Tone>> = {
  pass: 'good',
  fail: 'bad',
  error: 'bad',
  skipped: 'plain',
  unjudged: 'odd',
}

export const CaseVerdict = ({ verdict }: { readonly verdict: ListedCase['verdict'] }) => (
  <Badge tone={caseTones[verdict]}>{verdict}</Badge>
)

const packTones: Readonly<Record<ListedPack['verdict'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  unfinished: 'odd',
  'not run': 'plain',
}

export const PackVerdict = ({ verdict }: { readonly verdict: ListedPack['verdict'] }) => (
  <Badge tone={packTones[verdict]}>{verdict}</Badge>
)

type Status = ListedRun['run']['status']

const unfinishedTones: Readonly<Record<Exclude<Status, 'completed'>, Tone>> = {
  running: 'accent',
  failed: 'bad',
  partial: 'odd',
}

/** How a run ended. That it came to its end is no praise: what it found is what counts. */
export function RunStatus({ run }: { readonly run: ListedRun['run'] }) {
  const { status, passedCases, totalCases } = run
  if (status !== 'completed') return <Badge tone={unfinishedTones[status]}>{status}</Badge>
  const isWhole = passedCases === totalCases
  return (
    <Badge tone={isWhole ? 'good' : 'bad'}>
      {isWhole ? 'all passed' : `${count(totalCases - passedCases)} not passed`}
    </Badge>
  )
}

/** A run of some of the cases says nothing about the others. */
export function PartOfPack({ run }: { readonly run: ListedRun['run'] }) {
  if (run.filter === undefined) return null
  return <Badge tone="odd">only a part of the cases</Badge>
}
