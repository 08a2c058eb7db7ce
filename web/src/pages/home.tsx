import { useEffect, useState } from 'preact/hooks'
import type { ApiBelief, RouteAnswer } from '../../../src/http/api/contract.ts'
import { localDay } from '../../../src/local-time.ts'
import { ask, evalsChange, journalHead } from '../api/client.ts'
import { count, pluralize } from '../format/numbers.ts'
import { today } from '../format/time.ts'
import { Link, navigate } from '../navigation/router.tsx'
import { candidateCount, commandLine, health, isInstallation, proposalCount } from '../state/facts.ts'
import { useResource } from '../state/resource.ts'
import { Badge, BeliefLink, Button } from '../ui/elements.tsx'
import { Figures, PageHead, Panel } from '../ui/layout.tsx'
import { Refused } from '../ui/notice.tsx'
import { StandingLine } from './evaluation/parts.tsx'
import { HostRow, hostName } from './host-row.tsx'
import { contextLines } from './recall/context-lines.ts'
import { StrengthChip } from './recall/reasons.tsx'
import { message, useRecall } from './recall/recall-state.ts'

/** The first page: an example recall, the open decisions, today's use, and the connected programs. */
export function HomePage() {
  const [isReady, setReady] = useState(false)
  return (
    <>
      <PageHead title="Your agents’ memory">
        Credence remembers what you tell your AI agents. With each message, it gives them the few facts that matter, and
        shows why. Everything stays on the machine that serves this page.
      </PageHead>
      <div class={isReady ? 'split' : 'split waiting'}>
        <div class="stack">
          <Try onReady={() => setReady(true)} />
          {isInstallation() ? <LastRegression /> : null}
        </div>
        <div class="stack">
          <Waiting />
          <Today />
          {isInstallation() ? <Connected /> : null}
        </div>
      </div>
    </>
  )
}

/** A message box with the recalled context below it, and three example messages. */
function Try({ onReady }: { readonly onReady: () => void }) {
  const examples = useResource('examples', loadExamples, { freshness: journalHead.value })
  const given = useRecall(health.value?.scopes ?? [])
  const write = (text: string) => {
    message.value = text
  }
  // Shown together once both have arrived, so that nothing moves.
  const isReady = [examples, given].every(({ value, error }) => value !== null || error !== null)
  useEffect(() => {
    if (isReady) onReady()
  }, [isReady])
  return (
    <Panel title="What would your agent get?" label="Try it">
      <div class="pad stack tight">
        <label class="unseen" for="home-message">
          Message
        </label>
        <textarea
          id="home-message"
          class="area content"
          rows={2}
          dir="auto"
          placeholder="Write a message to your agent"
          value={message.value}
          onInput={(event) => write(event.currentTarget.value)}
        />
        {isReady ? (
          <>
            <div class="row">
              {(examples.value ?? []).map((text) => (
                <button key={text} type="button" class="chip example" onClick={() => write(text)}>
                  {text}
                </button>
              ))}
            </div>
            <div class="stack tight" aria-live="polite" aria-busy={given.isLoading}>
              {given.value?.answer == null ? (
                <Refused error={given.error} />
              ) : (
                <ContextPreview answer={given.value.answer} isAsked={given.value.asked.trim() !== ''} />
              )}
            </div>
            {health.value?.counts.current === 0 ? (
              <p>
                Nothing is remembered yet, so your agent gets nothing. Tell it something, connect one, or{' '}
                <Link href="/beliefs?new=yes">write the first belief</Link>.
              </p>
            ) : (
              <p>
                <Button
                  icon="recall"
                  onClick={() => navigate('/recall')}
                  label="See all reasons, and the omitted beliefs"
                />
              </p>
            )}
          </>
        ) : null}
      </div>
    </Panel>
  )
}

/** Whether a belief is recalled only if a message names it. The others are in every context. */
const isRecalledByName = ({ pinned, type, subtype }: ApiBelief): boolean =>
  !pinned && type !== 'preference' && subtype === null

/** Example questions about beliefs of this memory. */
async function loadExamples(signal: AbortSignal): Promise<readonly string[]> {
  // The most recalled beliefs first, because people ask for them.
  const query = { current: true, candidates: false, order: 'recalled', limit: 40 } as const
  const { items } = await ask('listBeliefs', { query, signal })
  const inView = health.peek()?.scopes ?? []
  const forms = ['What do we know about %?', 'Tell me about %.', 'What did we say about %?']
  return items
    .map(({ belief }) => belief)
    .filter(({ type }) => type !== 'open_question')
    .filter((belief) => isRecalledByName(belief) && belief.scopes.some((scope) => inView.includes(scope)))
    .slice(0, 3)
    .map(({ name }, index) => (forms[index] ?? '%').replace('%', () => name))
}

/** Max lines to show of those that are in every context; the page Recall shows them all. */
const maxAlways = 6

/** The context for a message: the recalled lines with their reasons, then the lines that are in every context. */
function ContextPreview({ answer, isAsked }: { readonly answer: RouteAnswer<'recall'>; readonly isAsked: boolean }) {
  const lines = contextLines(answer)
  const named = lines.filter(({ isNamed }) => isNamed)
  const always = lines.filter(({ isNamed }) => !isNamed)
  return (
    <>
      {!isAsked || named.length > 0 ? null : (
        <p class="soft">
          This message adds nothing{always.length === 0 ? '' : ' to what your agent always gets'}. Recall does not
          guess.
        </p>
      )}
      <ol class="given stack tight">
        {named.map(({ id, text, reasons, strength }) => (
          <li key={`${id}-${text}`} class="quote">
            <p class="prose" dir="auto">
              {text} {strength === undefined ? null : <StrengthChip strength={strength} />}
            </p>
            <p class="soft small">{reasons.join(' ')}</p>
          </li>
        ))}
      </ol>
      {always.length === 0 ? null : (
        <section class="soft small" aria-label="Always given">
          <h3>With every message</h3>
          <ul>
            {always.slice(0, maxAlways).map(({ id, text }) => (
              <li key={id} class="break" dir="auto">
                {text}
              </li>
            ))}
          </ul>
          {always.length > maxAlways ? (
            <p>
              and {pluralize(always.length - maxAlways, 'more line')} (<Link href="/recall">see all</Link>)
            </p>
          ) : null}
        </section>
      )}
    </>
  )
}

function Waiting() {
  // Loaded separately, because the last health check may be older than the latest sync.
  const found = useResource(
    'mirror',
    (signal) => (isInstallation() ? ask('mirror', { signal }) : Promise.resolve(null)),
    { freshness: journalHead.value },
  )
  const mirror = isInstallation() ? (found.value ?? health.value?.mirror ?? null) : null
  const waiting = [
    { href: '/review', name: 'Proposed changes', number: proposalCount.value },
    { href: '/review', name: 'New statements', number: candidateCount.value },
    // The following two are rare, so they are listed only if they occur.
    ...(mirror !== null && mirror.conflicts > 0
      ? [{ href: '/status', name: 'Saves of MEMORY.md that were not merged', number: mirror.conflicts }]
      : []),
    ...(mirror?.isHeld === true
      ? [{ href: '/status', name: 'An edit of MEMORY.md that removes many lines', number: 1 }]
      : []),
  ]
  return (
    <Panel
      title="Waiting for you"
      note={waiting.every(({ number }) => number === 0) ? <Badge tone="good">nothing</Badge> : null}
    >
      <ul class="rows">
        {waiting.map(({ href, name, number }) => (
          <li key={name} class={number === 0 ? 'row apart soft' : 'row apart'}>
            <Link href={href}>{name}</Link>
            <b class="number">{number === null ? '–' : count(number)}</b>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Max names to show of the beliefs recalled today. */
const maxNames = 5

function Today() {
  const day = today()
  const found = useResource(
    'today',
    async (signal) => {
      const query = { current: true, recalled: true, order: 'recalled', limit: 100 } as const
      const [growth, most] = await Promise.all([ask('growth', { signal }), ask('listBeliefs', { query, signal })])
      const isOfToday = (at: string | null | undefined) => at != null && localDay(at) === day
      return {
        growth,
        beliefs: most.items.filter(({ belief, recalledAt }) => isRecalledByName(belief) && isOfToday(recalledAt)),
      }
    },
    { freshness: journalHead.value },
  )
  const { recalls = 0, silent = 0 } = found.value?.growth.recalls.find((counted) => counted.day === day) ?? {}
  const beliefs = found.value?.beliefs ?? []
  return (
    <Panel title="Today" tools={<Link class="small" href="/status" text="Status" />}>
      <Figures
        class=""
        items={[
          { name: 'Recalls', value: count(recalls) },
          { name: 'Found something', value: recalls === 0 ? '–' : `${count(recalls - silent)} of ${count(recalls)}` },
          { name: 'Current beliefs', value: health.value === null ? '–' : count(health.value.counts.current) },
        ]}
      />
      <p class="foot small break">
        {found.value === null ? (
          '\u00a0'
        ) : beliefs.length === 0 ? (
          <span class="soft">No message named a belief today.</span>
        ) : (
          <>
            <span class="soft">Named by messages today:</span>
            {beliefs.slice(0, maxNames).map(({ belief }) => (
              <BeliefLink key={belief.id} id={belief.id} name={belief.name} />
            ))}
            {beliefs.length > maxNames ? <span class="soft">and {count(beliefs.length - maxNames)} more</span> : null}
          </>
        )}
      </p>
    </Panel>
  )
}

function LastRegression() {
  const found = useResource('standings', (signal) => ask('standings', { signal }), { freshness: evalsChange.value })
  const [worst] = found.value?.items ?? []
  if (worst === undefined || worst.broken.length === 0) return null
  const { benchmarkId: id, title, ...standing } = worst
  return (
    <section aria-label="Last regression">
      <StandingLine standing={standing} pack={{ id, title }} />
    </section>
  )
}

function Connected() {
  const found = useResource('hosts', (signal) => ask('hosts', { signal }))
  const known = (found.value?.items ?? []).filter(({ connected, detected }) => connected !== 'no' || detected)
  const host = known[0]?.host ?? 'claude-code'
  return (
    <Panel title="Connect your agent" tools={<Link class="small" href="/status" text="All programs" />}>
      <ul class="rows">
        {known.map((host) => (
          <HostRow key={host.host} host={host} />
        ))}
      </ul>
      {found.value === null || known.some(({ connected }) => connected !== 'no') ? null : (
        <div class="pad stack tight">
          <p>No program is connected to this memory. To connect {hostName(host)}, run in a terminal:</p>
          <code class="command box">{commandLine(`connect ${host}`)}</code>
        </div>
      )}
      <p class="foot soft small">
        <span>
          For the same memory on another machine: <code>{commandLine('sync ssh://HOST')}</code>
        </span>
      </p>
    </Panel>
  )
}
