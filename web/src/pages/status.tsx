import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { ask, evalsChange, journalHead } from '../api/client.ts'
import { count, milliseconds, percent, pluralize } from '../format/numbers.ts'
import { dayOf, daysBetween, endOfDay, plottedDays, shortDay, today } from '../format/time.ts'
import { throughWords } from '../format/words.ts'
import { Link, query, setQuery } from '../navigation/router.tsx'
import { BarPlot, LinePlot } from '../plots/plots.tsx'
import { showToast, useAction } from '../state/changes.ts'
import { commandLine, health, isInstallation } from '../state/facts.ts'
import { useResource } from '../state/resource.ts'
import { Badge, BeliefLink, Button, CopyButton, Icon, Time } from '../ui/elements.tsx'
import { Field } from '../ui/form.tsx'
import { Facts, Figures, PageHead, Panel } from '../ui/layout.tsx'
import { EmptyState, Loaded, Refused, SkeletonRows } from '../ui/notice.tsx'
import { type Host, HostRow } from './host-row.tsx'

type Growth = RouteAnswer<'growth'>
type Shadow = RouteAnswer<'shadow'>
type MirrorState = RouteAnswer<'mirror'>

/** `installation` is null for a person with a memory on another person's server. */
async function loadStatus(signal: AbortSignal) {
  const own = async () => {
    const [mirror, hosts, shadow] = await Promise.all([
      ask('mirror', { signal }),
      ask('hosts', { signal }),
      ask('shadow', { signal }),
    ])
    return { mirror, hosts: hosts.items, shadow }
  }
  const [growth, machines, installation] = await Promise.all([
    ask('growth', { signal }),
    // Fails for a memory on PostgreSQL, which cannot be synced.
    ask('syncStatus', { signal }).catch(() => null),
    isInstallation() ? own() : null,
  ])
  return { growth, machines, installation }
}

/** The size and use of the memory, the connected programs, the files, and the checks. */
export function StatusPage() {
  // One resource for all panels, so that nothing moves when the answers arrive. Only the checks are separate, because they are slow.
  const found = useResource('status', loadStatus, { freshness: journalHead.value + evalsChange.value })
  return (
    <div class="stack">
      <PageHead title="Status">
        How the memory grows and how often it is used, which programs use it, where it is stored, and whether it is
        intact. Only the numbers of recalls are stored, never their text.
      </PageHead>
      <Counts />
      <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Loading the status" />}>
        {({ growth, machines, installation }) => (
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
              </>
            )}
            {machines === null ? null : <Machines machines={machines} />}
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

/** Max layers of a plot, including one for all others. More would be hard to distinguish. */
const maxLayers = 5

/** The number of beliefs by the end of each day, one layer per name, largest first. */
function layersOf(rows: readonly GrowthRow[], days: readonly string[], nameOf: (row: GrowthRow) => string) {
  const sumOf = (own: readonly GrowthRow[]): number => own.reduce((sum, { beliefs }) => sum + beliefs, 0)
  const ranked = [...Map.groupBy(rows, nameOf)].toSorted(([, a], [, b]) => sumOf(b) - sumOf(a))
  const own = ranked.length > maxLayers ? ranked.slice(0, maxLayers - 1) : ranked
  const others = ranked.slice(own.length).flatMap(([, all]) => all)
  return [...own, ...(others.length === 0 ? [] : [['others', others] as const])].map(([name, all]) => ({
    name,
    values: days.map((day) => sumOf(all.filter((row) => row.day <= day))),
  }))
}

function GrowthPlots({ growth: { beliefs } }: { readonly growth: Growth }) {
  if (beliefs.length === 0)
    return (
      <Panel>
        <EmptyState
          icon="status"
          title="Nothing to plot yet"
          text="The plots start with the first belief and the first recall."
        />
      </Panel>
    )
  const current = health.value?.counts.current
  // The plots also count beliefs that were replaced or that wait for a decision.
  const note = current === undefined ? '' : `${count(current)} of them are current`
  const days = plottedDays([...beliefs.map(({ day }) => day), today()].sort())
  const originOf = ({ actor, origin }: GrowthRow): string =>
    actor === 'person' ? `you${throughWords({ actor, origin })}` : origin === 'file' ? 'MEMORY.md' : origin
  const latest = (values: readonly number[]) => values.at(-1) ?? 0
  const groups = [
    { by: 'scope', nameOf: ({ scope }: GrowthRow) => scope ?? 'forgotten' },
    { by: 'origin', nameOf: originOf },
  ]
  return (
    <div class="columns wide">
      {groups.map(({ by, nameOf }) => (
        <BarPlot
          key={by}
          title={`Beliefs ever remembered, by ${by}`}
          note={note}
          days={days}
          layers={layersOf(beliefs, days, nameOf)}
          overall={latest}
        />
      ))}
    </div>
  )
}

const pointOf = (day: string, value: number, label: string) => ({ key: day, at: day, value, label })

function Recalls({ days, shadow }: { readonly days: Growth['recalls']; readonly shadow: Shadow | null }) {
  if (days.length === 0)
    return <p class="panel pad soft">No recalls yet. Recalls by agents and by the CLI are counted.</p>
  const shown = plottedDays(days.map(({ day }) => day))
  const known = new Map(days.map((day) => [day.day, day]))
  const counted = shown.map((day) => known.get(day) ?? { recalls: 0, silent: 0 })
  return (
    <>
      <div class="columns wide">
        <BarPlot
          title="Recalls by day"
          note={pluralize(shown.length, 'day')}
          days={shown}
          layers={[
            { name: 'found something', values: counted.map(({ recalls, silent }) => recalls - silent) },
            { name: 'found nothing', values: counted.map(({ silent }) => silent) },
          ]}
          overall={(values) => values.reduce((sum, value) => sum + value, 0)}
        />
        <LinePlot
          title="Mean time of a recall"
          points={days.map(({ day, meanMs }) => pointOf(day, meanMs, dayOf(day)))}
          format={milliseconds}
          startsAtZero
        />
      </div>
      {shadow === null ? null : <Records shadow={shadow} />}
    </>
  )
}

/** Statistics of the recorded recalls. */
function Records({ shadow }: { readonly shadow: Shadow }) {
  const { isRecording, invalid, bySource, records, durationMs, recalledMemoryCount, contextChars, injectedShare } =
    shadow
  const spread = (name: string, { p50, p95 }: Shadow['durationMs'], format: (value: number) => string) => ({
    name: `${name}, median`,
    value: p50 === null ? '–' : format(p50),
    note: p95 === null ? '' : `95 % are at most ${format(p95)}`,
  })
  const whole = (value: number) => count(Math.round(value))
  const sources = Object.entries(bySource).map(([source, number]) =>
    source === 'none' ? `${count(number)} found nothing` : `${count(number)} found something (${source})`,
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

/** The beliefs that were current at the end of a day, which the person chooses with a slider. */
function AsOf({ growth }: { readonly growth: Growth }) {
  // Includes the latest day on the server, which may be tomorrow in the browser's time zone.
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
            setQuery({ day: days[Number(event.currentTarget.value)] ?? null })
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

/** Sorts connected programs first, then programs found on this machine, then the others. */
const rankOf = ({ connected, detected, lastCall }: Host): number =>
  connected === 'no' ? (detected || lastCall !== null ? 1 : 2) : 0

const Hosts = ({ hosts, reload }: { readonly hosts: readonly Host[]; readonly reload: () => void }) => (
  <Panel
    title="Programs"
    note={`The same list as ${commandLine('connect --status')}`}
    tools={<Button icon="sync" class="small" onClick={reload} label="Refresh" />}
  >
    <HostRows hosts={hosts.filter((host) => rankOf(host) < 2).toSorted((a, b) => rankOf(a) - rankOf(b))} />
    <details class="pad" open={hosts.every((host) => rankOf(host) === 2)}>
      <summary>Programs that were not found on this machine</summary>
      <HostRows hosts={hosts.filter((host) => rankOf(host) === 2)} />
    </details>
  </Panel>
)

const syncTargets = [
  { target: 'ssh://HOST', note: 'Another machine with Credence, over SSH. No port is opened.' },
  { target: '~/Dropbox/credence', note: 'A folder on a cloud drive or a USB stick. Its files are encrypted.' },
  { target: 'https://HOST', note: 'A served Credence, with your token.' },
]

/** The other machines of the person; before the first sync, the commands to start it. */
function Machines({ machines: { others, targets } }: { readonly machines: RouteAnswer<'syncStatus'> }) {
  return (
    <Panel title="Other machines" note={targets.length === 0 ? 'To start, run one of these in a terminal' : ''}>
      <ul class="rows">
        {targets.map(({ address, lastSyncAt, waiting }) => (
          <li key={address} class="row">
            <code class="break">{address}</code>
            <Badge tone={waiting === 0 ? 'good' : 'odd'}>
              {waiting === 0 ? 'up to date' : `${pluralize(waiting, 'change')} since`}
            </Badge>
            <span class="soft small to-end">
              last sync <Time at={lastSyncAt} />
            </span>
          </li>
        ))}
        {others.map(({ name, lastSeenAt }) => (
          <li key={name} class="row">
            <b class="break">{name}</b>
            <span class="soft small to-end">
              last seen <Time at={lastSeenAt} />
            </span>
          </li>
        ))}
        {targets.length > 0 ? (
          <CommandRow command={commandLine('sync')} note="Exchanges the changes with all of them." />
        ) : (
          syncTargets.map(({ target, note }) => (
            <CommandRow key={target} command={commandLine(`sync ${target}`)} note={note} />
          ))
        )}
      </ul>
    </Panel>
  )
}

const CommandRow = ({ command, note }: { readonly command: string; readonly note: string }) => (
  <li class="row small">
    <code class="command box">{command}</code> <CopyButton text={command} />
    <span class="soft">{note}</span>
  </li>
)

const HostRows = ({ hosts }: { readonly hosts: readonly Host[] }) => (
  <ul class="rows">
    {hosts.map((host) => (
      <HostRow key={host.host} host={host}>
        <HostDetails host={host} />
      </HostRow>
    ))}
  </ul>
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
  const { error, run } = useAction()
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
      tools={<Button icon="sync" class="small" onClick={() => run(sync)} label="Sync" />}
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
  if (model === null) return 'off; only words are compared'
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
