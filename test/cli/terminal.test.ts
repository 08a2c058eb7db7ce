import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { jsonLines, write } from '../transfer/chat-files.ts'
import { createSandbox } from './sandbox.ts'

type CliSandbox = ReturnType<typeof createSandbox>

/** Runs a command line at a terminal with colours, at which these characters are typed. */
const atTerminal = (place: CliSandbox, typed: string, ...argv: readonly string[]) =>
  place.runWith({ columns: 100, stdin: typed, platform: 'linux' }, ...argv)

describe('at a terminal', () => {
  it('comparisons have colours, without the characters of escape codes', async () => {
    using place = createSandbox()
    const run = (...argv: readonly string[]) => atTerminal(place, '', 'benchmark', ...argv, '--evals', 'evals')
    await run('run', 'session-drift', '--run-id', 'good')
    await run('run', 'session-drift', '--run-id', 'bad', '--system', 'none')
    await run('snapshot', '--snapshot-id', 'main')
    write(place.work, 'evals/runs/broken.json', '{')

    const shown = [
      await atTerminal(place, '', 'benchmark', 'gate', '--base', 'evals', '--candidate', 'evals'),
      await run('diff', 'good', 'bad'),
      await run('status'),
    ]

    for (const { stdout } of shown) {
      expect(stdout.includes('\u001b[31m') || stdout.includes('\u001b[32m')).toBe(true)
      expect(stdout).not.toContain('\ufffd')
    }
  })

  it('stored and typed text cannot control it, and exported turns keep their characters', async () => {
    using place = createSandbox()
    await place.run('hear', 'The boathouse\u001b[2J key \u202ehangs there.', '--session', 'a\u001b[2Jb')
    const shown = [
      await place.run('search', 'boathouse key'),
      await place.run('conversations'),
      await atTerminal(place, '', 'conversations', 'a\u001b[2Jb'),
      await place.run('show', 'x\u001b[2Jy'),
      await place.run('forget', '--containing', 'boathouse', '--dry-run'),
    ]
    const exported = await place.run('export', '--turns')

    for (const { stdout, stderr } of shown) {
      expect(stdout + stderr).toContain('\ufffd')
      for (const power of ['\u001b[2J', '\u202e']) expect(stdout + stderr).not.toContain(power)
    }
    expect(JSON.parse(exported.stdout).text).toBe('The boathouse\u001b[2J key \u202ehangs there.')
    expect(exported.stdout).toContain('\u202e')
  })

  it.each([
    ['y\n', 1, /Corrected/],
    ['\n', 2, /Remembered/],
  ])('remember asks once whether to replace another value: %j', async (typed, count, outcome) => {
    using place = createSandbox()
    await place.run('remember', 'The build server is larch.')

    const { stdout, stderr } = await atTerminal(place, typed, 'remember', 'The build server is birch.')
    const { relevant } = await place.json('recall', 'Is the build server up?')
    const { chain } = await place.json('history', relevant[0].belief.id)

    // If the belief was replaced, its history has both statements under one name.
    expect(chain).toHaveLength(3 - count)
    expect(relevant[0].belief.aliases.join()).not.toMatch(/\(2\)/)
    expect(stderr.split('Replace it? [y/N]').length - 1).toBe(1)
    expect(stdout).toMatch(outcome)
    expect(relevant).toHaveLength(count)
  })

  it('connect explains once what will be stored', async () => {
    using place = createSandbox()

    const { exitCode, stderr } = await atTerminal(place, 'n\ny\n', 'connect', 'claude-code')

    expect(exitCode).toBe(0)
    expect(stderr.split('word for word').length - 1).toBe(1)
  })

  it('review asks again after an unknown letter, and ends the line of an interrupted question', async () => {
    using place = createSandbox()
    await place.run('import', 'chats', write(place.work, 'a.jsonl', jsonLines(aTurn('I prefer tabs over spaces.'))))

    const wrong = await atTerminal(place, 'x\nq\n', 'review')
    const interrupted = await atTerminal(place, '\u0003', 'review')

    expect(wrong.stderr.split('[a]ccept')).toHaveLength(3)
    expect(interrupted).toMatchObject({
      exitCode: 130,
      stderr: expect.stringMatching(/\[q\]uit, then Enter: [^a-z]*\n$/),
    })
  })

  it('an interrupted confirmation ends its line', async () => {
    using place = createSandbox()
    await place.run('remember', 'A dinghy.', '--name', 'Albatross')
    const stdin = new PassThrough()
    const asked = place.runWith({ columns: 80, stdin, env: { NO_COLOR: '1' } }, 'forget', 'Albatross')
    stdin.write('\u0003')

    const { exitCode, stderr } = await asked

    expect(exitCode).toBe(130)
    expect(stderr.endsWith('\n')).toBe(true)
  })
})

describe('output for a person', () => {
  it.each([
    ['by npx', { npm_command: 'exec', PATH: '/clone/node_modules/.bin:/usr/bin' }, 'npx credence'],
    ['by npm start', { npm_command: 'start', PATH: '/usr/bin' }, 'npx credence'],
    ['by its name', { PATH: '/usr/bin' }, 'credence'],
  ])('shows commands as they are typed, if the program was started %s', async (_, env, command) => {
    using place = createSandbox()

    const created = await place.runWith({ env }, 'init')
    const lost = await place.runWith({ env }, 'show', 'nothing')

    expect(created.stdout).toContain(`\n  ${command} recall "`)
    expect(created.stderr).toContain(`\`${command} pause\` stops that`)
    expect(lost.stderr).toContain(`with \`${command} beliefs\`, or look for words with \`${command} search\``)
  })

  it('forget lists the beliefs that are removed with the turns', async () => {
    using place = createSandbox()
    await place.run('remember', 'We meet in Lisbon.', '--name', 'meeting place')
    await place.run('hear', 'By the way, I moved to Lisbon.', '--session', 'a')

    const { stdout } = await place.run('forget', '--containing', 'Lisbon', '--dry-run')

    expect(stdout).toContain('1 turn and 1 belief')
    expect(stdout).toContain('"meeting place"')
    expect(stdout).toContain('We meet in Lisbon.')
  })

  it('resume reports a pause that remains', async () => {
    using place = createSandbox()
    await place.run('pause', '--here')

    const { stdout, stderr } = await place.run('resume')

    expect(stdout).toBe('There was no pause for all directories.\n')
    expect(stderr).toBe(
      `Still paused in ${place.work} until resumed; \`credence resume --in ${place.work}\` ends it.\n`,
    )
  })

  it('recall reports how far the best turn is from being shown', async () => {
    using place = createSandbox()
    await place.run('hear', 'Remember that Ada Okafor signs off every release.', '--session', 'a', '--at', '2026-03-01')

    const unclear = ['recall', 'Which release of the operating system is it?', '--near-misses']
    const { stdout } = await place.runWith({ env: { CREDENCE_SEMANTIC: 'off' } }, ...unclear)
    const near = await place.run(...unclear)

    expect(near.stdout).toMatch(
      /\(2026-03-01\)\. The\s+probability that one of the five best-ranked turns helps is 0\.\d+;/,
    )
    expect(stdout).toMatch(
      /Why no quote is shown\n {2}The best was "Remember that Ada Okafor signs off every release\." \(2026-03-01\)\. By\s+words alone, the probability that one of the five best-ranked turns helps is 0\.\d+; quotes are shown as perhaps relevant from 0\.\d+\s+on, and as sure from 0\.\d+ on\./,
    )
  })

  it('recall explains a quote by the features behind its probability', async () => {
    using place = createSandbox()
    await place.run('hear', 'I rented a kayak near Voss in Norway.', '--session', 'a')

    const { stdout } = await place.run('recall', 'Where did I rent that kayak in Norway?', '--explain')

    expect(stdout).toMatch(/\n {4}\S+ \+ [^\n]* \(bias\) = \S+ \(log odds that it helps\)\n/)
    expect(stdout).toMatch(
      /\n {6}1 \(value\) × \S+ \(weight\) = \S+ \(sentence: "I rented a kayak near Voss in Norway\."\)\n/,
    )
  })

  it.each([
    [['import', 'chat', 'x'], 'Did you mean `credence import chats`?'],
    [['connect', 'claude-cod'], 'Did you mean claude-code?'],
    [['benchmark', 'run', 'retrieval-precison'], 'Did you mean retrieval-precision?'],
    [['import', '.'], '`credence import chats`'],
  ])('%j prints %s', async (argv, hint) => {
    using place = createSandbox()

    const { exitCode, stderr } = await place.run(...argv)

    expect(exitCode).not.toBe(0)
    expect(stderr).toContain(hint)
  })
})

const aTurn = (text: string) => ({ session: 'a', at: '2026-03-01T10:00:00Z', text })
