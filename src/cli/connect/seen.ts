import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localMinute } from '../../local-time.ts'
import { stateDirectory } from '../memory-location.ts'
import type { Machine } from '../session.ts'

type HookRun = { readonly at: string; readonly event: string; readonly outcome: string }

/** The last hook of a host, and the results of earlier hooks. */
export type SeenHook = HookRun & {
  /** The number of prompts. `late` counts those that were answered too late for the host. */
  readonly prompts: number
  readonly late: number
  readonly lastPrompt: string | null
  /** When a hook last added context, and how many lines. */
  readonly lastLines: { readonly at: string; readonly lines: number } | null
  readonly lastFailure: HookRun | null
  /** For each event whose last hook failed: when the current series of failures began. */
  readonly failingSince: Readonly<Record<string, string>>
  /** How many session starts came in a row, and since when; null if the last hook was for a different event. */
  readonly onlyStarts: { readonly sessions: number; readonly since: string } | null
}

/** A host's last hook, its last MCP tool call, and its last reported version: names and times only. */
type Seen = {
  readonly hook: SeenHook
  readonly call: { readonly at: string; readonly tool: string }
  readonly version: { readonly at: string; readonly version: string }
}

const fileOf = (machine: Machine, host: string, kind: keyof Seen): string =>
  join(stateDirectory(machine), 'hosts', `${host}.${kind}.json`)

/** Records the last hook, call or version of a host. Write errors are ignored: only notices and reports use the record. */
export function noteSeen<Kind extends keyof Seen>(machine: Machine, host: string, kind: Kind, seen: Seen[Kind]): void {
  const file = fileOf(machine, host, kind)
  const draft = `${file}.${process.pid}`
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
    writeFileSync(draft, JSON.stringify(seen), { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    // The disk may be full or read-only.
  }
}

/** Hosts end a hook after this time. */
const maxHookMs = 5_000

/** Adds one run to the record of a host's hooks. */
export function noteHook(
  machine: Machine,
  host: string,
  { at, event, outcome, recalled = 0, ms }: HookRun & { readonly recalled?: number; readonly ms: number },
): void {
  const run = { at, event, outcome }
  const before = lastSeen(machine, host, 'hook')
  const isFailed = /^(?:failed|not kept)/.test(outcome)
  const isPrompt = event === 'prompt-submit'
  const isLate = isPrompt && (outcome === 'late' || ms > maxHookMs)
  const { [event]: since = at, ...others } = before?.failingSince ?? {}
  noteSeen(machine, host, 'hook', {
    ...run,
    prompts: (before?.prompts ?? 0) + Number(isPrompt),
    late: (before?.late ?? 0) + Number(isLate),
    lastPrompt: isPrompt ? at : (before?.lastPrompt ?? null),
    lastLines: recalled > 0 ? { at, lines: recalled } : (before?.lastLines ?? null),
    lastFailure: isFailed ? run : (before?.lastFailure ?? null),
    failingSince: isFailed ? { ...others, [event]: since } : others,
    onlyStarts:
      event === 'session-start'
        ? { sessions: (before?.onlyStarts?.sessions ?? 0) + 1, since: before?.onlyStarts?.since ?? at }
        : null,
  })
}

const dayMs = 86_400_000

/** Min sessions without a prompt before they are reported: in fewer, the person may not have typed any. */
const minSilentSessions = 5

/**
 * A notice for the start of a session, if the hooks of an event have failed for a day, or if only starts of sessions were
 * noted for a day; otherwise empty. The other hooks need the MCP server, which may not be connected.
 */
export function failingNotice(machine: Machine, host: string, now: Date): string {
  const { failingSince = {}, lastFailure = null, onlyStarts = null } = lastSeen(machine, host, 'hook') ?? {}
  const isOld = (since: string): boolean => now.getTime() - Date.parse(since) >= dayMs
  const failing = Object.entries(failingSince).filter(([, since]) => isOld(since))
  if (failing.length === 0) {
    if (onlyStarts === null || onlyStarts.sessions < minSilentSessions || !isOld(onlyStarts.since)) return ''
    return `Credence has received no prompt in ${onlyStarts.sessions} sessions since ${onlyStarts.since}, so these conversations are missing from the memory. Tell the person to check that the MCP server "credence" is connected, and to run \`credence doctor\`.\n`
  }
  const hooks = failing.map(([event, since]) => `${event} has failed since ${since}`).join(', ')
  return `The Credence hook ${hooks} (${lastFailure?.outcome ?? 'failed'}), so parts of this conversation may be missing from the memory. Tell the person to run \`credence doctor\`.\n`
}

/** The hooks of a host in one line. */
export const hookHealthText = ({ prompts, late, lastPrompt, lastLines, lastFailure, onlyStarts }: SeenHook): string =>
  [
    `${prompts} prompts, ${late} of them late`,
    lastPrompt === null ? 'no prompt yet' : `last prompt ${localMinute(lastPrompt)}`,
    lastLines === null ? 'no lines given yet' : `last lines ${localMinute(lastLines.at)} (${lastLines.lines})`,
    ...(lastFailure === null
      ? []
      : [`last failure ${localMinute(lastFailure.at)}, ${lastFailure.event}: ${lastFailure.outcome}`]),
    ...((onlyStarts?.sessions ?? 0) < minSilentSessions ? [] : [`${onlyStarts?.sessions} sessions without a prompt`]),
  ].join('; ')

/** The last recorded hook, call or version of a host; null if there is none. */
export function lastSeen<Kind extends keyof Seen>(machine: Machine, host: string, kind: Kind): Seen[Kind] | null {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(machine, host, kind), 'utf8'))
    const isWhole = value !== null && typeof value === 'object' && 'at' in value && typeof value.at === 'string'
    // Only noteSeen writes these files.
    return isWhole ? (value as Seen[Kind]) : null
  } catch {
    // There is no record, or a crash has truncated it.
    return null
  }
}
