import type { ComponentChild } from 'preact'
import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { figure, milliseconds, score as scoreWords } from '../../../format/numbers.ts'
import { Crumbs } from '../../../navigation/crumbs.tsx'
import { Link } from '../../../navigation/link.tsx'
import { navigate } from '../../../navigation/router.ts'
import { useResource } from '../../../state/resource.ts'
import { useSubject } from '../../../state/subject.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { SkeletonBlock } from '../../../ui/skeleton.tsx'
import { message } from '../../recall/recall-state.ts'
import { allPacks, caseAddress, failureWords, metricName, packAddress, runAddress } from '../run-words.ts'
import { CaseVerdict } from '../verdict.tsx'
import { ExpectedGot } from './expected-got.tsx'
import { type Explained, explainedOf } from './explained.ts'
import { TaskChat } from './task-chat.tsx'

/** One case of a run: what was asked, what came back and why, and what was expected. */
export function CaseView({ runId, caseId }: { readonly runId: string; readonly caseId: string }) {
  const found = useResource(`${runId}/${caseId}`, (signal) => ask('case', { params: { id: runId, caseId }, signal }))
  useSubject(caseId)
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading the case" />} elsewhere={allPacks}>
      {({ run, prompt, notes, texts, work, records, failing }) => (
        <div class="stack">
          <div>
            <Crumbs
              steps={[
                { name: 'Packs', href: '/evaluation' },
                { name: run.benchmarkId, href: packAddress(run.benchmarkId) },
                { name: 'Run', href: runAddress(runId) },
                { name: 'Case' },
              ]}
            />
            <header class="page-head flush">
              <h1 class="break">{caseId}</h1>
              <div class="page-tools">
                <Neighbour runId={runId} caseId={failing.previous} words="Previous failing" />
                <Neighbour runId={runId} caseId={failing.next} words="Next failing" />
              </div>
              {notes === null ? null : <p>{notes}</p>}
            </header>
          </div>
          {prompt === null || work.length > 0 ? null : (
            <section class="panel panel-pad stack tight">
              <h2 class="small-title">Message</h2>
              <blockquote class="asked prose" dir="auto">
                {prompt}
              </blockquote>
              <p class="row small">
                {texts === null ? null : texts.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}
                <Button class="small" icon="recall" onClick={() => openInRecall(prompt)}>
                  Open in Recall
                </Button>
                <span class="soft">This asks your own memory, not the memory of the pack.</span>
              </p>
            </section>
          )}
          {records.map((record, index) => (
            <Repeat
              key={record.repeat}
              record={record}
              prompt={prompt}
              texts={texts}
              work={work.find(({ repeat }) => repeat === record.repeat + 1) ?? work[index] ?? null}
              isOnly={records.length === 1}
            />
          ))}
        </div>
      )}
    </Loaded>
  )
}

function openInRecall(text: string): void {
  message.value = text
  navigate('/recall')
}

type NeighbourProps = { readonly runId: string; readonly caseId: string | null; readonly words: string }

const Neighbour = ({ runId, caseId, words }: NeighbourProps) =>
  caseId === null ? null : (
    <Link class="button" href={caseAddress(runId, caseId)}>
      {words}
    </Link>
  )

type Record = RouteAnswer<'case'>['records'][number]

type RepeatProps = {
  readonly record: Record
  readonly prompt: string | null
  readonly texts: RouteAnswer<'case'>['texts']
  readonly work: RouteAnswer<'case'>['work'][number] | null
  readonly isOnly: boolean
}

function Repeat({ record, prompt, texts, work, isOnly }: RepeatProps) {
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
        {[
          ...(error === undefined ? [] : [`${error.class}: ${error.message}`]),
          // The checks of a task stand beside the answers.
          ...(work === null ? failures : []),
        ].map((failure) => (
          <p key={failure} class="refused">
            <Icon name="warn" /> <span>{failureWords(failure, namesOf(texts))}</span>
          </p>
        ))}
        {texts === null ? null : <ExpectedGot texts={texts} returned={returned} />}
        {work === null ? null : <TaskChat work={work} />}
        {work === null ? null : (
          <OtherChecks checks={returned.filter(({ tier }) => work.sessions.every(({ id }) => id !== tier))} />
        )}
        {work === null ? (
          <details class="how" open={texts === null}>
            <summary>Explanation: how each result was found</summary>
            <div class="stack tight">
              {explained === null ? <Plain given={explanation} /> : <Reached explained={explained} prompt={prompt} />}
              <Returned items={returned} explained={explained} texts={texts} />
            </div>
          </details>
        ) : null}
        <dl class="figures small-figures">
          {Object.entries(scores).map(([name, value]) => (
            <div key={name}>
              <dt>{metricName(name)}</dt>
              {value === null ? <dd class="soft">does not apply</dd> : <dd class="number">{figure(value)}</dd>}
            </div>
          ))}
          {Object.entries(timings).map(([stage, ms]) => (
            <div key={stage}>
              <dt>{metricName(stage)}, time</dt>
              <dd class="number">{milliseconds(ms)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  )
}

const namesOf = (texts: RouteAnswer<'case'>['texts']): Readonly<globalThis.Record<string, string>> =>
  Object.fromEntries(Object.entries(texts?.beliefs ?? {}).map(([id, { name }]) => [id, name]))

/** What a system says in a form of its own, as a list of names and values. */
function Plain({ given }: { readonly given: unknown }): ComponentChild {
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'object') return <span class="prose">{String(given)}</span>
  const entries = Object.entries(given).filter(([, value]) => !isEmpty(value))
  if (Array.isArray(given))
    return (
      <ul class="stack tight">
        {entries.map(([at, value]) => (
          <li key={at}>
            <Plain given={value} />
          </li>
        ))}
      </ul>
    )
  return (
    <dl class="facts">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{metricName(name)}</dt>
          <dd class="break">
            <Plain given={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** Checks of a task that judge no single answer: its files, and the sessions as a whole. */
function OtherChecks({ checks }: { readonly checks: Record['returned'] }) {
  if (checks.length === 0) return null
  const passed = checks.filter(({ score }) => score === 1).length
  return (
    <section class="stack tight" aria-label="Other checks">
      <h3 class="chat-session">
        Checks of the files and of all sessions <Badge>{`${passed} of ${checks.length} passed`}</Badge>
      </h3>
      <ul class="checks columns">
        {checks.map(({ id, tier, score }) => (
          <li key={`${tier ?? ''}-${id}`}>
            <Badge tone={score === 1 ? 'good' : 'bad'}>{score === 1 ? 'passed' : 'failed'}</Badge> {metricName(id)}
            {score === null || score === 0 || score === 1 ? '' : ` (${figure(score)})`}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Reached({ explained, prompt }: { readonly explained: Explained; readonly prompt: string | null }) {
  const { group, query, prelude, nearMisses } = explained
  return (
    <dl class="facts">
      {group === null ? null : (
        <div>
          <dt>Group</dt>
          <dd class="break">{group}</dd>
        </div>
      )}
      {query === null || query === prompt ? null : (
        <div>
          <dt>Searched for</dt>
          <dd class="break">{query}</dd>
        </div>
      )}
      {prelude === null ? null : (
        <div>
          <dt>In every context</dt>
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

type ReturnedProps = {
  readonly items: Record['returned']
  readonly explained: Explained | null
  readonly texts: RouteAnswer<'case'>['texts']
}

function Returned({ items, explained, texts }: ReturnedProps) {
  if (items.length === 0) return <p class="soft">Nothing was returned.</p>
  return (
    <div class="table-scroll bordered">
      <table class="folding returned">
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
              <td class="number" data-label="rank">
                {rank}
              </td>
              <td class="break main-cell">{texts?.beliefs[id]?.name ?? <span class="mono">{id}</span>}</td>
              <td class="number" data-label="score">
                {score === null ? '' : scoreWords(score)}
              </td>
              <td class="whole-cell">
                {(explained?.clauses.get(id) ?? []).map(({ field, form, score: part }) => (
                  <div key={`${field}-${form}`} class="break">
                    {field} “{form}” <span class="soft number">{scoreWords(part)}</span>
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
