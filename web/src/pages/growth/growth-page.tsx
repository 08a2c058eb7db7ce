import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, journalHead } from '../../api/client.ts'
import { count, milliseconds, percent, pluralize } from '../../format/numbers.ts'
import { dayOf, daysBetween, endOfDay, fillDays, shortDay, today } from '../../format/time.ts'
import { throughWords } from '../../format/words.ts'
import { address } from '../../navigation/match.ts'
import { Link, navigate, query, withQuery } from '../../navigation/router.tsx'
import { BarPlot, LinePlot, StackPlot } from '../../plots/plots.tsx'
import { health } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { EmptyState, Loaded, SkeletonBlock, SkeletonRows } from '../../ui/notice.tsx'
import { growthBy } from './growth-by.ts'

type Growth = RouteAnswer<'growth'>

/** How the memory grew and was used, and what it held on an earlier day. */
export function GrowthPage() {
  const found = useResource('growth', (signal) => ask('growth', { signal }), { freshness: journalHead.value })
  return (
    <>
      <header class="page-head">
        <h1>Over time</h1>
        <p>How the memory grew and how often it is used. Of recalls only numbers are kept, never their text.</p>
      </header>
      <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Counting" />}>
        {(growth) =>
          growth.beliefs.length === 0 ? (
            <div class="panel">
              <EmptyState icon="growth" title="Nothing has happened yet">
                The first belief and the first recall begin the curves.
              </EmptyState>
            </div>
          ) : (
            <div class="stack">
              <div class="plots two">
                <StackPlot
                  title="Beliefs ever remembered, by scope"
                  note={currentWords()}
                  layers={growthBy(growth.beliefs, today(), ({ scope }) => scope ?? 'forgotten')}
                />
                <StackPlot
                  title="Beliefs ever remembered, by origin"
                  note={currentWords()}
                  layers={growthBy(growth.beliefs, today(), ({ actor, origin }) =>
                    actor === 'person'
                      ? `you${throughWords({ actor, origin })}`
                      : origin === 'file'
                        ? 'MEMORY.md'
                        : origin,
                  )}
                />
              </div>
              <Recalls days={growth.recalls} />
              <AsOf growth={growth} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}

/** The curves also count what was replaced or still waits; this says how many hold now, as the other pages do. */
const currentWords = (): string => {
  const current = health.value?.counts.current
  return current === undefined ? '' : `${count(current)} of them are current`
}

function Recalls({ days }: { readonly days: Growth['recalls'] }) {
  if (days.length === 0)
    return <p class="panel panel-pad soft">No recall has been pluralize yet. Recalls of agents and of the CLI count.</p>
  const bars = fillDays(days.map(({ day, recalls }) => ({ day, value: recalls })))
  const total = bars.reduce((sum, { value }) => sum + value, 0)
  const point = (day: string, value: number, label: string) => ({
    key: day,
    at: day,
    value,
    low: null,
    high: null,
    label,
  })
  return (
    <div class="plots three">
      <BarPlot title="Recalls by day" bars={bars} format={count} total={count(total)} />
      <LinePlot
        title="Recalls that found nothing"
        isByTime
        points={days.map(({ day, silent, recalls }) =>
          point(day, silent / recalls, `${dayOf(day)}: ${count(silent)} of ${count(recalls)}`),
        )}
        format={percent}
        limits={[0, 1]}
      />
      <LinePlot
        title="Mean time of a recall"
        isByTime
        points={days.map(({ day, meanMs }) => point(day, meanMs, dayOf(day)))}
        format={milliseconds}
        startsAtZero
      />
    </div>
  )
}

/** What the memory held at the end of a day, chosen with a slider. */
function AsOf({ growth }: { readonly growth: Growth }) {
  // The server may be in a time zone where the next day has begun.
  const known = [today(), ...[...growth.beliefs, ...growth.recalls].map(({ day }) => day)].sort()
  const days = daysBetween(known[0] ?? '', known.at(-1) ?? '')
  const wanted = query.value.get('day')
  const place = wanted === null ? days.length - 1 : Math.max(0, days.indexOf(wanted))
  const [moving, setMoving] = useState<number | null>(null)
  const at = moving ?? place
  const day = days[at] ?? ''
  return (
    <section class="panel" aria-label="Memory as of a day">
      <header class="panel-head">
        <h2>Memory as of {dayOf(day)}</h2>
      </header>
      <div class="panel-pad stack tight">
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
        <p class="slider-ends soft small" aria-hidden="true">
          <span>{shortDay(days[0] ?? '')}</span>
          <span>Today</span>
        </p>
        <Held day={days[place] ?? ''} />
      </div>
    </section>
  )
}

/** The beliefs that held then, or those of them with some words. */
function Held({ day }: { readonly day: string }) {
  const [text, setText] = useState('')
  const words = text.trim().slice(0, 2_000)
  const found = useResource(
    JSON.stringify([day, words]),
    (signal) =>
      ask('pastBeliefs', {
        query: { asOf: endOfDay(day), ...(words === '' ? {} : { query: words }), limit: 20 },
        signal,
      }),
    { freshness: journalHead.value, keep: true },
  )
  return (
    <>
      <div class="field">
        <label for="as-of-words">Search the beliefs of that day</label>
        <input
          id="as-of-words"
          class="input"
          value={text}
          maxLength={2_000}
          placeholder="Names, aliases, texts"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <Loaded resource={found} waiting={<SkeletonRows rows={5} label="Reading the memory of that day" />}>
        {({ items, total }) => (
          <>
            <p class="soft">{heldWords({ day, total, shown: items.length, isSearch: words !== '' })}</p>
            <ul class="held">
              {items.map(({ id, name, content }) => (
                <li key={id} class="break" dir="auto">
                  <Link href={address('beliefs', id)}>{name}</Link>: {content}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </>
  )
}

type HeldWords = { readonly day: string; readonly total: number; readonly shown: number; readonly isSearch: boolean }

function heldWords({ day, total, shown, isSearch }: HeldWords): string {
  const what = `${pluralize(total, 'belief')} ${isSearch ? (total === 1 ? 'has these words' : 'have these words') : 'held'}`
  const when = isSearch ? `as of ${dayOf(day)}` : `at the end of ${dayOf(day)}`
  return `${what} ${when}.${shown < total ? ` The first ${count(shown)}:` : ''}`
}
