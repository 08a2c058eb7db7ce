import { kebab } from './command.ts'
import { UsageError } from './usage-error.ts'

/**
 * A run that is half one thing and half another says nothing, so a resumed one goes on as it was begun. `decided` names
 * the options that are settled when a run begins.
 */
export function refuseChanges(given: Readonly<Record<string, unknown>>, decided: readonly string[]): void {
  const isGiven = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
  const changed = decided.find((name) => isGiven(given[name]))
  if (changed === undefined) return
  throw new UsageError(
    `--${kebab(changed)} cannot be given with --resume, which goes on as the run was begun.`,
    'Leave it out, or begin another run.',
  )
}
