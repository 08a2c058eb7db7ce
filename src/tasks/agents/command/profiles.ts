import { basename, isAbsolute, resolve } from 'node:path'
import { invalid } from '../../../errors.ts'
import type { CommandProfile } from './command-agent.ts'
import { readAnything, readEventStream } from './read-output.ts'

/**
 * Any program. `{prompt}`, `{session}`, `{workspace}` and `{file}` in its arguments are replaced by the prompt, the id of the
 * conversation, the workspace and a file with the prompt. Without `{prompt}` and `{file}` the prompt is written to standard
 * input. Without `{session}` every prompt starts a new conversation.
 */
export function anyCommand(line: string, { workingDirectory }: { readonly workingDirectory: string }): CommandProfile {
  const [first, ...words] = splitWords(line)
  if (first === undefined) {
    const hint = "Write for example --agent 'command:my-agent --session {session} {prompt}'."
    throw invalid('The command has no program.', hint)
  }
  for (const word of words) {
    for (const [written] of word.matchAll(/\{[a-z]+\}/gu)) {
      if (placeholders.includes(written)) continue
      throw invalid(`The command has ${written}; known are ${placeholders.join(', ')}.`)
    }
  }
  // A relative path is resolved from the caller's directory, not from the workspace.
  const program = /[/\\]/u.test(first) && !isAbsolute(first) ? resolve(workingDirectory, first) : first
  const has = (placeholder: string): boolean => words.some((word) => word.includes(placeholder))
  return {
    name: `command:${basename(first)}`,
    program,
    model: null,
    // Replaced in one pass, so that a placeholder inside a prompt stays as it is.
    args: (call) =>
      words.map((word) =>
        word.replace(/\{(prompt|session|workspace|file)\}/gu, (_, name: keyof typeof call) => String(call[name])),
      ),
    takesStdin: !has('{prompt}') && !has('{file}'),
    read: readAnything,
    passThrough: [],
  }
}

const placeholders = ['{prompt}', '{session}', '{workspace}', '{file}']

/**
 * Claude Code, unattended. It may only read and write files of the workspace. Its own notes in the user's home are switched off, because
 * they would survive the removal of the workspace's memory.
 */
export const claudeCode = (model: string | null): CommandProfile => ({
  name: 'claude-code',
  program: 'claude',
  model,
  args: ({ session, isFirst }) => [
    ...'-p --output-format stream-json --verbose'.split(' '),
    ...(isFirst ? ['--session-id', session] : ['--resume', session]),
    ...'--permission-mode acceptEdits --allowedTools Read,Write,Edit,Glob,Grep'.split(' '),
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

/** Splits a command line into words, with a shell's rules for quotes and backslashes, but without expanding or running anything. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let place = 0; place < line.length; place += 1) {
    const mark = line[place] as string
    const next = line[place + 1]
    if (mark === '\\' && quote !== "'" && next !== undefined && (quote === null || '"\\'.includes(next))) {
      word = (word ?? '') + next
      place += 1
    } else if (quote !== null) {
      if (mark === quote) quote = null
      else word += mark
    } else if (mark === '"' || mark === "'") {
      quote = mark
      word ??= ''
    } else if (/\s/u.test(mark)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + mark
  }
  if (quote !== null) {
    const hint = 'Close it, or put a backslash before it.'
    throw invalid(`The command ${JSON.stringify(line)} has a quote ${quote} that is never closed.`, hint)
  }
  if (word !== null) words.push(word)
  return words
}
