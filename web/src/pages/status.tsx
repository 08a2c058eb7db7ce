import { useEffect, useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { ask, evalsChange, journalHead } from '../api/client.ts'
import { count, milliseconds, percent, pluralize } from '../format/numbers.ts'
import { dayOf, daysBetween, endOfDay, fillDays, shortDay, today } from '../format/time.ts'
import { throughWords } from '../format/words.ts'
import { Link, navigate, query, withQuery } from '../navigation/router.tsx'
import { BarPlot, LinePlot, StackPlot } from '../plots/plots.tsx'
import { showToast, useAction } from '../state/changes.ts'
import { commandLine, health, isInstallation } from '../state/facts.ts'
import { useResource } from '../state/resource.ts'
import { Badge, BeliefLink, Button, CopyButton, Icon, Time } from '../ui/elements.tsx'
import { Field } from '../ui/form.tsx'
import { Facts, Figures, PageHead, Panel } from '../ui/layout.tsx'
import { EmptyState, Loaded, Refused, SkeletonBlock, SkeletonRows } from '../ui/notice.tsx'
import { type Host, HostRow } from './host-row.tsx'

type Growth = RouteAnswer<'growth'>
type Shadow = RouteAnswer<'shadow'>
type MirrorState = RouteAnswer<'mirror'>

/** The installation is null for a person whose memory is on another person's server. */
async function loadStatus(signal: AbortSignal) {
  const own = async () => {
    const [mirror, hosts, shadow] = await Promise.all([
      ask('mirror', { signal }),
      ask('hosts', { signal }),
      ask('shadow', { signal }),
    ])
    return { mirror, hosts: hosts.items, shadow }
  }
  const [growth, installation] = await Promise.all([ask('growth', { signal }), isInstallation() ? own() : null])
  return { growth, installation }
}

/** The size and use of the memory, the connected programs, the files, and the checks. */
export function StatusPage() {
  // One resource for all panels, so that nothing moves when the answers come. Only the checks take longer.
  const found = useResource('status', loadStatus, { freshness: journalHead.value + evalsChange.value })
  return (
    <div class="stack">
      <PageHead title="Status">
        How the memory grows and how often it is used, which programs use it, where it is stored, and whether it is
        intact. Of recalls only numbers are kept, never their text.
      </PageHead>
      <Counts />
      <Loaded resource={found} waiting={<SkeletonBlock label="Loading the status" />}>
        {({ growth, installation }) => (
          <>
            <GrowthPlots growth={growth} />
            <Recalls days={growth.recalls} shadow={installation?.shadow ?? null} />
            {installation === null ? null : (
              <>
                <div class="columns wide">
                  <Checks />
                  <div class="stack">
                    <Mirror mirror={installation.mirror} reload={found.reload} />
                    <Store />
                  </div>
                </div>
                <Hosts hosts={installation.hosts} reload={found.reload} />
                <OtherMachines />
              </>
            )}
            <AsOf growth={growth} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Counts() {
  const counts = health.value?.counts
  if (counts === undefined) return null
  const rows = [
    ['Current beliefs', counts.current, '/beliefs'],
    ['Pinned', counts.pinned, '/beliefs?pinned=yes'],
    ['Open questions', counts.questions, '/beliefs?type=open_question'],
    ['Proposed changes', counts.proposals, '/review'],
    ['New statements', counts.candidates, '/review'],
    ['Superseded or settled', counts.retired, '/beliefs?show=retired'],
    ['Scopes', counts.scopes, '/beliefs?group=scope'],
  ] as const
  return (
    <Figures
      items={rows.map(([name, value, href]) => ({ name: <Link href={href}>{name}</Link>, value: count(value) }))}
    />
  )
}

type GrowthRow = Growth['beliefs'][number]

/** More layers are hard to distinguish; the others are summed up. */
const maxLayers = 5

/** The beliefs by the end of each day, one layer for each name, the largest first. */
function layersOf(rows: readonly GrowthRow[], nameOf: (row: GrowthRow) => string) {
  const days = [...new Set([...rows.map(({ day }) => day), today()])].sort()
  const totals = new Map<string, number>()
  for (const row of rows) totals.set(nameOf(row), (totals.get(nameOf(row)) ?? 0) + row.beliefs)
  const ranked = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name)
  const own = ranked.length > maxLayers ? ranked.slice(0, maxLayers - 1) : ranked
  const layerOf = (row: GrowthRow): string => (own.includes(nameOf(row)) ? nameOf(row) : 'others')
  return (ranked.length > own.length ? [...own, 'others'] : own).map((name) => {
    let total = 0
    const values = days.map((day) => {
      const added = rows.filter((row) => row.day === day && layerOf(row) === name)
      total += added.reduce((sum, { beliefs }) => sum + beliefs, 0)
      return { day, total }
    })
    return { name, values }
  })
}

function GrowthPlots({ growth: { beliefs } }: { readonly growth: Growth }) {
  if (beliefs.length === 0)
    return (
      <Panel>
        <EmptyState
          icon="status"
          title="Nothing has happened yet"
          text="The plots start with the first belief and the first recall."
        />
      </Panel>
    )
  const current = health.value?.counts.current
  // The plots also count beliefs that were replaced or wait for a decision.
  const note = current === undefined ? '' : `${count(current)} of them are current`
  const originOf = ({ actor, origin }: GrowthRow): string =>
    actor === 'person' ? `you${throughWords({ actor, origin })}` : origin === 'file' ? 'MEMORY.md' : origin
  return (
    <div class="columns wide">
      <StackPlot
        title="Beliefs ever remembered, by scope"
        note={note}
        layers={layersOf(beliefs, ({ scope }) => scope ?? 'forgotten')}
      />
      <StackPlot title="Beliefs ever remembered, by origin" note={note} layers={layersOf(beliefs, originOf)} />
    </div>
  )
}

const pointOf = (day: string, value: number, label: string) => ({ key: day, at: day, value, label })

function Recalls({ days, shadow }: { readonly days: Growth['recalls']; readonly shadow: Shadow | null }) {
  if (days.length === 0)
    return <p class="panel pad soft">No recall has been counted yet. Recalls of agents and of the CLI count.</p>
  const bars = fillDays(days.map(({ day, recalls }) => ({ day, value: recalls })))
  return (
    <>
      <div class="columns wide">
        <BarPlot
          title="Recalls by day"
          bars={bars}
          format={count}
          total={count(bars.reduce((sum, { value }) => sum + value, 0))}
        />
        <LinePlot
          title="Recalls that found nothing"
          isByTime
          points={days.map(({ day, silent, recalls }) =>
            pointOf(day, silent / recalls, `${dayOf(day)}: ${count(silent)} of ${count(recalls)}`),
          )}
          format={percent}
          limits={[0, 1]}
        />
        <LinePlot
          title="Mean time of a recall"
          isByTime
          points={days.map(({ day, meanMs }) => pointOf(day, meanMs, dayOf(day)))}
          format={milliseconds}
          startsAtZero
        />
        {shadow === null || shadow.records === 0 ? null : (
          <LinePlot
            title="95 % of recalls within"
            isByTime
            points={shadow.days.flatMap(({ day, durationMs: { p50, p95 } }) =>
              p95 === null
                ? []
                : [pointOf(day, p95, `${dayOf(day)}: median ${p50 === null ? '–' : milliseconds(p50)}`)],
            )}
            format={milliseconds}
            startsAtZero
          />
        )}
      </div>
      {shadow === null ? null : <Records shadow={shadow} />}
    </>
  )
}

/** The recorded recalls, as numbers. */
function Records({ shadow }: { readonly shadow: Shadow }) {
  const { isRecording, invalid, bySource, records, durationMs, recalledMemoryCount, contextChars, injectedShare } =
    shadow
  const spread = (name: string, { p50, p95 }: Shadow['durationMs'], format: (value: number) => string) => ({
    name: `${name}, median`,
    value: p50 === null ? '–' : format(p50),
    note: p95 === null ? '' : `95 % within ${format(p95)}`,
  })
  const whole = (value: number) => count(Math.round(value))
  const sources = Object.entries(bySource).map(([source, number]) =>
    source === 'none' ? `${count(number)} without an answer` : `${count(number)} answered by ${source}`,
  )
  return (
    <Panel
      title="Recorded recalls"
      note={<Badge tone={isRecording ? 'good' : 'odd'}>{isRecording ? 'recording' : 'not recording'}</Badge>}
    >
      {records === 0 ? (
        <p class="pad soft">
          Shadow mode records the ids, times and counts of every recall, never its text.{' '}
          {isRecording ? 'No recall has been recorded yet.' : 'Turn it on in config.json of the memory directory: '}
          {isRecording ? null : <code>{'{ "evalHarnessEnabled": true, "evalShadowModeEnabled": true }'}</code>}
        </p>
      ) : (
        <>
          <Figures
            class=""
            items={[
              spread('Time', durationMs, milliseconds),
              spread('Beliefs recalled', recalledMemoryCount, whole),
              spread('Characters injected', contextChars, whole),
              {
                name: 'Gave the agent something',
                value: injectedShare === null ? '–' : percent(injectedShare),
                note: 'pinned beliefs included',
              },
            ]}
          />
          <p class="foot">
            {sources.map((words) => (
              <Badge key={words}>{words}</Badge>
            ))}
            {invalid === 0 ? null : <Badge tone="bad">{count(invalid)} unreadable</Badge>}
          </p>
        </>
      )}
    </Panel>
  )
}

/** The beliefs that were current at the end of a day, which a slider chooses. */
function AsOf({ growth }: { readonly growth: Growth }) {
  // The server's time zone may already be in the next day.
  const known = [today(), ...[...growth.beliefs, ...growth.recalls].map(({ day }) => day)].sort()
  const days = daysBetween(known[0] ?? '', known.at(-1) ?? '')
  const wanted = query.value.get('day')
  const place = wanted === null ? days.length - 1 : Math.max(0, days.indexOf(wanted))
  const [moving, setMoving] = useState<number | null>(null)
  const at = moving ?? place
  const day = days[at] ?? ''
  return (
    <Panel title={`Memory as of ${dayOf(day)}`} label="Memory as of a day">
      <div class="pad stack tight">
        <input
          type="range"
          class="slider"
          aria-label="Day"
          aria-valuetext={dayOf(day)}
          min={0}
          max={Math.max(0, days.length - 1)}
          value={at}
          onInput={(event) => setMoving(Number(event.currentTarget.value))}
          onChange={(event) => {
            setMoving(null)
            navigate(withQuery({ day: days[Number(event.currentTarget.value)] ?? null }), { replace: true })
          }}
        />
        <p class="row apart soft small" aria-hidden="true">
          <span>{shortDay(days[0] ?? '')}</span>
          <span>Today</span>
        </p>
        <PastBeliefs day={days[place] ?? ''} />
      </div>
    </Panel>
  )
}

function PastBeliefs({ day }: { readonly day: string }) {
  const [text, setText] = useState('')
  const words = text.trim().slice(0, 2_000)
  const found = useResource(
    JSON.stringify([day, words]),
    (signal) => {
      const search = words === '' ? {} : { query: words }
      return ask('pastBeliefs', { query: { asOf: endOfDay(day), ...search, limit: 20 }, signal })
    },
    { freshness: journalHead.value, keep: true },
  )
  return (
    <>
      <Field
        label="Search the beliefs of that day"
        value={text}
        onInput={setText}
        maxLength={2_000}
        placeholder="Names, aliases, texts"
      />
      <Loaded resource={found} waiting={<SkeletonRows rows={5} label="Reading the memory of that day" />}>
        {({ items, total }) => (
          <>
            <p class="soft">
              {words === ''
                ? `${pluralize(total, 'current belief')} at the end of ${dayOf(day)}.`
                : `${pluralize(total, 'belief')} with these words as of ${dayOf(day)}.`}
              {items.length < total ? ` The first ${count(items.length)}:` : ''}
            </p>
            <ul class="stack tight">
              {items.map(({ id, name, content }) => (
                <li key={id} class="break" dir="auto">
                  <BeliefLink id={id} name={name} />: {content}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </>
  )
}

/** Connected programs first, then those that were found on this machine. */
const rankOf = ({ connected, detected }: Host): number => (connected === 'no' ? (detected ? 1 : 2) : 0)

/** The same list as `credence connect --status`. */
const Hosts = ({ hosts, reload }: { readonly hosts: readonly Host[]; readonly reload: () => void }) => (
  <Panel
    title="Programs"
    note={`The same list as ${commandLine('connect --status')}`}
    tools={<Button icon="sync" class="small" onClick={reload} label="Refresh" />}
  >
    <ul class="rows">
      {hosts
        .toSorted((a, b) => rankOf(a) - rankOf(b))
        .map((host) => (
          <HostRow key={host.host} host={host}>
            <HostDetails host={host} />
          </HostRow>
        ))}
    </ul>
  </Panel>
)

/** The commands of docs/sync.md. */
const OtherMachines = () => (
  <Panel title="Other machines" note="The same memory on each of them, without a server between them">
    <ul class="stack tight small">
      {['ssh://HOST', '~/Dropbox/credence', '--status'].map((target) => (
        <li key={target} class="row">
          <code class="command box">{commandLine(`sync ${target}`)}</code>{' '}
          <CopyButton text={commandLine(`sync ${target}`)} />
        </li>
      ))}
    </ul>
  </Panel>
)

function HostDetails({ host: { host, connected, lastHook, lastCall, files } }: { readonly host: Host }) {
  const command = commandLine(`connect ${host}`)
  return (
    <div class="whole stack tight small">
      {connected === 'yes' ? null : (
        <p class="row">
          <code class="command box">{command}</code> <CopyButton text={command} />
        </p>
      )}
      {[
        lastHook && { at: lastHook.at, text: `Last hook: ${lastHook.event}, ${lastHook.outcome}` },
        lastHook?.lastPrompt && {
          at: lastHook.lastPrompt,
          text: `${lastHook.late} of ${lastHook.prompts} prompts late; last`,
        },
        lastHook?.lastLines && { ...lastHook.lastLines, text: `Last lines given: ${lastHook.lastLines.lines}` },
        lastHook?.lastFailure && { ...lastHook.lastFailure, text: `Last failure: ${lastHook.lastFailure.outcome}` },
        lastCall && { at: lastCall.at, text: `Last call: ${lastCall.tool}` },
      ].map((seen) =>
        seen ? (
          <p key={seen.text} class="soft">
            {seen.text}, <Time at={seen.at} />
          </p>
        ) : null,
      )}
      <details>
        <summary>Configuration files</summary>
        <ul>
          {files.map(({ path, connected: isConnected, problem }) => (
            <li key={path} class="break">
              <Icon name={isConnected ? 'check' : 'close'} size={12} /> <code>{path}</code>
              {problem === null ? '' : `: ${problem}`}
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

function Mirror({ mirror, reload }: { readonly mirror: MirrorState; readonly reload: () => void }) {
  const { isBusy, error, run } = useAction()
  const { exists, file, items, lastSyncAt, problems, isInSync } = mirror
  const sync = async () => {
    await ask('syncMirror')
    showToast('MEMORY.md and the store are in sync.')
    reload()
  }
  return (
    <Panel
      title="MEMORY.md"
      note={
        !exists ? (
          <Badge>no file</Badge>
        ) : isInSync === true ? (
          <Badge tone="good">in sync</Badge>
        ) : (
          <Badge tone="odd">{isInSync === null ? 'unknown' : 'differs'}</Badge>
        )
      }
      tools={<Button icon="sync" class="small" isBusy={isBusy} onClick={() => void run(sync)} label="Sync" />}
    >
      <div class="pad stack tight">
        <p class="soft">
          The beliefs as a file that people and agents can read and edit. Edits reach the store at the next sync.
        </p>
        <Facts
          rows={[
            ['File', <code>{file ?? 'none yet'}</code>],
            ['Items', exists ? (items === null ? 'unknown' : count(items)) : null],
            ['Last sync', lastSyncAt === null ? 'never' : <Time at={lastSyncAt} />],
          ]}
        />
        {problems.map((problem) => (
          <p key={problem} class="note">
            {problem}
          </p>
        ))}
        <Refused error={error} />
      </div>
    </Panel>
  )
}

function Store() {
  if (health.value === null) return null
  const { version, dir, user, store, evals, journalHead: head, homeScopes, scopes, meaning } = health.value
  const log = store.logBytes > 0 ? `, log ${bytes(store.logBytes)}` : ''
  return (
    <Panel title="Where it is stored">
      <Facts
        class="pad"
        rows={[
          ['Version', version],
          ['Directory', dir],
          ['Store', `${store.file} (${bytes(store.bytes)}${log})`],
          ['Evaluations', evals.root],
          ['User', user],
          ['Active scopes', scopes.join(', ')],
          ['New beliefs go to', homeScopes.join(', ')],
          ['Latest change', count(head)],
          ['Search by meaning', meaningText(meaning)],
        ]}
      />
    </Panel>
  )
}

function meaningText({ model, indexed, waiting, problem }: RouteAnswer<'health'>['meaning']): string {
  if (model === null) return 'off; words alone are compared'
  const rest = waiting === 0 ? '' : `, ${count(waiting)} to index`
  return `${model}, ${count(indexed)} texts indexed${rest}${problem === null ? '' : ` (${problem})`}`
}

const bytes = (value: number): string =>
  value < 1024
    ? `${value} bytes`
    : value < 1024 ** 2
      ? `${(value / 1024).toFixed(0)} KB`
      : `${(value / 1024 ** 2).toFixed(1)} MB`

/** The findings of `credence doctor`. */
function Checks() {
  const found = useResource('doctor', (signal) => ask('doctor', { signal }))
  return (
    <Panel
      title="Checks"
      note={
        found.value === null ? null : (
          <Badge tone={found.value.ok ? 'good' : 'bad'}>{found.value.ok ? 'all passed' : 'needs attention'}</Badge>
        )
      }
      tools={<Button icon="sync" class="small" isBusy={found.isLoading} onClick={found.reload} label="Check again" />}
    >
      {found.isLoading ? <CheckProgress /> : null}
      <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Checking the whole store" />}>
        {({ findings, checkedAt }) => (
          <>
            <ul class="rows lines">
              {findings.map(({ check, ok, detail }) => (
                <li key={check} class={ok ? 'finding' : 'finding toned bad'}>
                  <span class={ok ? 'toned good' : ''}>
                    <Icon name={ok ? 'check' : 'warn'} />
                  </span>
                  <div class="grow break">
                    <b>{check}</b> <span class="unseen">{ok ? 'is sound' : 'needs attention'}</span>
                    <p class="soft small">{detail}</p>
                  </div>
                </li>
              ))}
            </ul>
            <p class="foot soft small">
              Checked <Time at={checkedAt} />
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  )
}

const pollEveryMs = 400

/** The progress of a long check. A small store is checked before the first poll. */
function CheckProgress() {
  const [progress, setProgress] = useState<RouteAnswer<'doctorProgress'>['progress']>(null)
  useEffect(() => {
    const controller = new AbortController()
    const poll = () =>
      ask('doctorProgress', { signal: controller.signal }).then(
        (answer) => setProgress(answer.progress),
        // The check itself reports the failure.
        () => undefined,
      )
    const timer = setInterval(() => void poll(), pollEveryMs)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [])
  if (progress === null) return null
  const { label, done, total } = progress
  return (
    <p class="check-progress">
      <progress max={total} value={done} aria-label="Progress of the check" />
      <span class="soft" role="status">
        {`${label}, ${count(done)} of ${count(total)}`}
      </span>
    </p>
  )
}
