import { useEffect, useState } from 'preact/hooks'
import type { ApiBelief, RouteAnswer } from '../../../src/http/api/contract.ts'
import { localDay } from '../../../src/local-time.ts'
import { ask, evalsChange, journalHead } from '../api/client.ts'
import { count, pluralize } from '../format/numbers.ts'
import { dayOf, today } from '../format/time.ts'
import { address } from '../navigation/match.ts'
import { Link, navigate } from '../navigation/router.tsx'
import { candidateCount, commandLine, health, isInstallation, proposalCount } from '../state/facts.ts'
import { useDebounced, useResource } from '../state/resource.ts'
import { Badge, Button } from '../ui/elements.tsx'
import { Refused } from '../ui/notice.tsx'
import { StandingLine } from './evaluation/parts.tsx'
import { HostRow, hostName } from './hosts/host-row.tsx'
import { matchWords, quoteWords, type Strength, StrengthChip, strengthOf } from './recall/reasons.tsx'
import { maxMessageLength, message } from './recall/recall-state.ts'

type Line = {
  readonly key: string
  readonly text: string
  readonly reason: string
  /** Null for quotes, which are shown or not, and for what is in every context. */
  readonly strength: Strength | null
}

/** Lines that every message gets; the page of recall has all. */
const maxAlways = 6

/** In few lines, what an agent would be given for a message, each with its reason; last, what it gets with any message. */
export function Given({ answer, isAsked }: { readonly answer: RouteAnswer<'recall'>; readonly isAsked: boolean }) {
  const { named, always } = linesOf(answer)
  return (
    <>
      {!isAsked || named.length > 0 ? null : (
        <p class="soft">
          This message adds nothing{always.length === 0 ? '' : ' to what your agent always gets'}. Recall stays silent
          rather than guess.
        </p>
      )}
      {named.length === 0 ? null : (
        <ol class="given">
          {named.map(({ key, text, reason, strength }) => (
            <li key={key}>
              <p class="prose" dir="auto">
                {text} {strength === null ? null : <StrengthChip strength={strength} />}
              </p>
              <p class="soft small">{reason}</p>
            </li>
          ))}
        </ol>
      )}
      {always.length === 0 ? null : (
        <section class="always" aria-label="Always given">
          <h3>With every message</h3>
          <ul>
            {always.slice(0, maxAlways).map((text, index) => (
              <li key={index} class="break" dir="auto">
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

/** Each line once: what the message brings, and what is there without it. */
function linesOf({ context, namedAnyway, quoteDecision }: RouteAnswer<'recall'>) {
  const { prelude, pinned, relevant, questions, quotes } = context
  const told = new Set(prelude?.beliefIds ?? [])
  const standing = [...pinned.filter(({ id }) => !told.has(id)), ...questions].map((belief) => ({
    belief,
    match: namedAnyway.find(({ beliefId }) => beliefId === belief.id)?.matches[0],
  }))
  const named: readonly Line[] = [
    ...relevant.map((one) => ({
      key: one.belief.id,
      text: `${one.belief.name}: ${one.belief.content}`,
      reason: one.matches[0] === undefined ? 'Part of a relation that the message names.' : matchWords(one.matches[0]),
      strength: one.through === null ? strengthOf(one) : ('possible' as const),
    })),
    ...standing.flatMap(({ belief, match }) =>
      match === undefined
        ? []
        : [
            {
              key: belief.id,
              text: `${belief.name}: ${belief.content}`,
              reason: `${matchWords(match)} It is pinned, so every message gets it.`,
              strength: null,
            },
          ],
    ),
    ...quotes.map((quote) => ({
      key: `${quote.turn}-${quote.text}`,
      text: `“${quote.text}”`,
      reason: `Said on ${dayOf(quote.at, quote.utcOffset)}. ${quoteWords(quote, quoteDecision?.asked ?? [])}`,
      strength: null,
    })),
  ]
  const always = [
    ...(prelude?.text.split('\n') ?? []),
    ...standing.flatMap(({ belief, match }) => (match === undefined ? [`${belief.name}: ${belief.content}`] : [])),
  ]
  return { named, always }
}

/** The first screen: what this is, what an agent would be given, what waits, and whether all is well. */
export function HomePage() {
  const [isReady, setReady] = useState(false)
  return (
    <>
      <header class="page-head">
        <h1>Your agents’ memory</h1>
        <p class="lead">
          Credence remembers what you tell your AI agents. For each message it gives them the few facts that matter, and
          shows why. Everything stays on the machine that serves this page.
        </p>
      </header>
      <div class={isReady ? 'home' : 'home waiting'}>
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

/** A message box that answers at once, and three things to ask that are known to be answered. */
function Try({ onReady }: { readonly onReady: () => void }) {
  const asked = useDebounced(message.value)
  const examples = useResource('examples', loadExamples, { freshness: journalHead.value })
  const scopes = health.value?.scopes ?? []
  const given = useResource(
    JSON.stringify([asked, scopes]),
    async (signal) => ({
      asked,
      answer: await ask('recall', { body: { message: asked.slice(0, maxMessageLength), scopes: [...scopes] }, signal }),
    }),
    { freshness: journalHead.value, keep: true },
  )
  const write = (text: string) => {
    message.value = text
  }
  // All of it comes at once, so that nothing moves when it comes.
  const isReady = [examples, given].every(({ value, error }) => value !== null || error !== null)
  useEffect(() => {
    if (isReady) onReady()
  }, [isReady])
  return (
    <section class="panel" aria-label="Try it">
      <header class="panel-head">
        <h2>What would your agent get?</h2>
      </header>
      <div class="panel-pad stack tight">
        <form
          class="try"
          onSubmit={(event) => {
            event.preventDefault()
            navigate('/recall')
          }}
        >
          <label class="unseen" for="home-message">
            Message
          </label>
          <textarea
            id="home-message"
            class="area"
            rows={2}
            dir="auto"
            placeholder="Write what you would write to your agent"
            value={message.value}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </form>
        {isReady ? (
          <>
            <div class="chips">
              {(examples.value ?? []).map((text) => (
                <button key={text} type="button" class="scope-chip example" onClick={() => write(text)}>
                  {text}
                </button>
              ))}
            </div>
            <div class="stack tight answered" aria-live="polite" aria-busy={given.isLoading}>
              {given.value === null ? (
                <Refused error={given.error} />
              ) : (
                <Given answer={given.value.answer} isAsked={given.value.asked.trim() !== ''} />
              )}
            </div>
            {health.value?.counts.current === 0 ? (
              <p>
                Nothing is remembered yet, so your agent gets nothing. Tell it something, connect one, or{' '}
                <Link href="/beliefs?new=yes">write the first belief</Link>.
              </p>
            ) : (
              <p class="row">
                <Button icon="recall" onClick={() => navigate('/recall')}>
                  See all reasons, and what was left out
                </Button>
              </p>
            )}
          </>
        ) : null}
      </div>
    </section>
  )
}

/** Questions about what is really in this memory. */
async function loadExamples(signal: AbortSignal): Promise<readonly string[]> {
  // What is recalled most is known to be asked for.
  const query = { current: true, candidates: false, order: 'recalled', limit: 40 } as const
  const { items } = await ask('listBeliefs', { query, signal })
  const scopes = health.peek()?.scopes ?? []
  const inView = items
    .map(({ belief }) => belief)
    .filter(({ scopes: own, pinned, type, subtype }) => {
      return (
        !pinned &&
        type !== 'open_question' &&
        type !== 'preference' &&
        subtype === null &&
        own.some((scope) => scopes.includes(scope))
      )
    })
  const forms = ['What do we know about %?', 'Tell me about %.', 'What did we write about %?']
  return inView.slice(0, 3).map(({ name }, index) => (forms[index] ?? '%').replace('%', () => name))
}

function Waiting() {
  // A sync notes its conflicts after its changes are in the journal, so what came with those may be too old.
  const found = useResource(
    'mirror',
    (signal) => (isInstallation() ? ask('mirror', { signal }) : Promise.resolve(null)),
    {
      freshness: journalHead.value,
    },
  )
  const mirror = isInstallation() ? (found.value ?? health.value?.mirror ?? null) : null
  const waiting = [
    { href: '/review', name: 'Proposed changes', number: proposalCount.value },
    { href: '/review', name: 'New statements', number: candidateCount.value },
    ...(mirror === null
      ? []
      : [
          {
            href: mirror.conflicts === 0 ? '/health' : '/review',
            name: 'Conflicts with MEMORY.md',
            number: mirror.conflicts,
          },
        ]),
    // Seldom, so it is listed only when there is one.
    ...(mirror?.isHeld === true
      ? [{ href: '/health', name: 'An edit of MEMORY.md that removes many lines', number: 1 }]
      : []),
  ]
  return (
    <section class="panel" aria-label="Waiting for you">
      <header class="panel-head">
        <h2>Waiting for you</h2>
        {waiting.every(({ number }) => number === 0) ? <Badge tone="good">nothing</Badge> : null}
      </header>
      <ul class="counts">
        {waiting.map(({ href, name, number }) => (
          <li key={name}>
            <Link class={number === 0 ? 'soft' : ''} href={href}>
              {name}
            </Link>
            <b class={number === 0 ? 'number soft' : 'number'}>{number === null ? '–' : count(number)}</b>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Names of beliefs that were recalled today. */
const maxNames = 5

function Today() {
  const day = today()
  const found = useResource(
    'today',
    async (signal) => {
      const query = { current: true, recalled: true, order: 'recalled', limit: 100 } as const
      const [growth, most] = await Promise.all([ask('growth', { signal }), ask('listBeliefs', { query, signal })])
      // What every message gets says nothing of this day.
      const isNamed = ({ pinned, type, subtype }: ApiBelief) => !pinned && type !== 'preference' && subtype === null
      return {
        growth,
        beliefs: most.items.filter(
          ({ belief, recalledAt }) => isNamed(belief) && recalledAt != null && localDay(recalledAt) === day,
        ),
      }
    },
    { freshness: journalHead.value },
  )
  const recalled = found.value?.growth.recalls.find((one) => one.day === day)
  const beliefs = found.value?.beliefs ?? []
  const facts = health.value
  return (
    <section class="panel" aria-label="Today">
      <header class="panel-head">
        <h2>Today</h2>
        <Link class="small to-end" href="/growth">
          Over time
        </Link>
      </header>
      <dl class="figures flat">
        <div>
          <dt>Recalls</dt>
          <dd class="number">{count(recalled?.recalls ?? 0)}</dd>
        </div>
        <div>
          <dt>Found something</dt>
          <dd class="number">
            {recalled === undefined
              ? '–'
              : `${count(recalled.recalls - recalled.silent)} of ${count(recalled.recalls)}`}
          </dd>
        </div>
        <div>
          <dt>Current beliefs</dt>
          <dd class="number">{facts === null ? '–' : count(facts.counts.current)}</dd>
        </div>
      </dl>
      <p class="panel-foot small break">
        {found.value === null ? (
          '\u00a0'
        ) : beliefs.length === 0 ? (
          <span class="soft">No message named a belief today.</span>
        ) : (
          <>
            <span class="soft">Named by messages today: </span>
            {beliefs.slice(0, maxNames).map(({ belief }, index) => (
              <span key={belief.id}>
                {index === 0 ? '' : ', '}
                <Link href={address('beliefs', belief.id)}>{belief.name}</Link>
              </span>
            ))}
            {beliefs.length > maxNames ? <span class="soft"> and {count(beliefs.length - maxNames)} more</span> : null}
          </>
        )}
      </p>
    </section>
  )
}

function LastRegression() {
  const found = useResource('standings', (signal) => ask('standings', { signal }), { freshness: evalsChange.value })
  const [worst] = found.value?.items ?? []
  if (worst === undefined || worst.broken.length === 0) return null
  const { benchmarkId: id, title, ...standing } = worst
  return (
    <section class="panel" aria-label="Last regression">
      <header class="panel-head">
        <h2>Last regression</h2>
        <Link class="small to-end" href="/evaluation">
          Evaluation
        </Link>
      </header>
      <StandingLine standing={standing} pack={{ id, title }} />
    </section>
  )
}

function Connected() {
  const found = useResource('hosts', (signal) => ask('hosts', { signal }))
  const items = found.value?.items ?? []
  const known = items.filter(({ connected, detected }) => connected !== 'no' || detected)
  const isConnected = known.some(({ connected }) => connected !== 'no')
  const [first] = known
  return (
    <section class="panel" aria-label="Connect your agent">
      <header class="panel-head">
        <h2>Connect your agent</h2>
        <Link class="small to-end" href="/hosts">
          All programs
        </Link>
      </header>
      {known.length === 0 ? null : (
        <ul class="host-rows">
          {known.map((host) => (
            <HostRow key={host.host} host={host} />
          ))}
        </ul>
      )}
      {isConnected || found.value === null ? null : (
        <div class="panel-pad stack tight">
          <p>
            No program is connected to this memory. To connect {hostName(first?.host ?? 'claude-code')}, run in a
            terminal:
          </p>
          <code class="command">{commandLine(`connect ${first?.host ?? 'claude-code'}`)}</code>
        </div>
      )}
    </section>
  )
}
