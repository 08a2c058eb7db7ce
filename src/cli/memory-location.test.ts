import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { parseScope } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import {
  commonDirectory,
  findProjectFile,
  memoryDirectory,
  parseProjectFile,
  projectScope,
  userConfigFile,
} from './memory-location.ts'
import { projectFileName, trustMemory } from './trusted-memories.ts'

describe('memoryDirectory', () => {
  const home = '/home/ada'

  it('is the given directory, otherwise the one in the environment, both relative to the working directory', () => {
    using directory = temporaryDirectory()
    const here = { cwd: () => directory.path, home, onIgnored: expect.fail }

    expect(memoryDirectory({ ...here, given: 'a', env: { CREDENCE_DIR: 'b' } })).toBe(join(directory.path, 'a'))
    expect(memoryDirectory({ ...here, given: undefined, env: { CREDENCE_DIR: 'b' } })).toBe(join(directory.path, 'b'))
    expect(memoryDirectory({ ...here, given: '/m', env: {} })).toBe('/m')
  })

  it('is ./memory only if it contains a memory that the account trusts', () => {
    using directory = temporaryDirectory()
    const local = join(directory.path, 'memory')
    const state = join(directory.path, 'state')
    const ignored: string[] = []
    const found = () =>
      memoryDirectory({
        given: undefined,
        env: { XDG_STATE_HOME: state },
        cwd: () => directory.path,
        home,
        onIgnored: (dir) => ignored.push(dir),
      })

    mkdirSync(local)
    const empty = found()
    const ignoredEmpty = [...ignored]
    writeFileSync(join(local, 'MEMORY.md'), '')
    const untrusted = found()
    trustMemory(join(state, 'credence'), local, new Date(0))
    const trusted = found()

    expect([empty, untrusted]).toEqual(['/home/ada/.local/share/credence', '/home/ada/.local/share/credence'])
    expect([ignoredEmpty, ignored]).toEqual([[], [local]])
    expect(trusted).toBe(local)
  })

  it('is the directory that a project names only if the account trusts it', () => {
    using directory = temporaryDirectory()
    const ignored: string[] = []
    const onIgnored = (dir: string) => ignored.push(dir)

    const found = memoryDirectory({
      given: undefined,
      env: { XDG_STATE_HOME: join(directory.path, 'state') },
      cwd: () => directory.path,
      home,
      project: () => '/somewhere',
      onIgnored,
    })

    expect(found).toBe('/home/ada/.local/share/credence')
    expect(ignored).toEqual(['/somewhere'])
  })

  it("is otherwise in the user's data directory, which must be an absolute path", () => {
    using directory = temporaryDirectory()
    const here = { given: undefined, cwd: () => directory.path, home, onIgnored: expect.fail }

    expect(memoryDirectory({ ...here, env: { XDG_DATA_HOME: '/data', CREDENCE_DIR: '' } })).toBe('/data/credence')
    expect(memoryDirectory({ ...here, env: { XDG_DATA_HOME: 'data' } })).toBe('/home/ada/.local/share/credence')
  })
})

it('finds the settings of the user', () => {
  expect(userConfigFile({}, '/home/ada')).toBe('/home/ada/.config/credence/config.json')
  expect(userConfigFile({ XDG_CONFIG_HOME: '/etc/ada' }, '/home/ada')).toBe('/etc/ada/credence/config.json')
})

describe('findProjectFile', () => {
  it('finds the nearest file in the directory and its parents, or null', () => {
    using directory = temporaryDirectory()
    const deep = join(directory.path, 'a', 'b')
    mkdirSync(deep, { recursive: true })

    const before = findProjectFile(deep)
    writeFileSync(join(directory.path, projectFileName), '{"scope": "project:outer"}')
    const outer = findProjectFile(deep)
    writeFileSync(join(directory.path, 'a', projectFileName), '{"scope": "project:inner", "dir": "../memory"}')
    const inner = findProjectFile(deep)

    expect(before).toBeNull()
    expect(outer).toMatchObject({ scope: 'project:outer', dir: null, enabled: true })
    expect(inner).toMatchObject({ scope: 'project:inner', dir: join(directory.path, 'memory') })
  })

  it('ignores a directory with the name of the file', () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, projectFileName))
    symlinkSync('nowhere', join(directory.path, 'dangling'))

    expect(findProjectFile(directory.path)).toBeNull()
  })
})

describe('a project file', () => {
  it('lists the scope of new beliefs first', () => {
    const { scopes } = parseProjectFile('{"scopes": ["project:z", "user:universal", "domain:a", "project:z"]}', 'f')

    expect(scopes).toEqual(['project:z', 'domain:a', 'user:universal'])
  })

  it.each([
    ['{"scpoe": "project:x"}', 'Did you mean "scope"?'],
    ['{"scope": "project:x", "scopes": ["project:y"]}', 'Use only one of them.'],
    ['{"scopes": []}', 'Write a list of scopes.'],
    ['{"scope": "x"}', 'Write kind:path'],
    ['{"enabled": "no"}', 'Write true or false.'],
    ['{"dir": ""}', 'Write a non-empty text.'],
    ['[]', 'Write {"scope"'],
    ['{', 'Write {"scope"'],
  ])('with %s is refused with a message that shows a valid file', (text, hint) => {
    const parse = () => parseProjectFile(text, 'f')

    expect(parse).toThrow(MemoryError)
    expect(parse).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }))
  })

  it('is read completely or refused, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          const { scope, scopes } = parseProjectFile(text, 'f')
          expect(scope === null || scopes === null).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(MemoryError)
        }
      }),
    )
  })
})

function git(cwd: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'protocol.file.allow=always']
  // Removes Git's own variables: a git hook sets them for its repository, but the tests use other repositories.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  const { status, stdout, stderr } = spawnSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

function repository(path: string): string {
  mkdirSync(path, { recursive: true })
  git(path, 'init', '--quiet')
  git(path, 'commit', '--quiet', '--allow-empty', '--message', 'first')
  return path
}

/** Git's own answer. */
const asked = (cwd: string): string => git(cwd, 'rev-parse', '--path-format=absolute', '--git-common-dir')

describe('projectScope', () => {
  it('is the same in the whole repository and all its worktrees, also through a link', () => {
    using directory = temporaryDirectory()
    const main = repository(join(directory.path, 'Ledger App'))
    const worktree = join(directory.path, 'elsewhere', 'fix')
    git(main, 'worktree', 'add', '--quiet', worktree)
    mkdirSync(join(main, 'src', 'deep'), { recursive: true })
    symlinkSync(main, join(directory.path, 'link'))

    const scopes = [main, join(main, 'src', 'deep'), worktree, join(directory.path, 'link')].map(projectScope)

    expect(new Set(scopes).size).toBe(1)
    expect(scopes[0]).toMatch(/^project:ledger-app-[0-9a-f]{8}$/)
    expect(commonDirectory(worktree)).toBe(asked(worktree))
  })

  it('distinguishes repositories whose folders have the same name', () => {
    using directory = temporaryDirectory()
    const one = repository(join(directory.path, 'one', 'api'))
    const other = repository(join(directory.path, 'other', 'api'))

    expect(projectScope(one)).not.toBe(projectScope(other))
  })

  it('distinguishes a submodule from the repository around it, as git does', () => {
    using directory = temporaryDirectory()
    const library = repository(join(directory.path, 'library'))
    const main = repository(join(directory.path, 'main'))
    git(main, 'submodule', '--quiet', 'add', library, 'vendor')

    expect(commonDirectory(join(main, 'vendor'))).toBe(asked(join(main, 'vendor')))
    expect(projectScope(join(main, 'vendor'))).toMatch(/^project:vendor-/)
  })

  it('is shared by the worktrees of a bare repository, and named after it', () => {
    using directory = temporaryDirectory()
    const source = repository(join(directory.path, 'source'))
    const bare = join(directory.path, 'store.git')
    git(directory.path, 'clone', '--quiet', '--bare', source, bare)
    git(bare, 'worktree', 'add', '--quiet', join(directory.path, 'work'))

    expect(projectScope(join(directory.path, 'work'))).toMatch(/^project:store-/)
  })

  it('is null outside of a repository, and if .git is not a repository', () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'a', '.git'), { recursive: true })
    mkdirSync(join(directory.path, 'b'))
    writeFileSync(join(directory.path, 'b', '.git'), 'not a pointer')
    const moved = repository(join(directory.path, 'c'))
    git(moved, 'worktree', 'add', '--quiet', join(directory.path, 'd'))
    renameSync(moved, join(directory.path, 'gone'))

    expect(['a', 'b', 'd'].map((name) => projectScope(join(directory.path, name)))).toEqual([null, null, null])
  })

  it.each(['ünïcode プロジェクト', '...', 'a:b c', 'x'.repeat(200)])(
    'is a valid scope for a folder named %j',
    (name) => {
      using directory = temporaryDirectory()
      const scope = projectScope(repository(join(directory.path, name))) ?? ''

      expect(parseScope(scope)).toBe(scope)
    },
  )
})
