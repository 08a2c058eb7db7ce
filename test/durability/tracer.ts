import { spawnSync } from 'node:child_process'

/** Whether system calls can be recorded and made to fail. Tests that need this are skipped otherwise. */
export const isTracerHere = spawnSync('strace', ['--version']).status === 0
if (!isTracerHere) console.log('Skipped: strace is not installed, so no system call can be recorded or made to fail.')

/** A command prefix that records these system calls of a program in a file and injects faults into some. */
export const tracing = (calls: string, record: string, ...injected: readonly string[]): readonly string[] => [
  'strace',
  '-f',
  '-qq',
  '-y',
  '-e',
  `trace=${calls}`,
  '-e',
  'signal=none',
  '-o',
  record,
  ...injected.flatMap((fault) => ['-e', `inject=${fault}`]),
]
