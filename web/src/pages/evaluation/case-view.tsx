import type { Answer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { figure, milliseconds } from '../../format/numbers.ts'
import { Link } from '../../navigation/link.tsx'
import { useResource } from '../../state/resource.ts'
import { Badge } from '../../ui/badge.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'
import { type Explained, explainedOf } from './explained.ts'
import { metricName, packAddress, runAddress } from './run-words.ts'
import { CaseVerdict } from './verdict.tsx'

/** One case of a run: what was asked, what came back and why, and what was expected. */
export function CaseView({ runId, caseId }: { readonly runId: string; readonly caseId: string }) {
  const found = useResource(`${runId}/${caseId}`, (signal) => ask('case', { params: { id: runId, caseId }, signal }))
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading the case" />}>
      {({ run, prompt, expectedSignals, notes, records }) => (
        <div class="stack">
          <div>
            <nav class="crumbs" aria-label="Where you are">
              <Link href="/evaluation">Packs</Link> <span aria-hidden="true">/</span>
              <Link href={packAddress(run.benchmarkId)}>{run.benchmarkId}</Link> <span aria-hidden="true">/</span>
              <Link href={runAddress(runId)}>run</Link> <span aria-hidden="true">/</span> <span>case</span>
            </nav>
            <header class="page-head flush">
              <h1 class="break">{caseId}</h1>
              {notes === null ? null : <p>{notes}</p>}
            </header>
          </div>
          {prompt === null ? null : <blockquote class="asked prose">{prompt}</blockquote>}
          {expectedSignals.length === 0 ? null : (
            <section class="panel panel-pad">
              <h2 class="small-title">Expected</h2>
              <ul class="bullets">
                {expectedSignals.map((signal) => (
                  <li key={signal} class="break">
                    {signal}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {records.map((record) => (
            <Repeat key={record.repeat} record={record} isOnly={records.length === 1} />
          ))}
        </div>
      )}
    </Loaded>
  )
}

type Record = Answer<'case'>['records'][number]

function Repeat({ record, isOnly }: { readonly record: Record; readonly isOnly: boolean }) {
  const { verdict, failures, error, repeat, seed, returned, explanation, scores, timings } = record
  const explained = explainedOf(explanation)
  return (
    <section class="panel">
      <header class="panel-head">
        <h2>{isOnly ? 'What happened' : `Repeat ${repeat + 1}`}</h2>
        <CaseVerdict verdict={verdict} />
        <span class="soft small number">seed {seed}</span>
      </header>
      <div class="panel-pad stack">
        {[...(error === undefined ? [] : [`${error.class}: ${error.message}`]), ...failures].map((failure) => (
          <p key={failure} class="refused">
            <Icon name="warn" /> <span>{failure}</span>
          </p>
        ))}
        {explained === null ? <Raw given={explanation} /> : <Reached explained={explained} />}
        <Returned items={returned} explained={explained} />
        <dl class="figures small-figures">
          {Object.entries(scores).map(([name, value]) => (
            <div key={name}>
              <dt>{metricName(name)}</dt>
              <dd class="number">{value === null ? 'does not apply' : figure(value)}</dd>
            </div>
          ))}
          {Object.entries(timings).map(([stage, ms]) => (
            <div key={stage}>
              <dt>{metricName(stage)}</dt>
              <dd class="number">{milliseconds(ms)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  )
}

function Raw({ given }: { readonly given: unknown }) {
  if (given === undefined || given === null) return null
  return <pre class="rendered">{JSON.stringify(given, null, 2)}</pre>
}

function Reached({ explained }: { readonly explained: Explained }) {
  const { group, query, prelude, nearMisses } = explained
  return (
    <dl class="facts">
      {group === null ? null : (
        <div>
          <dt>Group</dt>
          <dd class="break">{group}</dd>
        </div>
      )}
      {query === null ? null : (
        <div>
          <dt>Searched for</dt>
          <dd class="break">{query}</dd>
        </div>
      )}
      {prelude === null ? null : (
        <div>
          <dt>Prelude</dt>
          <dd class="prose">{prelude}</dd>
        </div>
      )}
      {nearMisses.length === 0 ? null : (
        <div>
          <dt>Left out</dt>
          <dd>
            <ul>
              {nearMisses.map(({ id, reason }) => (
                <li key={id} class="break">
                  <code>{id}</code>: {reason}
                </li>
              ))}
            </ul>
          </dd>
        </div>
      )}
    </dl>
  )
}

function Returned({ items, explained }: { readonly items: Record['returned']; readonly explained: Explained | null }) {
  if (items.length === 0) return <p class="soft">Nothing was returned.</p>
  return (
    <div class="table-scroll bordered">
      <table>
        <thead>
          <tr>
            <th>Tier</th>
            <th class="number">Rank</th>
            <th>Belief</th>
            <th class="number">Score</th>
            <th>Because of</th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ id, tier, rank, score }) => (
            <tr key={`${tier ?? ''}-${id}`}>
              <td>{tier === undefined ? '' : <Badge>{tier}</Badge>}</td>
              <td class="number">{rank}</td>
              <td class="mono break">{id}</td>
              <td class="number">{score === null ? '' : figure(score)}</td>
              <td>
                {(explained?.clauses.get(id) ?? []).map(({ field, form, score: part }) => (
                  <div key={`${field}-${form}`} class="break">
                    {field} “{form}” <span class="soft number">{figure(part)}</span>
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
