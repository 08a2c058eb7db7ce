import type { ListedCase, ListedPack, ListedRun } from '../../../../src/http/api/contract.ts'
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

const runTones: Readonly<Record<Status, Tone>> = { running: 'accent', completed: 'good', failed: 'bad', partial: 'odd' }

export const RunStatus = ({ status }: { readonly status: Status }) => <Badge tone={runTones[status]}>{status}</Badge>
