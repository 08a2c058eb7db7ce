import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import {
  Cluster,
  password,
  postgresPrograms,
  sharedCluster,
  undurable,
} from '../../src/store/postgres/cluster.contract.ts'

const program = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'credence-postgres-cli-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const timeout = 300_000

describe.skipIf(postgresPrograms === null)('The command line with a PostgreSQL store', () => {
  const cluster = sharedCluster(undurable)
  /** Output, errors and exit code. None of them may contain the password. */
  const credence = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...argv], {
      cwd: home,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: join(home, 'data'), ...env },
    })
    expect(stdout + stderr).not.toContain(password)
    return { stdout, stderr, status }
  }

  it('remembers, recalls, mirrors, forgets and checks, and creates no SQLite file', { timeout }, async () => {
    const env = { CREDENCE_STORE: await (await cluster()).newDatabase() }
    const made = credence(['init', '--dir', 'm'], env)
    expect(made).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^The memory is in postgres:.*its files are in/u),
    })
    expect(credence(['status', '--dir', 'm'], env).stdout).toMatch(/^store +postgres:\/\/credence@127.0.0.1/mu)

    credence(['remember', 'Invoices are due after 14 days.', '--name', 'payment terms', '--dir', 'm'], env)
    expect(credence(['recall', 'our paymnt terms?', '--dir', 'm', '--store', env.CREDENCE_STORE]).stdout).toContain(
      '14 days',
    )
    expect(readFileSync(join(home, 'm', 'MEMORY.md'), 'utf8')).toContain('14 days')
    expect(credence(['doctor', '--dir', 'm', '--json'], env)).toMatchObject({
      stdout: expect.stringContaining('one chain each'),
    })
    const forgotten = credence(['forget', 'payment terms', '--yes', '--verify', '--dir', 'm'], env)
    expect(forgotten).toMatchObject({ status: 0, stderr: expect.stringContaining('write-ahead log') })
    expect(credence(['recall', 'our payment terms?', '--dir', 'm'], env).stdout).not.toContain('14 days')
    expect(readFileSync(join(home, 'm', 'MEMORY.md'), 'utf8')).not.toContain('14 days')
    expect(readdirSync(join(home, 'm', 'state'))).not.toContain('credence.db')
  })

  it('joins the memory of a member with that of the team, as the role allows', { timeout }, async () => {
    const env = { CREDENCE_STORE: await (await cluster()).newDatabase() }
    const as = (user: string, ...argv: readonly string[]) => credence([...argv, '--dir', 't', '--user', user], env)
    for (const person of ['ana', 'ben']) credence(['people', 'add', person, '--dir', 't'], env)
    credence(['team', 'create', 'platform', '--owner', 'ana', '--dir', 't'], env)
    const told = as('ana', 'remember', 'Deploys happen on Tuesdays.', '--name', 'deploys', '--scope', 'team:platform')

    expect(told).toMatchObject({ status: 0, stderr: '' })
    expect(as('ben', 'recall', 'When are deploys?').stdout).toBe('')
    expect(as('ben', 'search', 'deploys', '--scope', 'team:platform').stderr).toContain('not a member')
    credence(['team', 'add-member', 'platform', 'ben', '--role', 'reader', '--dir', 't'], env)
    expect(as('ben', 'recall', 'When are deploys?', '--render').stdout).toContain('(team platform, from ana) deploys')
    expect(as('ben', 'correct', 'deploys', 'Deploys happen on Fridays.').stderr).toContain('reader of the team')
  })

  it('reads without the database, reports how old the answers are, and refuses changes', { timeout }, async () => {
    const server = await Cluster.start()
    const env = { CREDENCE_STORE: server.address() }
    credence(['remember', 'Invoices are due after 14 days.', '--name', 'payment terms', '--dir', 'o'], env)
    await server.kill()

    const reads = {
      'recall our payment terms?': '14 days',
      'search payment': '14 days',
      beliefs: '14 days',
      'show payment terms': '14 days',
      history: 'payment terms',
      export: '14 days',
      conversations: '',
      status: '1 belief',
    }
    const answers = Object.keys(reads).map((line) => {
      const [command = '', ...words] = line.split(' ')
      return credence([command, ...(words.length > 0 ? [words.join(' ')] : []), '--dir', 'o'], env)
    })
    const refused = credence(['remember', 'The boat is blue.', '--dir', 'o'], env)

    for (const [at, found] of Object.values(reads).entries()) {
      expect(answers[at], String(answers[at]?.stderr)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(found),
      })
      expect(answers[at]?.stderr).toMatch(
        /^warning: PostgreSQL cannot be reached. This is the memory as of \d{4}-\d\d-\d\d \d\d:\d\d\.$/mu,
      )
    }
    expect(refused).toMatchObject({ status: 3, stderr: expect.stringContaining('Every change needs this connection.') })
    await server.stop()
  })

  it('reports problems with an address, a password, a database or a server', { timeout }, async () => {
    const server = await cluster()
    const recall = (store: string) => credence(['recall', 'hello', '--dir', 'w', '--store', store])

    expect(recall(server.address().replace(password, 'wrong')).stderr).toContain('does not let the user "credence" in')
    expect(recall(server.address('missing')).stderr).toContain('There is no database "missing"')
    expect(recall(server.address('postgres', 1)).stderr).toContain('connection refused')
    expect(recall(`mysql://credence:${password}@127.0.0.1/x`).stderr).toContain('does not begin with postgres://')
    expect(recall(`postgres://credence:${password}@127.0.0.1`).stderr).toContain('names no database')
    expect(recall(`${server.address()}?shards=2`).stderr).toContain('unknown parameter "shards"')
  })
})
