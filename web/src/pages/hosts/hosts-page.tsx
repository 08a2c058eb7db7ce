import { ask } from '../../api/client.ts'
import { commandLine } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { Button, CopyButton, Icon, Time } from '../../ui/elements.tsx'
import { Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { type Host, HostRow } from './host-row.tsx'

/** Which programs use the memory: the same as `credence connect --status`. */
export function HostsPage() {
  const found = useResource('hosts', (signal) => ask('hosts', { signal }))
  return (
    <>
      <header class="page-head">
        <h1>Hosts</h1>
        <div class="page-tools">
          <Button icon="sync" isBusy={found.isLoading} onClick={found.reload}>
            Refresh
          </Button>
        </div>
        <p>
          The programs that can use this memory, and when they last did. To connect one, run its command in a terminal;{' '}
          <code>{commandLine('connect --status')}</code> shows the same list there.
        </p>
      </header>
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Looking for programs" />}>
        {({ items }) => (
          <section class="panel" aria-label="Programs">
            <ul class="host-rows">
              {items
                .toSorted((one, other) => rankOf(one) - rankOf(other))
                .map((host) => (
                  <HostRow key={host.host} host={host}>
                    <Details host={host} />
                  </HostRow>
                ))}
            </ul>
          </section>
        )}
      </Loaded>
    </>
  )
}

/** The connected ones first, then those that are in use on this machine. */
const rankOf = ({ connected, detected }: Host): number => (connected === 'no' ? (detected ? 1 : 2) : 0)

function Details({ host }: { readonly host: Host }) {
  const command = commandLine(`connect ${host.host}`)
  return (
    <div class="host-details stack tight">
      {host.connected === 'yes' ? null : (
        <p class="row">
          <code class="command">{command}</code> <CopyButton text={command} label="Copy" />
        </p>
      )}
      {host.lastHook === null ? null : (
        <p class="small soft">
          Last hook: {host.lastHook.event}, {host.lastHook.outcome}, <Time at={host.lastHook.at} />
        </p>
      )}
      {host.lastCall === null ? null : (
        <p class="small soft">
          Last call: {host.lastCall.tool}, <Time at={host.lastCall.at} />
        </p>
      )}
      <details class="small">
        <summary>Configuration files</summary>
        <ul class="bullets">
          {host.files.map(({ path, connected, problem }) => (
            <li key={path} class="break">
              <Icon name={connected ? 'check' : 'close'} size={12} /> <code>{path}</code>
              {problem === null ? '' : `: ${problem}`}
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}
