import { once } from 'node:events'
import type { createSandbox } from '../cli/sandbox.ts'

type Announced = { url: string; port: number; link: string; dir: string; isDemo: boolean }

/** The real program, listening on a free port. */
export const serving = (place: ReturnType<typeof createSandbox>, ...argv: readonly string[]) =>
  servingWith({}, place, ...argv)

/** Like `serving`, with additional environment variables. */
export async function servingWith(
  env: Readonly<Record<string, string>>,
  place: ReturnType<typeof createSandbox>,
  ...argv: readonly string[]
) {
  const child = place.start(['serve', '--port', '0', '--json', ...argv], { env })
  let printed = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  const announced = await new Promise<Announced>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
      if (printed.trimEnd().endsWith('}')) resolve(JSON.parse(printed))
    })
    child.on('exit', () => reject(new Error(`It ended: ${errors}`)))
  })
  const token = announced.link.split('#token=')[1] ?? ''
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${announced.url}/api/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers },
    })
  return {
    ...announced,
    pid: child.pid as number,
    token,
    ask,
    stop: async (signal: NodeJS.Signals = 'SIGTERM') => {
      const exited = once(child, 'exit')
      child.kill(signal)
      const [code, by] = await exited
      return { code, by, errors }
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    },
  }
}
