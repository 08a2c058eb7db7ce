import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { bin, type createSandbox } from '../cli/sandbox.ts'

type Place = ReturnType<typeof createSandbox>

type Env = Readonly<Record<string, string>>

const serverIn = (place: Place, options: readonly string[], env: Env = {}) => ({
  command: process.execPath,
  args: [bin, 'mcp', ...options],
  cwd: place.work,
  env: { PATH: process.env.PATH ?? '', HOME: place.home, XDG_CACHE_HOME: `${place.path}/cache`, ...env },
  stderr: 'inherit' as const,
})

/** A client of the current SDK, in this protocol version, with a separate server process. */
export async function stdioClient(
  place: Place,
  {
    mode,
    name = 'test-agent',
    options = [],
    env = {},
  }: { mode: 'legacy' | 'modern'; name?: string; options?: readonly string[]; env?: Env },
): Promise<Client> {
  const client = new Client(
    { name, version: '1' },
    { versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  await client.connect(new StdioClientTransport(serverIn(place, options, env)))
  return client
}

/** A client of the previous SDK. */
export async function earlierStdioClient(
  place: Place,
  options: readonly string[] = [],
  name = 'test-agent',
): Promise<EarlierClient> {
  const client = new EarlierClient({ name, version: '1' })
  const transport = new EarlierTransport(serverIn(place, options))
  // The transport types of the two packages differ only under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<EarlierClient['connect']>[0])
  return client
}
