import { useEffect, useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, asRefusal, journalHead, type Refusal } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'
import { Link } from '../../navigation/router.tsx'
import { showToast } from '../../state/changes.ts'
import { health } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, Button, Icon, Time } from '../../ui/elements.tsx'
import { Loaded, Refused, SkeletonRows } from '../../ui/notice.tsx'

/** Whether the memory is sound, where it is, and how MEMORY.md stands to it. */
export function HealthPage() {
  const facts = health.value
  return (
    <>
      <header class="page-head">
        <h1>Health</h1>
        <p>Is the memory intact, where is it stored, and does MEMORY.md agree with it?</p>
      </header>
      <div class="stack">
        {facts === null ? null : <Counts facts={facts} />}
        <div class="halves">
          <Doctor />
          <div class="stack">
            {facts === null ? null : <Store facts={facts} />}
            <Mirror />
          </div>
        </div>
      </div>
    </>
  )
}

type Facts = RouteAnswer<'health'>

function Counts({ facts: { counts } }: { readonly facts: Facts }) {
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
    <dl class="figures">
      {rows.map(([name, value, href]) => (
        <div key={name}>
          <dt>
            <Link href={href}>{name}</Link>
          </dt>
          <dd class="number">{count(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function Doctor() {
  const found = useResource('doctor', (signal) => ask('doctor', { signal }))
  return (
    <section class="panel" aria-label="Checks">
      <header class="panel-head">
        <h2>Checks</h2>
        {found.value === null ? null : (
          <Badge tone={found.value.ok ? 'good' : 'bad'}>{found.value.ok ? 'all passed' : 'needs attention'}</Badge>
        )}
        <Button icon="sync" class="small" isBusy={found.isLoading} onClick={found.reload}>
          Check again
        </Button>
      </header>
      {found.isLoading ? <CheckProgress /> : null}
      <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Checking the whole store" />}>
        {({ findings, checkedAt }) => (
          <>
            <ul class="findings">
              {findings.map(({ check, ok, detail }) => (
                <li key={check} class={ok ? 'finding' : 'finding bad'}>
                  <Icon name={ok ? 'check' : 'warn'} />
                  <div>
                    <b class="break">{check}</b> <span class="unseen">{ok ? 'is sound' : 'needs attention'}</span>
                    <p class="soft small break">{detail}</p>
                  </div>
                </li>
              ))}
            </ul>
            <p class="panel-foot soft small">
              Checked <Time at={checkedAt} />
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}

const askEveryMs = 400

/** How far the check has come. A small store is checked before this is asked for. */
function CheckProgress() {
  const [progress, setProgress] = useState<RouteAnswer<'doctorProgress'>['progress']>(null)
  useEffect(() => {
    const controller = new AbortController()
    const look = () =>
      ask('doctorProgress', { signal: controller.signal }).then(
        (answer) => setProgress(answer.progress),
        // The check itself says what fails.
        () => undefined,
      )
    const timer = setInterval(() => void look(), askEveryMs)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [])
  if (progress === null) return null
  const { label, done, total } = progress
  return (
    <p class="check-progress small">
      <progress max={total} value={done} aria-label="How far the check has come" />
      <span class="soft" role="status">
        {`${label}, ${count(done)} of ${count(total)}`}
      </span>
    </p>
  )
}

function Mirror() {
  const found = useResource('mirror', (signal) => ask('mirror', { signal }), { freshness: journalHead.value })
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const sync = async () => {
    setBusy(true)
    try {
      await ask('syncMirror')
      showToast('MEMORY.md and the store are in sync.')
      setError(null)
      found.reload()
    } catch (reason) {
      setError(asRefusal(reason))
    }
    setBusy(false)
  }
  return (
    <section class="panel" aria-label="MEMORY.md">
      <header class="panel-head">
        <h2>MEMORY.md</h2>
        {found.value === null ? null : <MirrorState mirror={found.value} />}
        <Button icon="sync" class="small" isBusy={isBusy} onClick={() => void sync()}>
          Sync
        </Button>
      </header>
      <Loaded resource={found} waiting={<SkeletonRows rows={3} label="Loading the mirror" />}>
        {({ exists, file, items, lastSyncAt, problems, conflicts }) => (
          <div class="panel-pad stack tight">
            <p class="soft">
              The beliefs as a file that people and agents can read and edit. Edits reach the store at the next sync.
            </p>
            <dl class="facts">
              <div>
                <dt>File</dt>
                <dd class="mono break">{file ?? 'none yet'}</dd>
              </div>
              {exists ? (
                <div>
                  <dt>Items</dt>
                  <dd class="number">{items === null ? 'unknown' : count(items)}</dd>
                </div>
              ) : null}
              <div>
                <dt>Last sync</dt>
                <dd>{lastSyncAt === null ? 'never' : <Time at={lastSyncAt} />}</dd>
              </div>
            </dl>
            {problems.map((problem) => (
              <p key={problem} class="changed-note break">
                {problem}
              </p>
            ))}
            {conflicts === 0 ? null : (
              <p>
                <Link href="/review">Decide in Review</Link>
              </p>
            )}
            <Refused error={error} />
          </div>
        )}
      </Loaded>
    </section>
  )
}

function MirrorState({ mirror: { exists, isInSync } }: { readonly mirror: RouteAnswer<'mirror'> }) {
  if (!exists) return <Badge>no file</Badge>
  if (isInSync === null) return <Badge tone="odd">unknown</Badge>
  return isInSync ? <Badge tone="good">in sync</Badge> : <Badge tone="odd">differs</Badge>
}

function Store({ facts }: { readonly facts: Facts }) {
  const { version, dir, user, store, evals, journalHead: head, homeScopes, scopes } = facts
  const rows = [
    ['Version', version],
    ['Directory', dir],
    ['Store', `${store.file} (${bytes(store.bytes)}${store.logBytes > 0 ? `, log ${bytes(store.logBytes)}` : ''})`],
    ['Evaluations', evals.root],
    ['User', user],
    ['Active scopes', scopes.join(', ')],
    ['New beliefs go to', homeScopes.join(', ')],
    ['Latest change', count(head)],
  ] as const
  return (
    <section class="panel" aria-label="Where it is kept">
      <header class="panel-head">
        <h2>Where it is kept</h2>
      </header>
      <dl class="facts panel-pad">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="break">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const bytes = (value: number): string =>
  value < 1024
    ? `${value} bytes`
    : value < 1024 ** 2
      ? `${(value / 1024).toFixed(0)} KB`
      : `${(value / 1024 ** 2).toFixed(1)} MB`
