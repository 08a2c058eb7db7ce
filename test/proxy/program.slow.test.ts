import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { openMemory, storeFile } from '../../src/open-memory.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { says, scriptedUpstream } from './scripted-upstream.ts'

const program = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))

async function startProxy(dir: string, upstream: string): Promise<{ child: ChildProcess; url: string }> {
  const argv = [program, 'proxy', '--upstream', upstream, '--port', '0', '--dir', dir, '--scope', 'project:a', '--json']
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  for await (const line of createInterface({ input: child.stdout })) {
    text += line
    if (line === '}') break
  }
  return { child, url: JSON.parse(text).url }
}

async function end(child: ChildProcess): Promise<number | null> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = await exit
  return code
}

const post = (url: string, content: string): Promise<Response> =>
  fetch(`${url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] }),
  })

describe('credence proxy', () => {
  it('recalls in one process what was said in another, and has stored everything when it ends', async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    await using upstream = await scriptedUpstream()
    upstream.script(says('Noted.'))
    const first = await startProxy(dir, upstream.url)
    await (await post(first.url, 'Remember that the boathouse key hangs behind the cupboard.')).text()
    expect(await end(first.child)).toBe(0)

    const second = await startProxy(dir, upstream.url)
    // On a busy machine the memory may take longer than a request waits for it.
    await vi.waitFor(
      async () => {
        const response = await post(second.url, 'Where is the boathouse key?')
        await response.text()
        expect(response.headers.get('x-credence-memory')).toBe('added')
      },
      { timeout: 30_000, interval: 100 },
    )
    await end(second.child)

    expect(upstream.requests.at(-1)?.bytes.toString()).toContain('behind the cupboard')
    const memory = openMemory({ dir, scopes: ['project:a'] })
    const { items } = await memory.turns()
    expect(items.slice(-2).map(({ text }) => text)).toEqual([
      'Noted.',
      'Remember that the boathouse key hangs behind the cupboard.',
    ])
    await memory.close()
  })

  it('forwards requests while the store is locked, and stores the messages afterwards', async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    await using upstream = await scriptedUpstream()
    upstream.script(says('Fine.'))
    const memory = openMemory({ dir, scopes: ['project:a'] })
    await memory.remember({ name: 'kayak', content: 'The kayak is blue.' })
    await memory.close()
    const lock = new DatabaseSync(storeFile(dir))
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE; COMMIT')
    const { child, url } = await startProxy(dir, upstream.url)

    const locked = await post(url, 'Which colour has the kayak?')
    lock.close()

    expect(locked.status).toBe(200)
    expect(locked.headers.get('x-credence-memory')).toMatch(/^skipped; /u)
    await locked.text()
    await end(child)
    const later = openMemory({ dir, scopes: ['project:a'] })
    expect((await later.turns()).items.map(({ text }) => text)).toEqual(['Fine.', 'Which colour has the kayak?'])
    await later.close()
  })
})
