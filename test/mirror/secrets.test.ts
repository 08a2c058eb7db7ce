import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { personalMemory } from './mirrored-memory.ts'

describe('an item that gets a secret', () => {
  it('stays in the file unchanged, and the store keeps the old belief', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'bank', content: 'ING' })
    place.edit((text) => text.replace('ING', 'the password is hunter2secret99'))

    const { taken, refused } = await place.sync()

    expect(taken).toMatchObject({ corrected: 0 })
    expect(refused).toMatchObject([
      { file: 'MEMORY.md', reason: 'The text contains a password or key, so it was not stored.' },
    ])
    expect(await place.beliefs()).toEqual({ bank: 'ING' })
    expect(place.text()).toContain('the password is hunter2secret99')
  })

  it.each(['why', 'aliases'])('is refused if the secret is in its %s', async (label) => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'bank', content: 'ING' })
    place.edit((text) => text.replace(/( <!-- credence:b-.*-->)/u, `$1\n  - ${label}: the password is hunter2secret99`))

    expect((await place.sync()).refused).toHaveLength(1)
    expect(await place.beliefs()).toEqual({ bank: 'ING' })
  })

  it('is imported again once the secret is removed', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'bank', content: 'ING' })
    place.edit((text) => text.replace('ING', 'my PIN is 4821'))
    await place.sync()
    place.edit((text) => text.replace('my PIN is 4821', 'ABN'))

    expect(await place.sync()).toMatchObject({ taken: { corrected: 1 }, refused: [] })
    expect(await place.beliefs()).toEqual({ bank: 'ABN' })
  })

  it('makes no proposal and no conflict file if the store changed it too', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'bank', content: 'ING' })
    const before = place.text()
    await place.memory.correct('bank', { content: 'ABN' })
    writeFileSync(place.path(), before.replace('ING', 'my PIN is 4821'))

    const { conflicts, refused } = await place.sync()

    expect(conflicts).toEqual([])
    expect(refused).toHaveLength(1)
    expect(readdirSync(place.dir).filter((name) => name.includes('conflict'))).toEqual([])
    expect(await place.beliefs()).toEqual({ bank: 'ABN' })
  })

  it('may keep a secret that a person stored', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'gate', content: 'The PIN is 4821.' })
    place.edit((text) => text.replace('The PIN is 4821.', 'The PIN is 4821, on the left.'))

    expect(await place.sync()).toMatchObject({ taken: { corrected: 1 }, refused: [] })
    expect(await place.beliefs()).toEqual({ gate: 'The PIN is 4821, on the left.' })
  })
})

describe('imported Markdown', () => {
  it('is stored without its secrets, which are reported by line and not shown', async () => {
    using place = createSandbox()
    const file = join(place.work, 'notes.md')
    writeFileSync(file, '- **region**: eu-west-1\n- my PIN is 4821\n\n| key | value |\n|---|---|\n| PIN | 9913 |\n')

    const { stdout, stderr, exitCode } = await place.run('import', '--markdown', file, '--scope', 'project:x')

    expect({ exitCode, added: /added +1\b/u.test(stdout) }).toEqual({ exitCode: 0, added: true })
    expect(stderr).toContain('notes.md, line 2: left out. The text contains a number that proves who somebody is')
    expect(stderr).toContain('notes.md, line 6: left out. The text contains')
    expect(`${stdout}${stderr}`).not.toMatch(/4821|9913/u)
    expect(existsSync(file) && readFileSync(file, 'utf8')).toContain('4821')
  })

  it('must have a Markdown extension', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'notes.md'), '- **region**: eu-west-1\n')

    const file = join(place.work, 'notes.md')
    const { exitCode, stderr } = await place.run('import', file)

    expect(exitCode).toBe(2)
    expect(stderr).toContain(`hint: Run credence import --markdown ${file}`)
  })
})
