import { MemoryError } from '../../errors.ts'
import type { Problem } from '../../eval/store/parse-artifact.ts'

/** Gathers what is wrong with a task file, so that its author sees all of it at once. */
export class Findings {
  readonly #file: string
  readonly problems: Problem[] = []
  readonly warnings: string[] = []

  constructor(file: string) {
    this.#file = file
  }

  /** `message` continues the sentence that the field begins: "is 0; it must be more". */
  wrong(field: string, message: string): void {
    this.problems.push({ file: this.#file, field, message })
  }

  warn(message: string): void {
    this.warnings.push(message)
  }
}

const longestShown = 60

/** A value in a message: short, and on one line. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value !== null && typeof value === 'object') return 'a mapping'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** One error for all that is wrong with a file. */
export function invalidTask(problems: readonly Problem[]): MemoryError {
  const [first, ...rest] = problems
  if (first === undefined) throw new Error('An invalid task must have a problem.')
  const more = rest.length === 0 ? '' : ` ${rest.length} more: ${rest.map(({ field }) => field).join(', ')}.`
  return new MemoryError('invalid', `${first.file}: ${first.field} ${first.message}.${more}`, {
    hint: 'See every problem with `credence task validate`.',
  })
}
