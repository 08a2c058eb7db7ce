import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAlive, program, startsStubbornChild } from '../../../test/tasks/program.ts'
import { sampleTask, taskText } from '../../../test/tasks/sample-task.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { noUsage } from '../../models/chat-model.ts'
import { type Agent, AgentFailure, type AgentTurn, noneAgent } from '../agent.ts'
import { commandAgent } from '../agents/command/command-agent.ts'
import { anyCommand } from '../agents/command/profiles.ts'
import { parseTask } from '../parse/parse-task.ts'
import { changedFiles, readEvidence, readTranscript } from './evidence-folder.ts'
import { type Assignment, executeTask } from './execute-task.ts'

type Step = (place: {
  readonly workspace: string
  readonly prompt: string
  readonly signal: AbortSignal
}) => Promise<string>

/** An agent made from a function; its conversations count their messages. */
const agentOf = (step: Step, { id }: { readonly id?: string } = {}): Agent => {
  let opened = 0
  return {
    name: 'test',
    version: '1',
    model: null,
    unavailable: async () => null,
    start: async ({ workspace }) => ({
      open: async () => {
        let count = 0
        opened += 1
        const own = id ?? `conversation-${opened}`
        return {
          id: own,
          process: null,
          messageCount: () => count,
          send: async (prompt, signal): Promise<AgentTurn> => {
            const answer = await step({ workspace, prompt, signal })
            count += 2
            const usage = { ...noUsage, output: 1 }
            return { answer, usage, messages: [{ role: 'assistant', content: [{ type: 'text', text: answer }] }] }
          },
          close: async () => {},
        }
      },
      stop: async () => {},
    }),
  }
}

/** Writes a prompt that begins with "My" to a file, and answers other prompts from the file. */
const noteTaker = (): Agent =>
  agentOf(async ({ workspace, prompt }) => {
    const file = join(workspace, 'memory', 'MEMORY.md')
    if (prompt.startsWith('My')) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, prompt)
      return 'Saved.'
    }
    return existsSync(file) ? readFileSync(file, 'utf8') : 'I do not know.'
  })

const assignment = (folder: string, more: Partial<Assignment> = {}): Assignment => ({
  task: sampleTask(),
  agent: noteTaker(),
  folder,
  repeat: 1,
  seed: 1,
  control: 'none',
  signal: new AbortController().signal,
  now: () => new Date('2026-01-02T03:04:05Z'),
  ...more,
})

describe('running a task', () => {
  it('records every session, proves that the new session is new, and stores all files with their hashes', async () => {
    using directory = temporaryDirectory()

    const evidence = await executeTask(assignment(directory.path))

    expect(evidence).toMatchObject({ outcome: 'done', reason: null, isComplete: true, taskId: 'boat' })
    expect(
      evidence.sessions.map(({ id, conversationId, priorMessages, outcome }) => [
        id,
        conversationId,
        priorMessages,
        outcome,
      ]),
    ).toEqual([
      ['tell', 'conversation-1', 0, 'answered'],
      ['same', 'conversation-1', 2, 'answered'],
      ['later', 'conversation-2', 0, 'answered'],
    ])
    expect(evidence.sessions[2]?.answer).toContain('Petrel')
    expect(evidence.usage.output).toBe(3)
    expect(evidence.workspace.map(({ path }) => path)).toEqual(['workspace/memory/MEMORY.md'])
    expect(evidence.events).toMatchObject([
      { kind: 'files_changed', session: 'tell', written: ['memory/MEMORY.md'], removed: [] },
    ])
    expect(await readEvidence(directory.path)).toEqual(evidence)
    expect(await changedFiles(directory.path, evidence)).toEqual([])
  })

  it('writes transcripts for graders: messages of blocks, including prompts, with boundaries between sessions', async () => {
    using directory = temporaryDirectory()

    const { transcript, sessions } = await executeTask(assignment(directory.path))

    if (transcript === null) throw new Error('There is a transcript.')
    const entries = await readTranscript(directory.path, transcript)
    expect(entries.map(({ type }) => type).join(' ')).toBe(
      'session custom message message custom message message session custom message message',
    )
    const messages = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
    expect(messages[0]).toEqual({ role: 'user', content: [{ type: 'text', text: sampleTask().sessions[0]?.prompt }] })
    expect(entries.filter(({ type }) => type === 'custom')).toMatchObject([
      { data: { session: 'tell', isFresh: true, priorMessages: 0 } },
      { data: { session: 'same', isFresh: false, priorMessages: 2 } },
      { data: { session: 'later', isFresh: true, priorMessages: 0, conversationId: 'conversation-2' } },
    ])
    expect(sessions.map((session) => session.transcript?.path)).toEqual([
      'sessions/01-tell.jsonl',
      'sessions/02-same.jsonl',
      'sessions/03-later.jsonl',
    ])
  })

  it('notices later changes of evidence', async () => {
    using directory = temporaryDirectory()
    const evidence = await executeTask(assignment(directory.path))

    writeFileSync(join(directory.path, 'workspace/memory/MEMORY.md'), 'Something else.')

    expect(await changedFiles(directory.path, evidence)).toEqual(['workspace/memory/MEMORY.md'])
  })

  it('removes the memory before the new session if the control requires it, and reports what was removed', async () => {
    using directory = temporaryDirectory()

    const evidence = await executeTask(assignment(directory.path, { control: 'no-memory' }))

    expect(evidence.sessions.map(({ answer }) => answer)).toEqual([
      'Saved.',
      expect.stringContaining('Petrel'),
      'I do not know.',
    ])
    expect(evidence.events.filter(({ kind }) => kind === 'memory_removed')).toMatchObject([
      { session: 'later', paths: ['memory'] },
    ])
    expect(evidence.workspace).toEqual([])
  })

  it('copies fixtures into the workspace byte for byte, and separates the workspace from the evidence', async () => {
    using directory = temporaryDirectory()
    const bytes = Buffer.from([0, 255, 128, 10, 13])
    mkdirSync(join(directory.path, 'tasks'))
    mkdirSync(join(directory.path, 'assets'))
    writeFileSync(join(directory.path, 'assets', 'raw.bin'), bytes)
    const file = join(directory.path, 'tasks', 'boat.md')
    const frontMatter = 'workspace_files:\n  - { source: raw.bin, dest: in/raw.bin }\n  - { path: a.txt, content: hi }'
    writeFileSync(file, taskText({ frontMatter }))
    const task = parseTask(readFileSync(file), file)
    const seen: string[] = []
    const agent = agentOf(async ({ workspace }) => {
      seen.push(...readdirSync(workspace).toSorted(), ...readdirSync(join(workspace, '..')))
      return readFileSync(join(workspace, 'in/raw.bin')).equals(bytes) ? 'same' : 'different'
    })

    const evidence = await executeTask(assignment(join(directory.path, 'evidence'), { task, agent }))

    expect(evidence.sessions[0]?.answer).toBe('same')
    expect(seen.slice(0, 3)).toEqual(['a.txt', 'in', 'workspace'])
    expect(readFileSync(join(directory.path, 'evidence', 'task.md'), 'utf8')).toBe(taskText({ frontMatter }))
    expect(evidence.taskFile).toBe('task.md')
  })

  it('does not follow a link out of the assets or in the workspace', async () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'assets'))
    writeFileSync(join(directory.path, 'secret'), 'secret')
    symlinkSync(join(directory.path, 'secret'), join(directory.path, 'assets', 'link'))
    const task = { ...sampleTask({ frontMatter: 'workspace_files: [{ source: link, dest: a }]' }) }
    const linking = agentOf(async ({ workspace }) => {
      if (!existsSync(join(workspace, 'out'))) symlinkSync(join(directory.path, 'secret'), join(workspace, 'out'))
      return ''
    })

    const refused = await executeTask(
      assignment(join(directory.path, 'one'), { task: { ...task, file: join(directory.path, 'boat.md') } }),
    )
    const kept = await executeTask(assignment(join(directory.path, 'two'), { agent: linking }))

    expect(refused).toMatchObject({ outcome: 'infra_error', reason: expect.stringContaining('no asset "link"') })
    expect(kept.workspace).toEqual([])
    expect(kept.events).toMatchObject([{ kind: 'not_kept', path: 'out', reason: 'is a link' }])
  })

  it('distinguishes a failing agent, a failing harness and an agent that was not reached', async () => {
    using directory = temporaryDirectory()
    const failing = (error: Error) => agentOf(async () => Promise.reject(error))
    const run = async (name: string, agent: Agent) => executeTask(assignment(join(directory.path, name), { agent }))

    const broken = await run('a', failing(new AgentFailure('agent', 'It gave up.')))
    const unreached = await run('b', failing(new AgentFailure('infrastructure', 'No key.')))
    const bug = await run('c', failing(new Error('undefined is not a function')))
    const absent = await run('d', { ...noneAgent, unavailable: async () => 'It is not installed.' })

    expect(broken).toMatchObject({ outcome: 'agent_failed', reason: 'It gave up.', isComplete: true })
    expect(broken.sessions.map(({ outcome }) => outcome)).toEqual(['failed', 'not_reached', 'not_reached'])
    expect(unreached).toMatchObject({ outcome: 'infra_error', reason: 'No key.' })
    expect(bug).toMatchObject({ outcome: 'infra_error', reason: 'undefined is not a function' })
    expect(absent).toMatchObject({ outcome: 'infra_error', reason: 'It is not installed.' })
  })

  it('stores the work of an agent before its failure', async () => {
    using directory = temporaryDirectory()
    const said = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'I begin.' }] }
    const agent = agentOf(async () => Promise.reject(new AgentFailure('agent', 'Oh.', { messages: [said] })))

    const { sessions } = await executeTask(assignment(directory.path, { agent }))

    expect(readFileSync(join(directory.path, sessions[0]?.transcript?.path ?? ''), 'utf8')).toContain('I begin.')
  })

  it('refuses a new session that has earlier messages', async () => {
    using directory = temporaryDirectory()

    const evidence = await executeTask(assignment(directory.path, { agent: agentOf(async () => 'hm', { id: 'same' }) }))

    expect(evidence).toMatchObject({
      outcome: 'infra_error',
      reason: 'A new conversation has the id "same" of an earlier one.',
    })
    expect(evidence.sessions.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'failed'])
  })

  it.each([
    ['prerequisites: ["cli:no-such-program-anywhere"]', 'the program "no-such-program-anywhere"'],
    ['prerequisites: ["npm:some-package"]', '"npm:some-package", which cannot be checked here'],
    ['prerequisites: ["moon:full"]', '"moon:full", which cannot be checked here'],
  ])('skips a task without %s', async (frontMatter, reason) => {
    using directory = temporaryDirectory()

    const evidence = await executeTask(assignment(directory.path, { task: sampleTask({ frontMatter }) }))

    expect(evidence).toMatchObject({ outcome: 'skipped', reason: expect.stringContaining(reason), isComplete: true })
    expect(evidence.sessions.every(({ outcome }) => outcome === 'not_reached')).toBe(true)
  })

  it('runs if the prerequisites are there', async () => {
    using directory = temporaryDirectory()
    program(directory.path, 'my-tool', '')
    const task = sampleTask({ frontMatter: 'prerequisites: ["cli:my-tool"]' })

    const evidence = await executeTask(assignment(join(directory.path, 'e'), { task, searchPath: directory.path }))

    expect(evidence.outcome).toBe('done')
  })

  it('does not overwrite complete evidence', async () => {
    using directory = temporaryDirectory()
    await executeTask(assignment(directory.path))

    await expect(executeTask(assignment(directory.path))).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('the time of a task', () => {
  it('is shared by all sessions: later sessions are not reached', async () => {
    using directory = temporaryDirectory()
    const agent = agentOf(({ prompt, signal }) =>
      prompt.startsWith('My')
        ? Promise.resolve('Saved.')
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )

    const evidence = await executeTask(assignment(directory.path, { agent, timeoutMultiplier: 0.02 }))

    expect(evidence).toMatchObject({
      outcome: 'agent_timeout',
      reason: 'The time of 0.6 s for the whole task was used up.',
      isComplete: true,
    })
    expect(evidence.sessions.map(({ outcome }) => outcome)).toEqual(['answered', 'timeout', 'not_reached'])
  })

  it.skipIf(process.platform === 'win32')('ends every process of a program that does not stop', async () => {
    using directory = temporaryDirectory()
    const path = program(
      directory.path,
      'forever',
      `${startsStubbornChild}\nwhenThere(() => { console.log('working'); setInterval(() => {}, 1000) })`,
    )
    const agent = commandAgent(anyCommand(path, { workingDirectory: directory.path }), { PATH: '' })
    const folder = join(directory.path, 'evidence')

    const evidence = await executeTask(assignment(folder, { agent, timeoutMultiplier: 0.05 }))

    expect(evidence.outcome).toBe('agent_timeout')
    expect(readFileSync(join(folder, evidence.sessions[0]?.transcript?.path ?? ''), 'utf8')).toContain('working')
    const pid = Number(readFileSync(join(folder, 'workspace', 'stubborn.pid'), 'utf8'))
    expect(isAlive(pid)).toBe(false)
  })
})

describe('an interrupt', () => {
  it('ends the work and stores the finished part, marked as incomplete', async () => {
    using directory = temporaryDirectory()
    const controller = new AbortController()
    const agent = agentOf(async ({ workspace, prompt, signal }) => {
      writeFileSync(join(workspace, 'note.txt'), prompt)
      if (prompt.startsWith('My')) return 'Saved.'
      controller.abort()
      signal.throwIfAborted()
      return 'never said'
    })

    const evidence = await executeTask(assignment(directory.path, { agent, signal: controller.signal }))

    expect(evidence).toMatchObject({ isComplete: false, outcome: 'infra_error', reason: 'Interrupted.' })
    expect(evidence.sessions.map(({ outcome }) => outcome)).toEqual(['answered', 'failed', 'not_reached'])
    expect(evidence.workspace.map(({ path }) => path)).toEqual(['workspace/note.txt'])
    expect(await readEvidence(directory.path)).toEqual(evidence)
  })

  it('does not prevent a second run', async () => {
    using directory = temporaryDirectory()
    const signal = AbortSignal.abort()

    const first = await executeTask(assignment(directory.path, { signal }))
    const second = await executeTask(assignment(directory.path))

    expect(first.isComplete).toBe(false)
    expect(second).toMatchObject({ isComplete: true, outcome: 'done' })
  })
})

describe('the control none', () => {
  it('returns no answers and writes no files', async () => {
    using directory = temporaryDirectory()

    const evidence = await executeTask(assignment(directory.path, { agent: noneAgent }))

    expect(evidence.outcome).toBe('done')
    expect(evidence.sessions.map(({ answer }) => answer)).toEqual(['', '', ''])
    expect(evidence.workspace).toEqual([])
  })
})
