import { spawn } from 'node:child_process'
import type { Session } from '../session.ts'

export type Ended = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }

/** More than this nobody reads. */
const mostCharacters = 4_000_000

/** Runs this program once more in a process of its own, for what would keep this one from answering. */
export function runProgram(
  { machine, workingDirectory }: Session,
  argv: readonly string[],
  { env = {}, signal }: { readonly env?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(machine.node, [machine.program, ...argv], {
      cwd: workingDirectory(),
      env: { ...machine.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    })
    const gathered = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (chunk: string) => {
        if (gathered[stream].length < mostCharacters) gathered[stream] += chunk
      })
    }
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, ...gathered }))
  })
}
