import type { ComponentChildren } from 'preact'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { Badge, Time, type Tone } from '../ui/elements.tsx'

export type Host = RouteAnswer<'hosts'>['items'][number]

const names: Readonly<Record<string, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  cursor: 'Cursor',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  openclaw: 'OpenClaw',
  vscode: 'VS Code',
  'claude-desktop': 'Claude Desktop',
}

export const hostName = (host: string): string => names[host] ?? host

const states: Readonly<Record<Host['connected'], readonly [words: string, tone: Tone]>> = {
  yes: ['connected', 'good'],
  partly: ['partly connected', 'odd'],
  no: ['not connected', 'plain'],
}

/** A program, whether it is connected, and when it last used the memory. */
export function HostRow({ host, children }: { readonly host: Host; readonly children?: ComponentChildren }) {
  const [words, tone] = states[host.connected]
  const isAbsent = host.connected === 'no' && !host.detected
  const latest = [host.lastHook?.at, host.lastCall?.at]
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1)
  return (
    <li class="row host-row">
      <b>{hostName(host.host)}</b>
      <Badge tone={tone}>{words}</Badge>
      <span class="soft small to-end">
        {host.version === null ? '' : `version ${host.version.version} · `}
        {latest === undefined ? (isAbsent ? 'not found on this machine' : 'has not used the memory yet') : 'last used '}
        {latest === undefined ? null : <Time at={latest} />}
      </span>
      {children}
    </li>
  )
}
