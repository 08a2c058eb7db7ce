import type { ListedCase, RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { evalsChange } from '../../../api/live.ts'
import { count, counted, milliseconds } from '../../../format/numbers.ts'
import { Link } from '../../../navigation/link.tsx'
import { navigate, query, withQuery } from '../../../navigation/router.ts'
import { useResource } from '../../../state/resource.ts'
import { Button } from '../../../ui/button.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { SearchBox } from '../../../ui/search-box.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { caseAddress, failureWords } from '../run-words.ts'
import { CaseVerdict } from '../verdict.tsx'

const verdicts = ['pass', 'fail', 'error', 'skipped', 'unjudged'] as const
const pageSize = 50

type CasesListProps = { readonly runId: string; readonly verdicts: Readonly<Record<string, number>> }

/** The cases of a run, those that did not pass first. The filters live in the address. */
export function CasesList({ runId, verdicts: counts }: CasesListProps) {
  const verdict = verdicts.find((one) => one === query.value.get('verdict'))
  const text = query.value.get('text') ?? ''
  const offset = Math.max(0, Number.parseInt(query.value.get('from') ?? '0', 10) || 0)
  const found = useResource(
    JSON.stringify([runId, verdict, text, offset]),
    (signal) =>
      ask('cases', {
        params: { id: runId },
        query: {
          limit: pageSize,
          offset,
          ...(verdict === undefined ? {} : { verdict: [verdict] }),
          ...(text === '' ? {} : { text }),
        },
        signal,
      }),
    { freshness: evalsChange.value, keep: true },
  )
  const set = (changes: Readonly<Record<string, string | null>>) =>
    navigate(withQuery({ from: null, ...changes }), { replace: true })
  return (
    <section class="panel" aria-label="Cases">
      <header class="panel-head">
        <h2>Cases</h2>
        <div class="row case-filters">
          <SearchBox
            label="Filter cases"
            placeholder="Id, message, failure"
            maxLength={200}
            text={text}
            onChange={(next) => set({ text: next })}
          />
          <select
            class="select"
            aria-label="Verdict"
            value={verdict ?? ''}
            onChange={(event) => set({ verdict: event.currentTarget.value })}
          >
            <option value="">All verdicts</option>
            {verdicts.map((one) => (
              <option key={one} value={one}>
                {one} ({count(counts[one] ?? 0)})
              </option>
            ))}
          </select>
        </div>
      </header>
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Loading cases" />}>
        {({ items, total, names }) =>
          items.length === 0 ? (
            <p class="panel-pad soft">No case fits.</p>
          ) : (
            <>
              <ul class="cases" aria-busy={found.isLoading}>
                {items.map((one) => (
                  <CaseRow key={`${one.caseId}-${one.repeat}`} runId={runId} one={one} names={names} />
                ))}
              </ul>
              <div class="pager">
                <span class="soft small number">
                  {count(offset + 1)} to {count(offset + items.length)} of {count(total)}
                </span>
                <Button
                  class="small"
                  icon="back"
                  aria-label="Earlier cases"
                  disabled={offset === 0}
                  onClick={() => set({ from: String(Math.max(0, offset - pageSize)) })}
                />
                <Button
                  class="small"
                  icon="forward"
                  aria-label="Later cases"
                  disabled={offset + items.length >= total}
                  onClick={() => set({ from: String(offset + pageSize) })}
                />
              </div>
            </>
          )
        }
      </Loaded>
    </section>
  )
}

type CaseRowProps = {
  readonly runId: string
  readonly one: ListedCase
  readonly names: RouteAnswer<'cases'>['names']
}

function CaseRow({ runId, one, names }: CaseRowProps) {
  const { caseId, repeat, verdict, prompt, failures, error, returned, totalMs } = one
  return (
    <li class="case-row">
      <CaseVerdict verdict={verdict} />
      <div class="case-text">
        <Link href={caseAddress(runId, caseId)}>
          <span class="mono break">{caseId}</span>
          {repeat === 0 ? '' : ` · repeat ${repeat + 1}`}
        </Link>
        {prompt === null ? null : (
          <p class="clip-two" dir="auto">
            {prompt}
          </p>
        )}
        {[...(error === null ? [] : [error]), ...failures].slice(0, 3).map((failure) => (
          <p key={failure} class="case-failure">
            {failureWords(failure, names)}
          </p>
        ))}
      </div>
      <span class="soft small number case-figures">
        {counted(returned, 'result')}, {milliseconds(totalMs)}
      </span>
    </li>
  )
}
