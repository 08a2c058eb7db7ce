import { existsSync } from 'node:fs'
import { MemoryError } from '../../errors.ts'
import { readTextFile } from '../../files/read-text.ts'
import type { Machine } from '../session.ts'
import { type ConnectHost, connectHosts, filesFor, hosts, type Level } from './hosts.ts'
import { lastSeen } from './seen.ts'

export type HostStatus = ReturnType<typeof hostStatus>

/** The status of every host, for the user and the project in a directory. Starts no program and writes nothing. */
export const hostStatuses = (machine: Machine, directory: string): readonly HostStatus[] =>
  connectHosts.map((host) => hostStatus(host, machine, directory))

/** Whether a host is connected, and when it last used the memory. */
function hostStatus(host: ConnectHost, machine: Machine, directory: string) {
  const files = hosts[host].levels.flatMap((level) =>
    filesFor(host, { machine, level, directory }).map(({ path, remove }) => {
      try {
        const text = existsSync(path) ? readTextFile(path) : null
        return { path, level, connected: text !== null && remove(text, null) !== text, problem: null }
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error
        return { path, level, connected: false, problem: error.message }
      }
    }),
  )
  const those = (level: Level) => files.filter((file) => file.level === level)
  const levels = hosts[host].levels.filter((level) => those(level).some(({ connected }) => connected))
  const isWhole = levels.some((level) => those(level).every(({ connected }) => connected))
  return {
    host,
    // Partly: some files of the host have no entries of Credence.
    connected: isWhole ? ('yes' as const) : levels.length > 0 ? ('partly' as const) : ('no' as const),
    // If a user configuration exists, the program is probably in use.
    detected: those('user').some(({ path }) => existsSync(path)),
    levels,
    files,
    version: lastSeen(machine, host, 'version'),
    lastHook: lastSeen(machine, host, 'hook'),
    lastCall: lastSeen(machine, host, 'call'),
  }
}

/** Whether hooks that `connect` wrote are in the settings of a host. */
export const hasHooks = (host: ConnectHost, machine: Machine, directory: string): boolean =>
  hostStatus(host, machine, directory).files.some(
    ({ path, connected }) => connected && !path.endsWith('.mcp.json') && !path.endsWith('.claude.json'),
  )

/**
 * Whether the user's own configuration of a host has a server that `connect` wrote. A server in a project does not count,
 * because the person may not have approved it.
 */
export const hasServer = (host: ConnectHost, machine: Machine, directory: string): boolean =>
  hostStatus(host, machine, directory).files.some(
    ({ path, level, connected }) => connected && level === 'user' && path.endsWith('.claude.json'),
  )
