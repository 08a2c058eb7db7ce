import { isAbsolute, join, resolve } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { type CommandProfile, type Environment, nameOfProgram } from './command-agent.ts'
import { readAnything, readEventStream } from './event-stream.ts'
import { readOpenclaw } from './openclaw-output.ts'
import { splitWords } from './split-words.ts'

/**
 * Any program. In its words `{prompt}`, `{session}`, `{workspace}` and `{file}` stand for the prompt, the id of the
 * conversation, the workspace and a file with the prompt; without `{prompt}` and `{file}` the prompt comes in on standard
 * input. A program that is not told the session begins anew with every prompt.
 */
export function anyCommand(line: string, { workingDirectory }: { readonly workingDirectory: string }): CommandProfile {
  const [first, ...words] = splitWords(line)
  if (first === undefined) {
    throw new MemoryError('invalid', 'The command has no program.', {
      hint: "Write for example --agent 'command:my-agent --session {session} {prompt}'.",
    })
  }
  for (const word of words) {
    for (const [written] of word.matchAll(/\{[a-z]+\}/gu)) {
      if (placeholders.includes(written)) continue
      throw new MemoryError('invalid', `The command has ${written}; known are ${placeholders.join(', ')}.`)
    }
  }
  // A path means the place where the command was written, not the workspace it runs in.
  const program = /[/\\]/u.test(first) && !isAbsolute(first) ? resolve(workingDirectory, first) : first
  const has = (placeholder: string): boolean => words.some((word) => word.includes(placeholder))
  return {
    name: nameOfProgram(first),
    program,
    model: null,
    args: ({ prompt, session, workspace, file }) => {
      const values: Readonly<Record<string, string>> = {
        '{prompt}': prompt,
        '{session}': session,
        '{workspace}': workspace,
        '{file}': file,
      }
      // In one pass, so that a prompt that holds a placeholder stays as it is.
      return words.map((word) =>
        word.replace(/\{(?:prompt|session|workspace|file)\}/gu, (written) => values[written] ?? written),
      )
    },
    takesStdin: !has('{prompt}') && !has('{file}'),
    read: readAnything,
    passThrough: [],
  }
}

const placeholders = ['{prompt}', '{session}', '{workspace}', '{file}']

/**
 * Claude Code without anybody watching. It may read and write files of the workspace and nothing else. What it notes
 * about a project in the user's home is switched off: it would survive the removal of the workspace's memory.
 */
export const claudeCode = (model: string | null): CommandProfile => ({
  name: 'claude-code',
  program: 'claude',
  model,
  args: ({ session, isFirst }) => [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    ...(isFirst ? ['--session-id', session] : ['--resume', session]),
    '--permission-mode',
    'acceptEdits',
    '--allowedTools',
    'Read,Write,Edit,Glob,Grep',
    ...(model === null ? [] : ['--model', model]),
  ],
  takesStdin: true,
  read: readEventStream,
  passThrough: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
    'HTTPS_PROXY',
    'NODE_EXTRA_CA_CERTS',
    'USER',
  ],
  set: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' },
  versionArgs: ['--version'],
})

/**
 * OpenClaw, run in its own process and not through its gateway. It has been seen to go on with an older session whatever
 * id it is given, so every conversation gets an agent of its own, on the same workspace.
 */
export function openclaw(model: string | null, environment: Environment): CommandProfile {
  const agentOf = (session: string): string => `credence-${session.slice(0, 8)}`
  const state = environment.OPENCLAW_STATE_DIR ?? join(environment.HOME ?? environment.USERPROFILE ?? '', '.openclaw')
  return {
    name: 'openclaw',
    program: 'openclaw',
    model,
    before: ({ session, workspace }) => [
      'agents',
      'add',
      agentOf(session),
      '--workspace',
      workspace,
      '--non-interactive',
      ...(model === null ? [] : ['--model', model]),
    ],
    args: ({ session, prompt }) => [
      'agent',
      '--local',
      '--json',
      '--agent',
      agentOf(session),
      '--session-id',
      session,
      '--message',
      prompt,
    ],
    after: ({ session }) => ['agents', 'delete', agentOf(session), '--force'],
    takesStdin: false,
    read: (output, { session, prompt }) =>
      readOpenclaw(output, { sessions: join(state, 'agents', agentOf(session), 'sessions'), session, prompt }),
    passThrough: [
      'OPENCLAW_STATE_DIR',
      'OPENCLAW_CONFIG_PATH',
      'OPENROUTER_API_KEY',
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'GEMINI_API_KEY',
      'HTTPS_PROXY',
      'NODE_EXTRA_CA_CERTS',
    ],
    versionArgs: ['--version'],
  }
}
