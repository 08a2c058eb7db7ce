import type { ApiBelief } from '../../../src/http/api/contract.ts'

/** Why a request was not carried out. Everything that fails is shown as one of these. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** 0 when no answer came. */
  readonly status: number
  readonly code: string
  readonly hint: string
  /** With a conflict over a belief: what it says now. */
  readonly current: ApiBelief | null

  constructor(given: {
    status: number
    code: string
    message: string
    hint?: string | null
    current?: ApiBelief | null
  }) {
    super(given.message)
    this.status = given.status
    this.code = given.code
    this.hint = given.hint ?? ''
    this.current = given.current ?? null
  }
}

export const unreachable = (): Refusal =>
  new Refusal({
    status: 0,
    code: 'unreachable',
    message: 'The server does not answer.',
    hint: 'Is the server still running in its terminal?',
  })

export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal({
        status: 0,
        code: 'bug',
        message: 'Something in this page went wrong.',
        hint: error instanceof Error ? error.message : String(error),
      })
