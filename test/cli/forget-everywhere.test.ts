import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { enqueue } from '../../src/cli/hooks/hook-queue.ts'
import { createSandbox } from './sandbox.ts'

const secret = 'The vault in Ostend opens with 48213-kestrel.'

/**
 * A memory with a mirror, a captured case and its run, a message in the queue, a backup, and a draft that a killed
 * process left behind.
 */
async function memoryWithCopies() {
  const place = createSandbox()
  const dir = join(place.work, 'memory')
  const at = ['--dir', dir] as const
  await place.run('remember', secret, '--name', 'vault code', '--alias', 'kestrel code', ...at)
  await place.run('remember', 'The office is in Ghent.', '--name', 'office', ...at)
  await place.run('mirror', 'sync', ...at)
  await place.run('hear', `By the way: ${secret}`, ...at)
  await place.json('benchmark', 'capture', 'How does the vault code work?', '--expect', 'vault code', ...at)
  await place.json('benchmark', 'capture', 'Where are office and vault code?', '--expect', 'office', ...at)
  await place.run('benchmark', 'run', 'my-cases', ...at)
  await place.json('backup', join(dir, 'before.db'), ...at)
  await place.json('backup', join(place.work, 'outside.db'), ...at)
  const message = { role: 'user', at: '2026-03-01T12:00:00.000Z', host: 'claude-code', session: 's', transcript: null }
  const scopes = ['user:universal']
  enqueue(dir, { ...message, role: 'user', text: `Note: ${secret}`, user: 'local', scopes, homeScopes: scopes })
  writeFileSync(join(dir, 'state', `.tmp-${2 ** 30}-0a0b0c0d-notes`), secret)
  const runs = join(dir, 'state', 'evals', 'runs')
  const queries = join(dir, 'state', 'queries.jsonl')
  writeFileSync(queries, `${JSON.stringify({ query: secret.toUpperCase(), kept: 'Ghent' })}\n`)
  return { ...place, dir, at, runs, queries }
}

/** Files below a directory that contain the text, ignoring case. */
function filesContaining(dir: string, text: string): readonly string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).toString('latin1').toLowerCase().includes(text))
}

it('forgets a belief and its turns in every file of the memory, and proves it', async () => {
  using place = await memoryWithCopies()
  const { dir, at } = place
  expect(filesContaining(dir, 'kestrel').length).toBeGreaterThanOrEqual(8)

  const answer = await place.json('forget', '--containing', 'kestrel', '--yes', '--verify', ...at)

  expect(filesContaining(dir, 'kestrel')).toEqual([])
  expect(answer).toMatchObject({
    turns: 1,
    beliefs: 1,
    erased: { unchanged: [] },
    proof: { found: [], alsoSaidByOthers: 0 },
    backups: [{ file: join(place.work, 'outside.db') }],
  })
  expect(answer.proof.texts).toBeGreaterThan(2)
  expect(answer.proof.bytes).toBeGreaterThan(100_000)
  expect(answer.erased.changed).toEqual(expect.arrayContaining([join(dir, 'before.db'), place.queries]))
  expect(JSON.parse(readFileSync(place.queries, 'utf8'))).toEqual({ query: '[forgotten].', kept: 'Ghent' })
})

it('keeps the rest usable: the backup, the other case, the run marked as edited', async () => {
  using place = await memoryWithCopies()
  const { dir, at } = place

  const forgotten = await place.run('forget', 'vault code', '--yes', '--verify', ...at)

  expect(forgotten).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Verified') })
  const elsewhere = ['--dir', join(place.work, 'elsewhere')] as const
  await place.json('restore', join(dir, 'before.db'), ...elsewhere)
  const { items } = await place.json('beliefs', ...elsewhere)
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['office'])
  expect((await place.run('doctor', ...elsewhere)).exitCode).toBe(0)
  expect((await place.run('doctor', ...at)).exitCode).toBe(0)
  const cases = JSON.parse(readFileSync(join(dir, 'state/evals/benchmarks/my-cases/cases.json'), 'utf8'))
  expect(cases.map(({ query }: { query: string }) => query)).toEqual(['Where are office and [forgotten]?'])
  const [summary = ''] = readdirSync(place.runs).filter((name) => name.endsWith('.json'))
  expect(JSON.parse(readFileSync(join(place.runs, summary), 'utf8'))).toHaveProperty('editedAt')
  expect(await place.json('benchmark', 'status', ...at)).toMatchObject({ runs: { invalid: 0 } })
  expect((await place.run('benchmark', 'snapshot', '--snapshot-id', 'main', ...at)).exitCode).toBe(3)
  expect((await place.run('benchmark', 'run', 'my-cases', ...at)).exitCode).toBe(0)
  expect((await place.run('benchmark', 'snapshot', '--snapshot-id', 'main', ...at)).exitCode).toBe(0)
})

it('removes the pack of captured cases with its last case', async () => {
  using place = await memoryWithCopies()
  await place.run('forget', 'office', '--yes', ...place.at)

  await place.run('forget', 'vault code', '--yes', ...place.at)

  expect(existsSync(join(place.dir, 'state/evals/benchmarks/my-cases'))).toBe(false)
})

it('lists the places that still contain a text, and exits with 5', async () => {
  using place = await memoryWithCopies()
  const { dir, at } = place
  mkdirSync(join(dir, 'notes'))
  writeFileSync(join(dir, 'notes', 'mine.md'), `I wrote: ${secret}\n`)

  const answer = await place.run('forget', '--containing', 'kestrel', '--yes', '--verify', '--json', ...at)
  const again = await place.run('forget', '--containing', 'kestrel', '--yes', '--verify', ...at)

  expect([answer.exitCode, again.exitCode]).toEqual([5, 5])
  expect(JSON.parse(answer.stdout).proof.found).toEqual([
    { file: join(dir, 'notes', 'mine.md'), times: expect.any(Number) },
  ])
  expect(again.stdout).toContain('notes/mine.md')
})

it('does not report the same words in other texts', async () => {
  using place = createSandbox()
  const at = ['--dir', join(place.work, 'memory')] as const
  await place.run('remember', 'The office is in Ghent.', '--name', 'office one', ...at)
  await place.run('hear', 'The office is in Ghent. I like it.', ...at)

  const answer = await place.json('forget', 'office one', '--yes', '--keep-turns', '--verify', ...at)

  expect(answer.proof).toMatchObject({ found: [], alsoSaidByOthers: 1, others: [expect.stringMatching(/^t-/)] })
})

it('reports in one sentence the erased items, and the beliefs and turns that still contain the text', async () => {
  using place = createSandbox()
  const at = ['--dir', join(place.work, 'memory')] as const
  await place.run('remember', 'The office is in Ghent.', '--name', 'Ghent headquarters', ...at)
  await place.run('hear', 'The office is in Ghent. I like it.', ...at)

  const { stdout } = await place.run('forget', 'Ghent headquarters', '--yes', '--keep-turns', '--verify', ...at)

  expect(stdout).toMatch(
    /Verified: .* Only this is left: 1 text, because these contain it and were kept on purpose: t-\w+\.$/mu,
  )
  expect(stdout).not.toMatch(/Nothing is left|Still stored/u)
})

it('lists the earlier versions that remain, before and after, and the command that forgets all', async () => {
  using place = createSandbox()
  const at = ['--dir', join(place.work, 'memory')] as const
  const { belief: first } = await place.json('remember', 'It is 48213.', '--name', 'vault code', ...at)
  const { belief: newest } = await place.json('correct', 'vault code', 'It is 99121.', ...at)

  const preview = await place.run('forget', 'vault code', '--dry-run', ...at)
  const document = await place.json('forget', 'vault code', '--dry-run', ...at)
  const ofOld = await place.run('forget', first.id, '--dry-run', ...at)
  const asked = await place.runWith(
    { columns: 80, stdin: 'n\n', env: { NO_COLOR: '1' } },
    'forget',
    'vault code',
    ...at,
  )
  const forgotten = await place.run('forget', 'vault code', '--yes', ...at)
  const rest = await place.json('forget', first.id, '--chain', '--yes', ...at)

  const command = `\`credence forget ${first.id} --chain\` forgets all versions.`
  for (const { stderr } of [preview, asked, forgotten]) {
    expect(stderr).toContain(`earlier version ${first.id} is kept: It is 48213.`)
    expect(stderr).toContain(command)
  }
  expect(ofOld.stderr).toContain(`later version ${newest.id} is kept: It is 99121.`)
  expect(document).toEqual({
    forgotten: false,
    beliefIds: [newest.id],
    kept: [first.id],
    turnIds: [],
    keptTurnIds: [],
  })
  expect(rest).toMatchObject({ beliefIds: [first.id], kept: [] })
})

it('removes the message that a belief was learned from, unless it is to be kept', async () => {
  using place = createSandbox()
  const at = ['--dir', join(place.work, 'memory')] as const
  await place.run('hear', 'Remember that our VPN gateway is vpn.acme.test', '--session', 'work', ...at)

  const preview = await place.run('forget', 'VPN gateway', '--dry-run', ...at)
  const kept = await place.run('forget', 'VPN gateway', '--yes', '--keep-turns', '--verify', ...at)
  const [turn] = /t-\w+/.exec(kept.stderr) ?? []
  const whole = await place.run('forget', turn ?? '', '--yes', '--verify', ...at)
  await place.run('hear', 'Remember that our VPN gateway is vpn.acme.test', '--session', 'play', ...at)
  const both = await place.run('forget', 'VPN gateway', '--yes', '--verify', ...at)

  expect(preview.stdout).toMatch(/go with it \(--keep-turns keeps them\):\n.*\(t-\w+\): .?Remember that our VPN/u)
  expect(kept.stderr).toMatch(/Kept on purpose, these messages state it:\n.*\(t-\w+\): .?Remember that our VPN/u)
  expect(kept.stdout).toContain('Still stored')
  expect(kept.stdout).not.toContain('Nothing is left')
  expect(whole.stdout).toMatch(/Verified: .* Nothing is left\./)
  expect(both.stdout).toMatch(/and 1 message that stated it\.[\s\S]*Verified: .* Nothing is left\./)
})

it('removes captured cases about a quote with its turn, and proves it', async () => {
  using place = createSandbox()
  const dir = join(place.work, 'memory')
  const at = ['--dir', dir] as const
  await place.run('hear', 'The gym code is 48213-kestrel since Monday. I wrote it down.', '--session', 's1', ...at)
  await place.run('hear', 'Our choir sings in Ghent on Thursday.', '--session', 's2', ...at)
  const gym = 'What is the gym code since Monday?'
  const capture = ['benchmark', 'capture'] as const
  const quoted = await place.json(...capture, gym, '--expect-quote', '48213-kestrel', ...at)
  const missing = await place.json(...capture, gym, '--expect-quote', 'in Ghent', ...at)
  const unwanted = await place.json(...capture, gym, '--forbid-quote', 'code is 48213', ...at)
  const other = await place.json(...capture, 'When does our choir sing in Ghent?', '--expect-quote', 'choir', ...at)
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ evalHarnessEnabled: true }))
  const run = await place.run('benchmark', 'run', 'my-cases', ...at)

  const turn = (await place.json('conversations', 'show', 's1', ...at)).turns[0].id
  const answer = await place.json('forget', '--turn', turn, '--yes', '--verify', ...at)

  expect([quoted, missing, unwanted, other].map(({ passesNow }) => passesNow)).toEqual([true, false, false, true])
  expect([quoted, missing, unwanted, other].every(({ isFaithful }) => isFaithful)).toBe(true)
  expect(run.stdout).toMatch(/my-cases +credence-vectors +function +completed +2\/4/u)
  expect(answer.proof.found).toEqual([])
  expect(filesContaining(dir, 'kestrel')).toEqual([])
  expect(filesContaining(dir, '48213')).toEqual([])
  const pack = join(dir, 'state/evals/benchmarks/my-cases')
  const left: readonly { readonly caseId: string }[] = JSON.parse(readFileSync(join(pack, 'cases.json'), 'utf8'))
  expect(left.map(({ caseId }) => caseId)).toEqual([missing.caseId, other.caseId])
  expect((await place.run('benchmark', 'run', 'my-cases', ...at)).stdout).toMatch(/1\/2/u)
})
