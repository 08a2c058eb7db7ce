/** The command line itself is wrong: an unknown option, a missing argument, a value out of range. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly hint: string | undefined
  /** The command it was meant for, once that is known. */
  command: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}
