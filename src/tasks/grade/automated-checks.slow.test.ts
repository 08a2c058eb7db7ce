import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { keptEvidence, taskWith } from '../../../test/tasks/recorded-evidence.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { defaultLimits, type GraderLimits, gradeAutomatically } from './automated-checks.ts'
import { type Confinement, explainFailure, findPython, openSandbox } from './sandbox.ts'

const python = await findPython()
const sandbox = await openSandbox({ python })
const isConfined = sandbox.state === 'ready'

type Circumstances = { readonly files?: Record<string, string>; readonly limits?: Partial<GraderLimits> }

async function graded(automatedChecks: string, { files = {}, limits = {} }: Circumstances = {}) {
  using directory = temporaryDirectory()
  const evidence = keptEvidence(directory.path, {
    files,
    sessions: [{ id: 'only', prompt: 'Say hello.', answer: 'Hello.' }],
  })
  return await gradeAutomatically({
    task: taskWith([], { automatedChecks }),
    evidence,
    folder: directory.path,
    sandbox,
    limits: { ...defaultLimits, wallClockMs: 20_000, ...limits },
  })
}

const commandsRunning = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })

const returning = (expression: string): string => `def grade(transcript, workspace_path):\n    return ${expression}\n`
const trying = (body: string): string => `
def grade(transcript, workspace_path):
    try:
${body.replaceAll(/^/gmu, '        ')}
        return {"succeeded": 1}
    except BaseException as problem:
        return {"succeeded": 0}
`

describe.skipIf(!isConfined)('a grader in the sandbox', () => {
  it('sees the transcript and the workspace, and its scores are averaged', async () => {
    const checks = `
import json, re
from pathlib import Path
def grade(transcript: list, workspace_path: str) -> dict:
    texts = [block["text"] for entry in transcript if entry.get("type") == "message" for block in entry["message"]["content"]]
    return {
        "asked": texts[0] == "Say hello.",
        "said": 1.0 if "Hello." in texts else 0.0,
        "kept": 0.5 * (Path(workspace_path) / "deep" / "note.md").read_text().count("ü"),
        "none": 0,
    }
`
    const grade = await graded(checks, { files: { 'deep/note.md': 'ü' } })

    expect(grade).toMatchObject({
      state: 'scored',
      score: 0.625,
      scores: { asked: 1, said: 1, kept: 0.5, none: 0 },
    })
  })

  it('has no file descriptor that the caller left open', async () => {
    const outside = openSync('/', 'r')
    const modules = ['automated-checks', 'sandbox'].map((name) =>
      JSON.stringify(join(import.meta.dirname, `${name}.ts`)),
    )
    const checks = trying('import os\nos.listdir(20)')
    const program = `
      const [{ defaultLimits, runGrader }, { findPython, openSandbox }] =
        await Promise.all([${modules.map((path) => `import(${path})`)}])
      const python = await findPython()
      const { confine } = await openSandbox({ python })
      const job = { python, workspace: null, workspaceBytes: 0, limits: defaultLimits, transcript: [] }
      console.log(JSON.stringify(await runGrader(confine, { ...job, code: ${JSON.stringify(checks)} })))`
    // Opens descriptor 20 in the program, and in all descendants that do not close it.
    const stdio = ['ignore' as const, 'pipe' as const, 'inherit' as const, ...Array(17).fill('ignore'), outside]

    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { stdio, encoding: 'utf8' })

    closeSync(outside)
    expect(JSON.parse(stdout)).toEqual({ scores: { succeeded: 0 }, output: '' })
  })

  it.each([
    ['an exception', returning('{}["missing"]'), 'The grader raised KeyError in line 2'],
    ['no function', 'x = 1', 'define no function named grade'],
    ['a broken file', 'def grade(:', 'SyntaxError'],
    ['a list', returning('[1]'), 'not a dict'],
    ['nothing', returning('None'), 'not a dict'],
    ['no scores', returning('{}'), 'no scores'],
    ['not a number', returning('{"a": float("nan")}'), 'nan for "a"'],
    ['infinity', returning('{"a": float("inf")}'), 'inf for "a"'],
    ['more than one', returning('{"a": 85}'), '85 for "a"'],
    ['less than zero', returning('{"a": -0.1}'), '-0.1 for "a"'],
    ['a string', returning('{"a": "1.0"}'), '\'1.0\' for "a"'],
    ['an exit', 'import sys\nsys.exit(0)', 'SystemExit'],
    ['an exit without output', 'import os\nos._exit(0)', 'without a result'],
  ])('that ends in %s is a grader error and never a zero', async (_, checks, reason) => {
    const grade = await graded(checks)

    expect(grade).toMatchObject({ state: 'grader_error', reason: expect.stringContaining(reason) })
  })

  it('is stopped if it runs too long, with every process it started', async () => {
    const mark = `left-behind-${randomUUID()}`
    const checks = `
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "${mark}"], start_new_session=True)
def grade(transcript, workspace_path):
    while True:
        pass
`
    const grade = await graded(checks, { limits: { wallClockMs: 1_500 } })

    expect(grade).toMatchObject({ state: 'grader_error', reason: 'The grader took longer than 1500 ms.' })
    await vi.waitFor(() => expect(commandsRunning().filter((command) => command.includes(mark))).toEqual([]))
  })

  it('cannot start processes without limit', async () => {
    const checks = `
import os, time
def grade(transcript, workspace_path):
    started = 0
    for _ in range(200):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
    return {"share": started / 200}
`
    const grade = await graded(checks, { limits: { processes: 32 } })

    expect(grade.state).toBe('scored')
    if (grade.state === 'scored') expect(grade.score).toBeLessThanOrEqual(32 / 200)
  })

  it('reaches no network, not even a server on the same machine', async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      const grade = await graded(trying(`import socket\nsocket.create_connection(("127.0.0.1", ${port}), 2)`))

      expect(grade).toMatchObject({ state: 'scored', score: 0 })
    } finally {
      server.close()
    }
  })

  it('reads nothing outside its workspace', async () => {
    using directory = temporaryDirectory()
    const secret = join(directory.path, 'secret')
    writeFileSync(secret, 'secret')

    for (const path of [secret, '/etc/shadow', '/etc/hostname', '/proc/self/environ', '/proc/1/cmdline'])
      expect(await graded(trying(`open(${JSON.stringify(path)}).read()`))).toMatchObject({ score: 0 })
    const home = await graded(returning(`{"a": len(__import__("os").listdir(${JSON.stringify(directory.path)}))}`))
    expect(home).toMatchObject({ state: 'grader_error', reason: expect.stringContaining('FileNotFoundError') })
  })

  it('does not follow a link out of the workspace', async () => {
    using directory = temporaryDirectory()
    const secret = join(directory.path, 'secret')
    writeFileSync(secret, 'secret')
    const evidence = keptEvidence(directory.path, { files: { 'a.txt': 'a' } })
    symlinkSync(secret, join(directory.path, 'workspace', 'link'))

    const grade = await gradeAutomatically({
      task: taskWith([], { automatedChecks: trying('open(workspace_path + "/link").read()') }),
      evidence,
      folder: directory.path,
      sandbox,
    })

    expect(grade).toMatchObject({ state: 'scored', score: 0 })
  })

  it('has an empty environment', async () => {
    const grade = await graded(returning('{"empty": set(__import__("os").environ) <= {"LC_CTYPE"}}'))

    expect(grade).toMatchObject({ state: 'scored', score: 1 })
  })

  it('gets no more memory, file size or output than allowed', async () => {
    const memory = await graded(trying('text = bytearray(2 * 1024 ** 3)'))
    const file = await graded(trying('with open("large", "wb") as file: file.write(bytes(80 * 1024 ** 2))'))
    const output = await graded('while True: print("x" * 10000)', { limits: { outputBytes: 100_000 } })
    const disk = await graded(
      trying('for index in range(8):\n    open("f" + str(index), "wb").write(bytes(8 * 1024 ** 2))'),
      { limits: { scratchBytes: 32 * 1024 ** 2 } },
    )

    expect(memory).toMatchObject({ state: 'scored', score: 0 })
    expect(file).toMatchObject({ state: 'scored', score: 0 })
    expect(disk).toMatchObject({ state: 'scored', score: 0 })
    expect(output).toMatchObject({ state: 'grader_error', reason: 'The grader printed more than 100000 bytes.' })
  })

  it('writes to a copy and leaves the evidence unchanged', async () => {
    using directory = temporaryDirectory()
    const evidence = keptEvidence(directory.path, { files: { 'note.md': 'before' } })

    const grade = await gradeAutomatically({
      task: taskWith([], {
        automatedChecks: `
from pathlib import Path
def grade(transcript, workspace_path):
    note = Path(workspace_path) / "note.md"
    note.write_text("after")
    (Path(workspace_path) / "more").mkdir()
    return {"written": note.read_text() == "after"}
`,
      }),
      evidence,
      folder: directory.path,
      sandbox,
    })

    expect(grade).toMatchObject({ state: 'scored', score: 1 })
    expect(readFileSync(join(directory.path, 'workspace', 'note.md'), 'utf8')).toBe('before')
  })

  it('cannot be replaced by a program that the agent left in the workspace', async () => {
    const forge = `
import os
for number in range(3, 64):
    try:
        os.write(number, b'{"scores": [["forged", {"number": 1.0}]]}')
    except OSError:
        pass
print('{"scores": [["forged", {"number": 1.0}]]}')
`
    const checks = `
import os, subprocess, sys
def grade(transcript, workspace_path):
    subprocess.run([sys.executable, "forge.py"], close_fds=False)
    os.system(sys.executable + " forge.py")
    return {"honest": 0}
`
    const grade = await graded(checks, { files: { 'forge.py': forge } })

    expect(grade).toMatchObject({ state: 'scored', scores: { honest: 0 }, score: 0 })
  })

  it('is ignored if it returns two results', async () => {
    const checks = `
import os
os.write(3, b'{"scores": [["early", {"number": 1.0}]]}')
def grade(transcript, workspace_path):
    return {"late": 0}
`
    expect(await graded(checks)).toMatchObject({
      state: 'grader_error',
      reason: expect.stringContaining('one document'),
    })
  })
})

// A short form of the checks of the second-brain task: a file must exist, and is searched for five facts.
const secondBrain = `
from pathlib import Path
def grade(transcript, workspace_path):
    places = ["memory/MEMORY.md", "MEMORY.md", "memory.md"]
    found = [Path(workspace_path) / place for place in places if (Path(workspace_path) / place).exists()]
    if not found:
        return {"memory_tool_used": 0.0, "recall_tool_used": 0.0}
    text = found[0].read_text().lower()
    facts = [["rust"], ["january", "2024"], ["elena", "vasquez"], ["neondb"], ["purple", "elephant", "sunrise"]]
    return {"memory_tool_used": 1.0, "recall_tool_used": sum(all(word in text for word in words) for words in facts) / 5.0}
`
const told = (date: string): string =>
  `Language: Rust\nSince: ${date}\nMentor: Dr. Elena Vasquez, Stanford\nProject: NeonDB\nPhrase: purple elephant sunrise\n`

describe.skipIf(!isConfined)('the checks of the second-brain task', () => {
  it.each([
    ['all facts as given', { 'memory/MEMORY.md': told('January 15, 2024') }, 1],
    ['the date in digits', { 'memory/MEMORY.md': told('2024-01-15') }, 0.9],
    ['a short month', { 'memory/MEMORY.md': told('Jan 15, 2024') }, 0.9],
    ['a wrong day', { 'memory/MEMORY.md': told('January 3, 2024') }, 1],
    [
      'all words in one jumble',
      { 'memory/MEMORY.md': 'no rust january 2024 elena vasquez neondb purple elephant sunrise' },
      1,
    ],
    ['another file', { 'memory/2026-03-06.md': told('January 15, 2024') }, 0],
    ['an empty file', { 'memory/MEMORY.md': '' }, 0.5],
    ['no answer', {}, 0],
  ])('%s', async (_, files, score) => {
    const grade = await graded(secondBrain, { files })

    expect(grade).toMatchObject({ state: 'scored' })
    if (grade.state === 'scored') expect(grade.score).toBeCloseTo(score, 10)
  })
})

describe('without a sandbox', () => {
  it('no grader is run, and the reason is reported', async () => {
    const none = await openSandbox({ python: null })

    expect(none).toEqual({ state: 'none', reason: 'There is no python3 on this machine.' })
    await expect(findPython('no-such-python')).resolves.toBeNull()
    using directory = temporaryDirectory()
    const grade = await gradeAutomatically({
      task: taskWith([], { automatedChecks: returning('{"a": 1}') }),
      evidence: keptEvidence(directory.path, {}),
      folder: directory.path,
      sandbox: none,
    })
    expect(grade).toEqual({ state: 'skipped', reason: 'There is no python3 on this machine.' })
  })

  it.skipIf(python === null)('graders are refused', async () => {
    const refused = await openSandbox({ python, candidates: [] })
    const leaking = await openSandbox({ python, candidates: [unconfined] })

    expect(refused).toEqual({ state: 'none', reason: 'Python checks need a sandbox: this system has none.' })
    expect(leaking).toMatchObject({ state: 'none', reason: expect.stringContaining('it does not isolate') })
  })

  it.skipIf(python === null)('the probe notices missing isolation', async () => {
    const reason = python === null ? null : await explainFailure(unconfined, python)

    expect(reason).toMatch(/does not isolate .*outside/u)
    expect(reason).toMatch(/network/u)
  })
})

/** Runs a grader without isolation, on a copy of the workspace. */
const unconfined: Confinement = async ({ python: { executable }, workspace }, args) => {
  const copy = mkdtempSync(join(tmpdir(), 'credence-unconfined-'))
  if (workspace !== null) cpSync(workspace, copy, { recursive: true })
  const remove = async () => rmSync(copy, { recursive: true, force: true })
  return { program: executable, args, env: {}, workspace: copy, remove }
}
