import type { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { fieldAt, type Problem, shown as shownValue } from '../../eval/store/parse-artifact.ts'

/** Collects the problems of a task file, so that its author sees all of them at once. */
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

  /** Messages of a schema continue "is 0; it", and those that begin with "are" or "is" stand alone. */
  invalid(
    { issues }: z.ZodError,
    path: readonly string[],
    allowedKeys: (path: readonly PropertyKey[]) => string,
  ): void {
    for (const issue of issues) {
      const field = fieldAt([...path, ...issue.path])
      if (issue.code === 'unrecognized_keys') {
        this.wrong(field, `has ${issue.keys.map((key) => `"${key}"`).join(', ')}; ${allowedKeys(issue.path)}`)
      } else if (/^(?:are|is) /u.test(issue.message)) this.wrong(field, issue.message)
      else this.wrong(field, `is ${issue.input === undefined ? 'missing' : shown(issue.input)}; it ${issue.message}`)
    }
  }

  warn(message: string): void {
    this.warnings.push(message)
  }
}

/** A value of a task file in a message. */
export const shown = (value: unknown): string => shownValue(value, 'a mapping')

/** One error for all problems of a file. */
export function invalidTask(problems: readonly Problem[]): MemoryError {
  const [first, ...rest] = problems
  if (first === undefined) throw new Error('An invalid task must have a problem.')
  const more = rest.length === 0 ? '' : ` ${rest.length} more: ${rest.map(({ field }) => field).join(', ')}.`
  return new MemoryError('invalid', `${first.file}: ${first.field} ${first.message}.${more}`, {
    hint: 'See every problem with `credence task validate`.',
  })
}
