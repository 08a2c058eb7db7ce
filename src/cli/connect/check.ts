import { spawn } from 'node:child_process'
import type { Machine } from '../session.ts'
import { type ConnectHost, type HostCheck, hosts } from './hosts.ts'
import { programOnPath } from './launch.ts'

/** What the host itself says about the connection. */
export type Proof = {
  /** `unchecked`: the host has no such command, or it is not on the PATH. */
  readonly outcome: 'proven' | 'not proven' | 'unchecked'
  /** The commands that were run, as one would type them; of failed checks the first. */
  readonly command: string | null
  /** What it printed about Credence, or why it was not run. */
  readonly detail: string
  readonly version: string | null
}

/** OpenClaw takes half a minute on a slow machine. */
const longestCheckMs = 120_000
const longestDetail = 1_000

/** Runs the host's own checks in a directory, up to the first that fails. */
export async function proveConnection(host: ConnectHost, machine: Machine, directory: string): Promise<Proof> {
  const { program: name, checks = [] } = hosts[host]
  const unchecked = { outcome: 'unchecked', command: null, version: null } as const
  if (name === undefined || checks.length === 0)
    return { ...unchecked, detail: `${host} has no command that shows it.` }
  const file = programOnPath(name, machine)
  if (file === null) return { ...unchecked, detail: `\`${name}\` is not on the PATH.` }
  const run = (args: readonly string[]) => outputOf(file, args, machine, directory)
  const version = /\d+(?:\.\d+)+[\w.-]*/.exec((await run(['--version'])) ?? '')?.[0] ?? null
  const commandOf = ({ args }: HostCheck): string => `${name} ${args.join(' ')}`
  const details: string[] = []
  for (const check of checks) {
    const output = await run(check.args)
    const isProven = output !== null && check.proof.test(output)
    const detail = output === null ? 'It did not end in time.' : (isProven && check.proves) || aboutIn(output, check)
    if (!isProven) return { outcome: 'not proven', command: commandOf(check), version, detail }
    details.push(detail)
  }
  return { outcome: 'proven', command: checks.map(commandOf).join(' && '), version, detail: details.join('\n') }
}

/** The lines about Credence, else the last ones. */
function aboutIn(output: string, { proof }: HostCheck): string {
  const about = output.split('\n').filter((line) => /credence/i.test(line) || proof.test(line))
  const shown = about.length > 0 ? about : output.trim().split('\n').slice(-5)
  return shown.join('\n').slice(0, longestDetail).trim()
}

/** What a program prints on both its streams, without colours; null when it takes too long or cannot be started. */
function outputOf(file: string, args: readonly string[], machine: Machine, cwd: string): Promise<string | null> {
  const { env, home, platform } = machine
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...env, HOME: env.HOME ?? home, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Windows starts .cmd files through a shell only; the arguments are ours.
      shell: platform === 'win32',
      timeout: longestCheckMs,
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        if (text.length < 1_000_000) text += chunk
      })
    child.on('error', () => resolve(null))
    child.on('close', (_code, signal) => resolve(signal === null ? withoutColours(text) : null))
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character
const withoutColours = (text: string): string => text.replace(/\u001b\[[0-9;]*m/g, '')
