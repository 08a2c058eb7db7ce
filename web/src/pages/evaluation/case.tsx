import { type ComponentChild, type ComponentChildren, toChildArray } from 'preact'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { figure, milliseconds, pluralize, score as scoreWords } from '../../format/numbers.ts'
import type { TextRange } from '../../format/text.ts'
import { Link, navigate } from '../../navigation/router.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge, Button, Highlighted, Prose, type Tone } from '../../ui/elements.tsx'
import { Facts, Figures, PageHead, Panel, Table } from '../../ui/layout.tsx'
import { Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { message } from '../recall/recall-state.ts'
import { CaseVerdict } from './parts.tsx'
import { allPacks, caseAddress, failureWords, metricName, packAddress, runAddress } from './words.ts'

/** One case of a run: the message, the expected and the returned beliefs, and the explanation. */
export function CaseView({ runId, caseId }: { readonly runId: string; readonly caseId: string }) {
  const found = useResource(`${runId}/${caseId}`, (signal) => ask('case', { params: { id: runId, caseId }, signal }))
  useSubject(caseId)
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Loading the case" />} elsewhere={allPacks}>
      {({ run, prompt, notes, texts, work, records, failing }) => (
        <div class="stack">
          <PageHead
            title={caseId}
            crumbs={[
              { name: 'Packs', href: '/evaluation' },
              { name: run.benchmarkId, href: packAddress(run.benchmarkId) },
              { name: 'Run', href: runAddress(runId) },
              { name: 'Case' },
            ]}
            tools={
              <>
                <Neighbour runId={runId} caseId={failing.previous} words="Previous failing" />
                <Neighbour runId={runId} caseId={failing.next} words="Next failing" />
              </>
            }
          >
            {notes}
          </PageHead>
          {prompt === null || work.length > 0 ? null : (
            <Panel title="Message">
              <div class="pad stack tight">
                <blockquote class="asked quote content">
                  <Prose text={prompt} />
                </blockquote>
                <p class="row small">
                  {texts === null ? null : texts.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}
                  <Button class="small" icon="recall" onClick={() => openInRecall(prompt)} label="Open in Recall" />
                  <span class="soft">This searches your own memory, not the memory of the pack.</span>
                </p>
              </div>
            </Panel>
          )}
          {records.map((record, index) => (
            <Repeat
              key={record.repeat}
              record={record}
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
  caseId === null ? null : <Link class="button" href={caseAddress(runId, caseId)} text={words} />

type Record = RouteAnswer<'case'>['records'][number]

type RepeatProps = {
  readonly record: Record
  readonly texts: RouteAnswer<'case'>['texts']
  readonly work: RouteAnswer<'case'>['work'][number] | null
  readonly isOnly: boolean
}

function Repeat({ record, texts, work, isOnly }: RepeatProps) {
  const { verdict, failures, error, repeat, seed, returned, explanation, scores, timings } = record
  const problems = [
    ...(error === undefined ? [] : [`${error.class}: ${error.message}`]),
    // The failures of a task are shown next to the answers.
    ...(work === null ? failures : []),
  ]
  return (
    <Panel
      title={isOnly ? 'What happened' : `Repeat ${repeat + 1}`}
      note={<CaseVerdict verdict={verdict} />}
      tools={<span class="soft small number">seed {seed}</span>}
    >
      <div class="pad stack">
        {problems.map((problem) => (
          <p key={problem} class="note bad">
            {failureWords(problem, textNames(texts))}
          </p>
        ))}
        {texts === null ? null : <ExpectedGot texts={texts} returned={returned} />}
        {work === null ? (
          <details open={texts === null}>
            <summary>Explanation: how each result was found</summary>
            <div class="stack tight explanation">
              <ReturnedTable items={returned} texts={texts} />
              <Plain given={explanation} names={textNames(texts)} />
            </div>
          </details>
        ) : (
          <>
            <TaskChat work={work} />
            <OtherChecks checks={returned.filter(({ tier }) => work.sessions.every(({ id }) => id !== tier))} />
          </>
        )}
      </div>
      <Figures
        class=""
        items={[
          ...Object.entries(scores).map(([name, value]) => ({
            name: metricName(name),
            value: value === null ? '–' : figure(value),
            note: value === null ? 'does not apply' : '',
          })),
          ...Object.entries(timings).map(([stage, ms]) => ({
            name: `${metricName(stage)}, time`,
            value: milliseconds(ms),
          })),
        ]}
      />
    </Panel>
  )
}

const textNames = (texts: RouteAnswer<'case'>['texts']): Readonly<globalThis.Record<string, string>> =>
  Object.fromEntries(Object.entries(texts?.beliefs ?? {}).map(([id, { name }]) => [id, name]))

type PlainProps = { readonly given: unknown; readonly names: Readonly<globalThis.Record<string, string>> }

/** A system's explanation as names and values, with names of beliefs instead of ids. */
function Plain({ given, names }: PlainProps): ComponentChild {
  if (given === undefined || isEmpty(given)) return null
  if (typeof given !== 'object' || given === null)
    return (
      <span class="prose">{typeof given === 'number' ? figure(given) : (names[String(given)] ?? String(given))}</span>
    )
  const entries = Object.entries(given).filter(([, value]) => !isEmpty(value))
  if (Array.isArray(given))
    return (
      <ul class="stack tight">
        {entries.map(([at, value]) => (
          <li key={at}>
            <Plain given={value} names={names} />
          </li>
        ))}
      </ul>
    )
  return <Facts rows={entries.map(([name, value]) => [metricName(name), <Plain given={value} names={names} />])} />
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** The checks of a task that do not belong to one answer: those of its files and of all sessions. */
function OtherChecks({ checks }: { readonly checks: Record['returned'] }) {
  if (checks.length === 0) return null
  const passed = checks.filter(({ score }) => score === 1).length
  return (
    <section class="stack tight" aria-label="Other checks">
      <h3 class="row">
        Checks of the files and of all sessions <Badge>{`${passed} of ${checks.length} passed`}</Badge>
      </h3>
      <ul class="checks small columns">
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

type ReturnedProps = {
  readonly items: Record['returned']
  readonly texts: RouteAnswer<'case'>['texts']
}

function ReturnedTable({ items, texts }: ReturnedProps) {
  if (items.length === 0) return <p class="soft">Nothing was returned.</p>
  return (
    <Table
      rows={items}
      keyOf={({ id, tier }) => `${tier ?? ''}-${id}`}
      columns={[
        { head: 'Tier', cell: ({ tier }) => (tier === undefined ? null : <Badge>{tier}</Badge>) },
        { head: 'Rank', class: 'number', label: 'rank', cell: ({ rank }) => rank },
        { head: 'Belief', class: 'break whole', cell: ({ id }) => texts?.beliefs[id]?.name ?? <code>{id}</code> },
        {
          head: 'Score',
          class: 'number',
          label: 'score',
          cell: ({ score }) => (score === null ? null : scoreWords(score)),
        },
      ]}
    />
  )
}

type Texts = NonNullable<RouteAnswer<'case'>['texts']>
type Returned = RouteAnswer<'case'>['records'][number]['returned']

/** The expected and the returned items of a case, each with its text; missing and unwanted ones are marked. */
function ExpectedGot({ texts, returned }: { readonly texts: Texts; readonly returned: Returned }) {
  const got = new Set(returned.map(({ id }) => id))
  const demandOf = (id: string) => texts.expected.find((one) => one.id === id)?.must
  return (
    <div class="compared columns">
      <Column title="Expected" empty="Nothing specific.">
        {texts.expected
          .filter(({ must }) => must === 'include')
          .map(({ id, tier }) => (
            <Item key={`${tier}-${id}`} id={id} texts={texts} tone={got.has(id) ? 'good' : 'bad'} note="missing" />
          ))}
      </Column>
      <Column title="Got" empty="Nothing was returned.">
        {returned.map(({ id, tier }) => {
          const tone = { include: 'good', exclude: 'bad', none: 'plain' } as const
          const key = `${tier ?? ''}-${id}`
          return <Item key={key} id={id} texts={texts} tone={tone[demandOf(id) ?? 'none']} note="should not be here" />
        })}
      </Column>
    </div>
  )
}

type ColumnProps = { readonly title: string; readonly empty: string; readonly children: ComponentChildren }

function Column({ title, empty, children }: ColumnProps) {
  const items = toChildArray(children)
  return (
    <section class="box">
      <h3>{title}</h3>
      {items.length === 0 ? <p class="soft">{empty}</p> : <ul class="stack tight">{items}</ul>}
    </section>
  )
}

type ItemProps = {
  readonly id: string
  readonly texts: Texts
  readonly tone: Tone
  /** Shown if `tone` is bad. */
  readonly note: string
}

function Item({ id, texts, tone, note }: ItemProps) {
  const belief = texts.beliefs[id]
  return (
    <li class={`quote ${tone}`}>
      <b title={id}>{belief?.name ?? id}</b> {tone === 'bad' ? <Badge tone="bad">{note}</Badge> : null}
      {belief === undefined ? null : <Prose text={belief.content} class="soft small" />}
    </li>
  )
}

type Work = RouteAnswer<'case'>['work'][number]
type Check = Work['checks'][number]

/** The prompts and answers of an agent, session by session, with the checks next to the answers. */
const TaskChat = ({ work }: { readonly work: Work }) => (
  <div class="stack">
    {work.sessions.map((session, index) => {
      const checks = work.checks.filter((check) => check.session === session.id)
      return (
        <section key={session.id} class="chat" aria-label={`Session ${session.id}`}>
          <h3 class="row">
            Session {index + 1}: {session.id} <Badge>{session.isFresh ? 'fresh' : 'goes on'}</Badge>
            {session.toolCalls === 0 ? null : <Badge>{pluralize(session.toolCalls, 'tool call')}</Badge>}
            {session.outcome === 'answered' ? null : <Badge tone="bad">{session.outcome}</Badge>}
          </h3>
          <div class="bubble user">
            <span class="soft small">Told</span>
            <p class="prose" dir="auto">
              <Highlighted text={session.prompt} ranges={rangesIn(session.prompt, work.checks)} />
            </p>
          </div>
          <div class="bubble assistant">
            <span class="soft small">Agent</span>
            <p class="prose" dir="auto">
              {session.answer === null || session.answer.trim() === '' ? (
                '(no answer)'
              ) : (
                <Highlighted text={session.answer} ranges={rangesIn(session.answer, checks)} />
              )}
            </p>
          </div>
          {checks.length === 0 ? null : (
            <ul class="checks small">
              {checks.map((check) => (
                <li key={check.id}>
                  <Badge tone={check.passed ? 'good' : 'bad'}>{check.passed ? 'found' : 'missing'}</Badge>{' '}
                  <code>{check.id}</code> <span class="break">expected {check.expected}</span>
                  {check.passed ? null : <span class="soft break"> · found {check.found}</span>}
                </li>
              ))}
            </ul>
          )}
        </section>
      )
    })}
  </div>
)

/** Matches the quoted values of a check such as `"May 21" or "21 May", not "May 7"`, with the "not" before a value. */
const quoted = /(not )?"([^"]*)"/g

/** For each value that the checks expect, the range of its first occurrence in a text. */
function rangesIn(text: string, checks: readonly Check[]): readonly TextRange[] {
  const lower = text.toLowerCase()
  return checks.flatMap(({ expected }) =>
    [...expected.matchAll(quoted)].flatMap(([, not, value = '']) => {
      const start = not !== undefined || value.length < 2 ? -1 : lower.indexOf(value.toLowerCase())
      return start < 0 ? [] : [{ start, end: start + value.length }]
    }),
  )
}
