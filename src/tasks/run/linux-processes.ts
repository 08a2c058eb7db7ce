import { readdirSync, readFileSync } from 'node:fs'

/** What Linux says of its processes. Elsewhere there is no such folder, and nobody must ask. */
export const processIds = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)

/** Reads one of the files about a process. Null when the process is gone since it was listed, or somebody else's. */
export function processFile(pid: number, name: 'stat' | 'statm' | 'environ'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return null
  }
}

/**
 * The group of a process that still does something. In a container nobody may collect the dead, and the system goes on
 * to list them: they have none.
 */
export function livingGroup(pid: number): number | null {
  const stat = processFile(pid, 'stat')
  if (stat === null) return null
  // "pid (name) state parent group …": the name may hold anything, but ends at the last parenthesis.
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? null : Number(group)
}
