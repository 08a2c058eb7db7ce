import { useState } from 'preact/hooks'
import { ask } from '../../../api/client.ts'
import { evalsChange } from '../../../api/live.ts'
import { count } from '../../../format/numbers.ts'
import { useResource } from '../../../state/resource.ts'
import { Button } from '../../../ui/button.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { EmptyState } from '../../../ui/notice.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { RunsTable } from './runs-table.tsx'

const step = 50
const most = 200

/** Every run of every pack. */
export function RunsView() {
  const [limit, setLimit] = useState(step)
  const runs = useResource('runs', (signal) => ask('runs', { query: { limit }, signal }), {
    freshness: evalsChange.value + limit,
  })
  return (
    <section class="panel" aria-label="Runs">
      <Loaded resource={runs} waiting={<SkeletonRows rows={8} label="Loading runs" />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <EmptyState icon="evaluation" title="Nothing has been run yet">
              <p>Press “Run” beside a pack.</p>
            </EmptyState>
          ) : (
            <>
              <RunsTable runs={items} showsPack />
              {items.length < total && limit < most ? (
                <div class="more-rows">
                  <Button tone="quiet" onClick={() => setLimit(Math.min(most, limit + step))}>
                    {count(items.length)} of {count(total)}. Show more
                  </Button>
                </div>
              ) : null}
            </>
          )
        }
      </Loaded>
    </section>
  )
}
