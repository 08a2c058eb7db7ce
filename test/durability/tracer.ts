import { spawnSync } from 'node:child_process'

/** Whether faults can be injected into system calls, and the calls be recorded. Tests that need it are skipped without. */
export const isTracerHere = spawnSync('strace', ['--version']).status === 0
if (!isTracerHere) console.log('Skipped: strace is not installed, so no system call can be recorded or made to fail.')

/** A program that runs another one, records these calls of it in a file, and injects faults into some. */
export const tracing = (calls: string, record: string, ...injected: readonly string[]): readonly string[] => [
  ...['strace', '-f', '-qq', '-y', '-e', `trace=${calls}`, '-e', 'signal=none', '-o', record],
  ...injected.flatMap((fault) => ['-e', `inject=${fault}`]),
]
