import { useState } from 'preact/hooks'
import type { ListedPack } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { evalsChange } from '../../api/live.ts'
import { asRefusal } from '../../api/refusal.ts'
import { counted, percent } from '../../format/numbers.ts'
import { Link } from '../../navigation/link.tsx'
import { useResource } from '../../state/resource.ts'
import { say } from '../../state/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Time } from '../../ui/time.tsx'
import { PassBar } from './pass-bar.tsx'
import { packAddress, whenOf } from './run-words.ts'
import { PackVerdict } from './verdict.tsx'

/** Every pack with the verdict of its latest run. */
export function PacksView() {
  const packs = useResource('packs', (signal) => ask('packs', { signal }), { freshness: evalsChange.value })
  return (
    <section class="panel" aria-label="Packs">
      <Loaded resource={packs} waiting={<SkeletonRows rows={6} label="Loading packs" />}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon="evaluation" title="There are no packs yet">
              <p>A pack is a set of messages and what recall must answer. Run the ones that ship with Credence:</p>
              <code class="command">credence eval all</code>
            </EmptyState>
          ) : (
            <ul class="packs">
              {items.map((pack) => (
                <PackRow key={pack.id} pack={pack} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function PackRow({ pack }: { readonly pack: ListedPack }) {
  const { id, title, description, cases, system, verdict, latest, problem, source } = pack
  return (
    <li class="pack-row">
      <div class="pack-title">
        <Link href={packAddress(id)}>{title}</Link>
        <PackVerdict verdict={verdict} />
        <p class="soft small">
          {counted(cases, 'case')}
          {source === 'shipped' ? ', ships with Credence' : ''}
          {problem === null ? (description === null ? '' : `. ${description}`) : `. ${problem}`}
        </p>
      </div>
      <div class="pack-result">
        {latest === null || latest.passRate === null ? (
          <span class="soft small">no run yet</span>
        ) : (
          <>
            <PassBar listed={latest} />
            <span class="soft small number">
              {system === null ? '' : `${system}: `}
              {percent(latest.passRate)} of {counted(latest.run.totalCases, 'case')} passed,{' '}
              <Time at={whenOf(latest)} />
            </span>
          </>
        )}
      </div>
      {pack.isRunnable ? <RunButton pack={id} /> : <span />}
    </li>
  )
}

/** Runs a pack in the background; the page hears of its end by itself. */
export function RunButton({ pack }: { readonly pack: string }) {
  const [isBusy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      const { runId } = await ask('startRun', { body: { pack } })
      say(`Running ${pack} as ${runId}. Its figures appear here when it is done.`)
      evalsChange.value += 1
    } catch (error) {
      const { message, hint } = asRefusal(error)
      say(`${message} ${hint}`, { tone: 'failed' })
    }
    setBusy(false)
  }
  return (
    <Button class="small" isBusy={isBusy} onClick={() => void start()} aria-label={`Run ${pack}`}>
      Run
    </Button>
  )
}
