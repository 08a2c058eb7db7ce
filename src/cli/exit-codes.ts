import type { ErrorCode } from '../errors.ts'

/** What a command's end means to whoever started it. */
export const exitCodes = {
  fine: 0,
  failed: 1,
  usage: 2,
  invalid: 3,
  nothingCompared: 4,
  degraded: 5,
  bug: 70,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'fine',
  1: 'cases failed or a regression',
  2: 'wrong usage',
  3: 'invalid input, or a memory that cannot be used',
  4: 'cannot tell: nothing was compared, or not what can be compared',
  5: 'the store is degraded',
  70: 'a bug',
  130: 'interrupted',
}

/** An error a caller is expected to handle, as an exit code. */
export const exitCodeOf: Readonly<Record<ErrorCode, ExitCode>> = {
  invalid: exitCodes.invalid,
  not_found: exitCodes.invalid,
  conflict: exitCodes.invalid,
  forbidden: exitCodes.invalid,
  unavailable: exitCodes.invalid,
}
