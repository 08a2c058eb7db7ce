import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'

describe('a .credence.json', () => {
  it('determines the memory and the scopes in view for the command line too', async () => {
    using place = createSandbox()
    const deep = join(place.work, 'deep')
    mkdirSync(deep)
    writeFileSync(join(place.work, '.credence.json'), '{"scopes": ["project:ledger", "domain:code"], "dir": "kept"}')
    await place.run('trust', '.credence.json')
    await place.run('init', '--dir', 'kept')

    const { belief } = await place.json('remember', 'Port 8080.', '--name', 'api port')
    const found = await place.runWith({ cwd: deep }, 'recall', 'Which api port?', '--json')
    const given = await place.runWith({ cwd: deep }, 'recall', 'Which api port?', '--scope', 'domain:other', '--json')

    expect(belief.scopes).toEqual(['project:ledger'])
    expect(JSON.parse(found.stdout)).toMatchObject({
      scopes: ['domain:code', 'project:ledger'],
      relevant: [{ belief: { content: 'Port 8080.' } }],
    })
    expect(JSON.parse(given.stdout).relevant).toEqual([])
    expect(existsSync(join(place.work, 'kept', 'state', 'credence.db'))).toBe(true)
  })

  it('is overridden by the command line and the environment', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, '.credence.json'), '{"dir": "kept"}')

    const named = await place.json('init', '--dir', 'named')
    const ambient = await place.runWith({ env: { CREDENCE_DIR: 'ambient' } }, 'init', '--json')

    expect(named.dir).toBe(join(place.work, 'named'))
    expect(JSON.parse(ambient.stdout).dir).toBe(join(place.work, 'ambient'))
  })

  it('that is invalid stops a command with a valid example', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, '.credence.json'), '{"scpoe": "project:x"}')

    const { exitCode, stderr } = await place.run('recall', 'anything')

    expect(exitCode).toBe(3)
    expect(stderr).toContain('Did you mean "scope"?')
  })
})
